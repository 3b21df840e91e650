// SPDX-License-Identifier: Apache-2.0
// Every form that computes in its lanes, against a reference that knows only its name; for every
// vector unit of this machine, with all lanes and with some.
#include <cstring>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <set>

#include "tests/simt/instructions.h"
#include "tests/simt/reference.h"

using namespace gauntlet;
using namespace gauntlet::simt;

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr std::size_t kSlot = 256;  // room for any register

class Bench {
 public:
  explicit Bench(Rng& rng) : rng_(rng) {}

  /// Runs one form on drawn values; complains about the first lane that is wrong.
  std::string fault(const std::string& opcode, const Form& form) {
    const Operands operands(form.operands);
    std::vector<std::byte> slots(kSlot * (operands.codes.size() + 1) + 64);
    Frame frame{slots.data() + 64 - reinterpret_cast<std::uintptr_t>(slots.data()) % 64};
    Instr instr;
    std::vector<std::vector<u64>> in(kLanes);
    for (std::size_t n = 0; n < operands.codes.size(); ++n) {
      instr.slots[n] = u32(n * kSlot);
      for (u32 lane = 0; lane < kLanes; ++lane) {
        const char code = operands.codes[n];
        const u64 drawn = drawn_value(rng_, code, opcode);
        write(frame, n, code, lane, drawn);
        if (n >= operands.written) in[lane].push_back(drawn);
      }
    }
    const std::vector<std::byte> before(frame.slots, frame.slots + kSlot * operands.codes.size());
    const u32 mask = rng_.chance(0.5) ? kAllLanes : u32(rng_()) | 1;
    form.run(frame, instr, mask);
    for (u32 lane = 0; lane < kLanes; ++lane) {
      const auto wanted = expected(opcode, form.operands, in[lane]);
      if (!wanted) return "the reference does not know it";
      for (std::size_t n = 0; n < operands.written; ++n) {
        const char code = operands.codes[n];
        const u64 got = read(frame.slots, n, code, lane);
        if ((mask >> lane & 1) == 0) {
          if (got != read(before.data(), n, code, lane))
            return fmt::format("lane {} was idle", lane);
        } else if (!agrees(*wanted, n, code, got)) {
          return fmt::format("lane {}: {:#x} of {:#x} {:#x} {:#x}, wanted {:#x} or {}", lane, got,
                             in[lane][0], in[lane].size() > 1 ? in[lane][1] : 0,
                             in[lane].size() > 2 ? in[lane][2] : 0,
                             wanted->results.empty() ? 0 : wanted->results[n], wanted->near);
        }
      }
    }
    digest_ = digest_ * 31 + std::hash<std::string_view>()(
                                 {reinterpret_cast<char*>(frame.slots), kSlot * operands.written});
    return "";
  }

  std::size_t digest() const { return digest_; }

 private:
  static void write(const Frame& frame, std::size_t n, char code, u32 lane, u64 value) {
    std::byte* const slot = frame.slots + n * kSlot;
    if (code != 'P') {
      std::memcpy(slot + lane * bytes_of(code), &value, bytes_of(code));
      return;
    }
    u32 bits = 0;
    std::memcpy(&bits, slot, 4);
    bits = (bits & ~(1u << lane)) | u32(value) << lane;
    std::memcpy(slot, &bits, 4);
  }
  static u64 read(const std::byte* slots, std::size_t n, char code, u32 lane) {
    u64 value = 0;
    if (code != 'P') {
      std::memcpy(&value, slots + n * kSlot + lane * bytes_of(code), bytes_of(code));
      return value;
    }
    std::memcpy(&value, slots + n * kSlot, 4);
    return value >> lane & 1;
  }

  Rng& rng_;
  std::size_t digest_ = 0;
};

std::vector<VectorUnit> units_of_this_machine() {
  std::vector<VectorUnit> units;
  for (int n = 0; n <= int(best_vector_unit()); ++n) units.push_back(static_cast<VectorUnit>(n));
  return units;
}

}  // namespace

TEST_CASE("every form that computes in lanes gives what its name says, on every vector unit") {
  std::set<std::size_t> digests;
  for (const VectorUnit unit : units_of_this_machine()) {
    Rng rng(7);
    Bench bench(rng);
    int seen = 0;
    for (const auto& [opcode, forms] : form_table(unit).all())
      for (const Form& form : forms) {
        if (!computes(opcode, form)) continue;
        ++seen;
        for (int round = 0; round < 12; ++round)
          if (const std::string fault = bench.fault(opcode, form); !fault.empty()) {
            FAIL_CHECK(opcode, " ", form.operands, " on unit ", int(unit), ": ", fault);
            break;
          }
      }
    CHECK(seen > 500);
    digests.insert(bench.digest());
  }
  CHECK(digests.size() == 1);  // equal to the bit
}

TEST_CASE("patterns of forms are spelled out, and none is there twice") {
  CHECK(spellings("add{.s32,.u32}") == std::vector<std::string>{"add.s32", "add.u32"});
  CHECK(spellings("{a,b}c{,.d}").size() == 4);
  FormTable table;
  table.add("a{.b,.c}", {"W=W"});
  CHECK_THROWS(table.add("a.c", {"W=W"}));
  table.add("a.c", {"D=D"});
  CHECK(table.find("a.c").size() == 2);
  CHECK(table.find("a").empty());
}
