// SPDX-License-Identifier: Apache-2.0
// Commands in a device's mailbox, as a lying worker would write them: carried out, refused or taken
// for forged. Inputs stay as they are, nothing is touched that is not there, and the grader is
// told.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/device/process/grader_side.h"
#include "harness/device/process/simulated.h"
#include "harness/device/process/worker_side.h"

namespace {

using namespace gauntlet;
using namespace gauntlet::device_process;
using device_wire::Command;
using device_wire::Kind;
using nlohmann::json;

constexpr std::uint64_t kMemory = 1u << 20;
constexpr std::size_t kMostCommands = 200;

constexpr const char* kProgram = R"(.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .b8 kept[64];
.visible .entry store(.param .u64 p0)
{
.reg .b32 %r<3>;
.reg .b64 %d<3>;
ld.param.u64 %d1, [p0];
mov.u32 %r1, %tid.x;
st.global.u32 [%d1], %r1;
ret;
}
.visible .entry copy(.param .u64 p0, .param .u64 p1)
{
.reg .b32 %r<3>;
.reg .b64 %d<3>;
ld.param.u64 %d1, [p0];
ld.param.u64 %d2, [p1];
ld.global.u32 %r1, [%d1];
st.global.u32 [%d2], %r1;
ret;
}
)";

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}

  bool is_over() const { return at_ == end_; }
  std::uint8_t byte() { return is_over() ? 0 : *at_++; }
  /// One of those that mean something, perhaps a little beside it, or any number.
  std::uint64_t number(const std::vector<std::uint64_t>& known) {
    const std::uint8_t choice = byte();
    if (choice < 160) return known[choice % known.size()];
    if (choice < 224) return known[choice % known.size()] + static_cast<std::int8_t>(byte());
    std::uint64_t any = 0;
    for (int n = 0; n < 8; ++n) any = any << 8 | byte();
    return any;
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

/// A device in the middle of a call, and what a worker knows of it.
class Served {
 public:
  Served() {
    engine_.capacity = kMemory;
    std::vector<std::byte> text(std::strlen(kProgram));
    std::memcpy(text.data(), kProgram, text.size());
    ask({{"do", "load"}}, text);
    std::vector<std::byte> given(256, std::byte{7});
    input_ = map("input", given);
    given.clear();
    output_ = map("output", given);
    stream_ = ask({{"do", "stream"}, {"non_blocking", false}}).at("stream");
    ask({{"do", "begin"},
         {"budget", 20'000},
         {"schedule_seed", nullptr},
         {"check_undefined", true},
         {"check_races", true},
         {"count_sectors", true}});
    known_ = {input_, output_, stream_, 0, 1, 2, 4, 64, 256, 4096, kMemory, ~std::uint64_t{0}};
  }

  void serve(Input& in) {
    Command& command = mailbox_.command;
    command.kind = static_cast<Kind>(in.byte() % (device_wire::kKinds + 1));
    command.payload_bytes = static_cast<std::uint32_t>(in.number(known_));
    for (std::uint64_t* field :
         {&command.stream, &command.address, &command.other, &command.bytes, &command.first})
      *field = in.number(known_);
    for (auto* shape : {&command.grid, &command.block})
      for (std::uint32_t& extent : *shape)
        extent = static_cast<std::uint32_t>(in.number({1, 2, 33}));
    command.shared = in.number({0, 64, 49152});
    for (std::size_t n = in.byte() % 5, at = 0; n > 0; --n, at += 8) {
      const std::uint64_t word = in.number(known_);
      std::memcpy(mailbox_.payload + at, &word, sizeof word);
    }
    if (command.kind == Kind::find_kernel || command.kind == Kind::find_variable)
      std::memcpy(mailbox_.payload, "store", 5);
    worker_.serve();
    if (mailbox_.answer.error == 0 && mailbox_.answer.first != 0 && known_.size() < 64)
      known_.push_back(mailbox_.answer.first);
  }

  void require_whole() {
    ask({{"do", "settle"}, {"stream", stream_}});
    std::vector<std::byte> bytes;
    ask({{"do", "read"}, {"address", input_}, {"bytes", 256}}, bytes);
    for (const std::byte byte : bytes)
      if (byte != std::byte{7}) std::abort();
    ask({{"do", "read"}, {"address", output_}, {"bytes", 256}}, bytes);
    ask({{"do", "finish"}});
  }

 private:
  json ask(const json& request, std::vector<std::byte>& data) {
    json reply = grader_.carry_out(request, data);
    for (const char* failure : {"error", "refused", "over_memory"})
      if (reply.contains(failure) && reply[failure].is_string()) std::abort();
    return reply;
  }
  json ask(const json& request) {
    std::vector<std::byte> none;
    return ask(request, none);
  }
  std::uint64_t map(const char* role, std::vector<std::byte> given) {
    return ask({{"do", "map"},
                {"name", role},
                {"role", role},
                {"bytes", 256},
                {"alignment", 256},
                {"skew", 0}},
               given)
        .at("address");
  }

  static inline device_wire::Mailbox mailbox_;
  Engine engine_{std::make_unique<SimulatedBackEnd>(kMemory)};
  WorkerSide worker_{engine_, mailbox_};
  GraderSide grader_{engine_};
  std::uint64_t input_ = 0, output_ = 0, stream_ = 0;
  std::vector<std::uint64_t> known_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Served device;
  Input in(data, size);
  for (std::size_t n = 0; n < kMostCommands && !in.is_over(); ++n) device.serve(in);
  device.require_whole();
  return 0;
}
