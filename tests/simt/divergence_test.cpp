// SPDX-License-Identifier: Apache-2.0
// Lanes that go apart, meet again and wait for each other.
#include <doctest/doctest.h>
#include <string>

#include "tests/simt/device.h"

using namespace gauntlet::simt;

namespace {

using Words = std::vector<std::uint32_t>;

/// %d1 is the address of this thread's word of p0, %r1 its number in the block.
const std::string kOwnWord =
    "ld.param.u64 %d1, [p0];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 4;\n"
    "add.s64 %d1, %d1, %d2;\n";

Words run(const std::string& body, std::uint32_t threads, LaunchResult* result = nullptr,
          const LaunchOptions& options = {}) {
  SimulatedDevice device(kernel_text(1, body));
  device.options = options;
  const auto out = device.put(Words(threads));
  const LaunchResult got = device.launch({{1, 1, 1}, {threads, 1, 1}}, out);
  INFO(all_texts(got));
  CHECK(got.status == Status::completed);
  if (result != nullptr) *result = got;
  return device.get<std::uint32_t>(out);
}

}  // namespace

TEST_CASE("each lane takes its own way through branches and loops") {
  // while (n != 1) { n = n odd ? 3n+1 : n/2; ++steps; if (steps == 50) break; }
  const Words got = run(kOwnWord + R"(
    add.s32 %r2, %r1, 1;
    mov.u32 %r3, 0;
head:
    setp.eq.u32 %p1, %r2, 1;
    @%p1 bra done;
    and.b32 %r4, %r2, 1;
    setp.eq.u32 %p2, %r4, 0;
    @%p2 bra even;
    mad.lo.s32 %r2, %r2, 3, 1;
    bra.uni next;
even:
    shr.u32 %r2, %r2, 1;
next:
    add.s32 %r3, %r3, 1;
    setp.eq.u32 %p3, %r3, 50;
    @!%p3 bra head;
done:
    st.global.u32 [%d1], %r3;
    ret;)",
                        45);
  for (std::uint32_t lane = 0; lane < 45; ++lane) {
    std::uint32_t n = lane + 1, steps = 0;
    while (n != 1 && steps < 50) {
      n = n % 2 == 1 ? 3 * n + 1 : n / 2;
      ++steps;
    }
    CHECK(got[lane] == steps);
  }
}

TEST_CASE(
    "lanes meet again behind a branch, also where the text has a part of the loop at its end") {
  LaunchResult result;
  // Odd lanes go through `far`, which lies behind the loop's end, three times.
  run(kOwnWord + R"(
    mov.u32 %r2, 0;
    and.b32 %r3, %r1, 1;
    setp.eq.u32 %p1, %r3, 1;
head:
    @%p1 bra far;
back:
    st.global.u32 [%d1], %r2;
    add.s32 %r2, %r2, 1;
    setp.lt.u32 %p2, %r2, 3;
    @%p2 bra head;
    ret;
far:
    xor.b32 %r4, %r2, 1;
    bra.uni back;)",
      32, &result);
  // One request a round for all 32 lanes: nobody went ahead.
  CHECK(result.counters.global.written.requests == 3);
  CHECK(result.counters.global.written.sectors == 12);
  CHECK(result.counters.divergent_branches == 3);
  // 7 before the loop and 1 after it; 5 a round for all and 2 for the odd lanes.
  CHECK(result.counters.warp_instructions == 7 + 1 + 3 * (5 + 2));
}

TEST_CASE("a jump table sends each lane where it says") {
  const Words got = run(kOwnWord + R"(
    and.b32 %r2, %r1, 3;
table: .branchtargets a, b, c, a;
    brx.idx %r2, table;
a:  mov.u32 %r3, 10;
    bra.uni end;
b:  mov.u32 %r3, 20;
    bra.uni end;
c:  mov.u32 %r3, 30;
end:
    st.global.u32 [%d1], %r3;
    ret;)",
                        32);
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    CHECK(got[lane] == (lane % 4 == 1 ? 20 : lane % 4 == 2 ? 30 : 10));
}

TEST_CASE("lanes that wait for each other within a warp all go on") {
  // A lock taken by one lane at a time; the waiting loop is before the part that frees it.
  for (const bool free_at_end : {false, true}) {
    INFO(free_at_end);
    const std::string critical =
        "ld.volatile.global.u32 %r4, [%d5+4];\nadd.s32 %r4, %r4, 1;\n"
        "st.volatile.global.u32 [%d5+4], %r4;\nmembar.gl;\n"
        "atom.global.exch.b32 %r5, [%d5], 0;\n";
    const std::string body =
        free_at_end ? "ld.param.u64 %d5, [p0];\nwait:\natom.global.cas.b32 %r2, [%d5], 0, 1;\n"
                      "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra wait;\n" +
                          critical + "ret;"
                    : "ld.param.u64 %d5, [p0];\nmov.u32 %r6, 0;\nwait:\n"
                      "setp.ne.u32 %p2, %r6, 0;\n@%p2 bra out;\n"
                      "atom.global.cas.b32 %r2, [%d5], 0, 1;\n"
                      "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra wait;\n" +
                          critical + "mov.u32 %r6, 1;\nbra.uni wait;\nout:\nret;";
    SimulatedDevice device(kernel_text(1, body));
    device.options.budget = 1'000'000;
    device.options.check_races = false;
    const auto lock = device.put(Words(2));
    const LaunchResult got = device.launch({{4, 1, 1}, {96, 1, 1}}, lock);
    INFO(all_texts(got));
    CHECK(got.status == Status::completed);
    CHECK(device.get<std::uint32_t>(lock) == Words{0, 4 * 96});
  }
}

TEST_CASE("a loop that never ends is timed out, with its line") {
  SimulatedDevice device(
      kernel_text(0, ".loc 1 9 1\nagain: bra again;\nret;", ".file 1 \"loop.cu\""));
  device.options.budget = 10'000;
  const LaunchResult got = device.launch({});
  CHECK(got.status == Status::timed_out);
  CHECK(got.why == "more than 10000 instructions of warps at loop.cu:9 in k");
  CHECK(got.counters.warp_instructions == 9'990);  // a warp that begins costs 10
}

TEST_CASE("a block that waits for a later one gets it") {
  // Block 0 waits for the flag that the last block sets.
  SimulatedDevice device(kernel_text(1, R"(
    ld.param.u64 %d1, [p0];
    mov.u32 %r1, %ctaid.x;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra wait;
    setp.ne.u32 %p2, %r1, 9;
    @%p2 bra end;
    st.volatile.global.u32 [%d1], 1;
    bra.uni end;
wait:
    ld.volatile.global.u32 %r2, [%d1];
    setp.eq.u32 %p3, %r2, 0;
    @%p3 bra wait;
end:
    ret;)"));
  device.options.budget = 100'000'000;
  CHECK(device.launch({{10, 1, 1}, {32, 1, 1}}, device.put(Words(1))).status == Status::completed);
}
