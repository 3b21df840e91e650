// SPDX-License-Identifier: Apache-2.0
// A request in the mailbox, as a hostile worker would write it: answered, or the solution's
// failure, and never a look outside the mailbox.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "harness/worker/callback_server.h"
#include "harness/worker/session.h"

namespace {

struct Question {
  std::int64_t rows;
  std::int64_t columns;
  const float* tokens;
  float* scores;
};

struct Args {
  std::int64_t (*ask)(void*, Question*);
  void* context;
};

constexpr std::size_t kMailbox = 4096;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using gauntlet::Direction;
  gauntlet::Call<Args> call("work");
  const auto field = [](std::size_t offset) { return static_cast<std::int64_t>(offset); };
  call.callback<std::int64_t(void*, Question*), Question>(
      "ask", call.args.ask, call.args.context,
      {{offsetof(Question, tokens), Direction::in, 4, 1, {field(offsetof(Question, rows)), -1}},
       {offsetof(Question, scores),
        Direction::out,
        4,
        2,
        {field(offsetof(Question, rows)), field(offsetof(Question, columns))}}},
      [](Question&, gauntlet::CallbackRequest& raw) {
        float sum = 0;
        for (const float token : raw.array<float>(0)) sum += token;
        for (float& score : raw.array<float>(1)) score = sum;
        return std::int64_t{0};
      });
  std::vector<std::byte> mailbox(kMailbox);
  gauntlet::wire::Control control{};
  if (size > 0) control.callback = data[0] & 3;
  if (size > 1) std::memcpy(mailbox.data(), data + 1, std::min(size - 1, kMailbox));
  try {
    gauntlet::answer_callback(call, control, mailbox.data(), mailbox.size());
  } catch (const gauntlet::SolutionFailure&) {
  }
  return 0;
}
