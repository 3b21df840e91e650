// SPDX-License-Identifier: Apache-2.0
// The mailbox that carries callbacks is no scratch memory.

#include "callback_fixture.h"
#include "counted_memory.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

// The mailbox of callbacks ends 16 pages before the first output.
const char* const kMailbox = R"(
    #include <string.h>
    static const size_t kMuch = 40 << 20;
    static volatile char* mailbox(const Args* args) {
      return (char*)((uintptr_t)args->y & ~(uintptr_t)4095) - 16 * 4096 - kMuch;
    }
    static void use_mailbox(const Args* args) {
      for (size_t i = 0; i < kMuch; i += 4096) mailbox(args)[i] = 1;
    }
    static int64_t ask(const Args* args) {
      float number = 1, answer = 0;
      Request request = {1, 1, &number, &answer, 2, -1};
      return args->scale(args->context, &request);
    }
)";

}  // namespace

TEST_CASE("scratch in the mailbox of callbacks counts, but for what a request used") {
  for (const char* body :
       {"ask(args); use_mailbox(args); return 0;", "use_mailbox(args); ask(args); return 0;",
        "use_mailbox(args); return 0;"}) {
    Scaling scaling(body, kMailbox);
    scaling.call.measure_memory = true;
    for (int turn = 0; turn < 2; ++turn) {  // the second time, its pages are there already
      scaling.session.run(scaling.call);
      CHECK_MESSAGE(scaling.call.peak_bytes.value_or(0) >= 40 * kMib - kExact, body);
    }
  }
}

TEST_CASE("what a request needs of the mailbox does not count") {
  Scaling scaling(R"(
    static float in[1 << 20], out[1 << 20];
    for (float& number : in) number = 1;
    Request request = {1 << 10, 1 << 10, in, out, 2, -1};
    return args->scale(args->context, &request);
  )");
  scaling.call.measure_memory = true;
  for (int turn = 0; turn < 2; ++turn) {
    scaling.session.run(scaling.call);
    CHECK(scaling.call.peak_bytes.value_or(0) >= 8 * kMib - kExact);
    CHECK(scaling.call.peak_bytes.value_or(0) < 8 * kMib + kExact);
  }
}
