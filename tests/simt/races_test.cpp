// SPDX-License-Identifier: Apache-2.0
// Races, found where they are and only there, whatever the schedule and whether or not the result
// is wrong.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <string>

#include "tests/simt/device.h"

using namespace gauntlet::simt;

namespace {

using Words = std::vector<std::uint32_t>;

/// %d4 is the thread's word of shared memory, %d5 the one of its neighbour in the other order: of
/// thread 63 - t.
const std::string kShared =
    ".shared .align 4 .b8 s[256];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 4;\n"
    "mov.u64 %d3, s;\nadd.s64 %d4, %d3, %d2;\nsub.s64 %d5, %d3, %d2;\n.loc 1 5 1\n";

std::size_t races_of(const std::string& body, std::uint32_t threads = 64, std::uint32_t blocks = 1,
                     std::string* text = nullptr) {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SimulatedDevice device(kernel_text(1, "ld.param.u64 %d1, [p0];\n" + kShared + body + "\nret;",
                                       ".file 1 \"race.cu\""));
    if (seed > 0) device.options.schedule_seed = seed;
    const auto data = device.put(Words(4096));
    const LaunchResult got = device.launch({{blocks, 1, 1}, {threads, 1, 1}}, data);
    if (text != nullptr) *text = all_texts(got);
    CAPTURE(all_texts(got));
    const std::size_t races = count_of(got, Fault::race);
    if (seed > 0) CHECK((races > 0) == (found > 0));  // the same verdict with every schedule
    found = races;
    CHECK(got.status == Status::completed);
  }
  return found;
}

const std::string kWrite = "st.shared.u32 [%d4], %r1;\n";
const std::string kRead = "ld.shared.u32 %r2, [%d5+252];\n";
const std::string kBarrier = "bar.sync 0;\n";

}  // namespace

TEST_CASE("a missing barrier between write and read, or read and write") {
  CHECK(races_of(kWrite + kBarrier + kRead) == 0);
  CHECK(races_of(kWrite + kRead) > 0);
  CHECK(races_of(kWrite + kBarrier + kRead + kBarrier + "st.shared.u32 [%d4], 9;\n") == 0);
  CHECK(races_of(kWrite + kBarrier + kRead + "st.shared.u32 [%d4], 9;\n") > 0);
  std::string text;
  races_of("st.shared.u32 [%d3], %r1;\n", 64, 1, &text);
  CHECK(text.find("race at race.cu:5 in k: writes 4 bytes at offset 0 of shared memory") !=
        std::string::npos);
}

TEST_CASE("within a warp, __syncwarp orders and a shuffle does not") {
  const std::string read = "ld.shared.u32 %r2, [%d5+124];\n";  // of lane 31 - l
  CHECK(races_of(kWrite + "bar.warp.sync -1;\n" + read, 32) == 0);
  CHECK(races_of(kWrite + read, 32) > 0);
  CHECK(races_of(kWrite + "shfl.sync.bfly.b32 %r3, %r1, 1, 31, -1;\n" + read, 32) > 0);
  CHECK(races_of(kWrite + "bar.warp.sync -1;\n" + kRead) > 0);   // of another warp
  CHECK(races_of(kWrite + "ld.shared.u32 %r2, [%d4];\n") == 0);  // its own
}

TEST_CASE("what is written by many and is the same is no race between writes") {
  CHECK(races_of("st.shared.u32 [%d3], 7;\n") <= 1);
  CHECK(races_of("st.shared.u32 [%d3], 7;\n" + kBarrier + "ld.shared.u32 %r2, [%d3];\n") <= 1);
  CHECK(races_of("st.shared.u32 [%d3], 0;\n" + kBarrier + "ld.shared.u32 %r2, [%d3];\n") == 0);
}

TEST_CASE("atomics race with nothing strong, and with plain accesses") {
  const std::string add = "atom.shared.add.u32 %r3, [%d3], 1;\n";
  const std::string zero = "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [%d3], 5;\n";
  CHECK(races_of(zero + kBarrier + add + add + kBarrier + "ld.shared.u32 %r2, [%d3];\n") == 0);
  CHECK(races_of(zero + add) > 0);
  CHECK(races_of(zero + kBarrier + add + "ld.shared.u32 %r2, [%d3];\n") > 0);
}

TEST_CASE("bytes side by side are apart where a kernel writes bytes") {
  const std::string own =
      "cvt.u64.u32 %d6, %r1;\nadd.s64 %d6, %d3, %d6;\nst.shared.u8 [%d6], %r1;\n";
  CHECK(races_of(own) == 0);
  CHECK(races_of(own + kBarrier + "ld.shared.u8 %r2, [%d6];\n") == 0);
}

TEST_CASE("named barriers order those that meet at them") {
  // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2.
  const std::string name = "shr.u32 %r5, %r1, 6;\nadd.s32 %r5, %r5, 1;\n";
  const std::string text =
      ".shared .align 4 .b8 wide[512];\nmov.u64 %d7, wide;\nadd.s64 %d8, %d7, %d2;\n"
      "st.shared.u32 [%d8], %r1;\n" +
      name + "bar.sync %r5, 64;\n";
  const auto read_of = [](int distance) {
    return fmt::format(
        "xor.b32 %r6, %r1, {};\nmul.wide.u32 %d9, %r6, 4;\nadd.s64 %d9, %d7, %d9;\n"
        "ld.shared.u32 %r7, [%d9];\n",
        distance);
  };
  CHECK(races_of(text + read_of(32), 128) == 0);
  CHECK(races_of(text + read_of(64), 128) > 0);
}

TEST_CASE("blocks race for global memory unless a fence and an atomic hand it over") {
  // Each block writes its word; the last of four to count itself reads them all.
  const auto last_block_sums = [](const std::string& fence) {
    return "mov.u32 %r8, %ctaid.x;\nmul.wide.u32 %d6, %r8, 4;\nadd.s64 %d7, %d1, %d6;\n"
           "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra joined;\nst.global.u32 [%d7+64], %r8;\n" +
           fence + "atom.global.add.u32 %r9, [%d1], 1;\nst.shared.u32 [%d3], %r9;\njoined:\n" +
           kBarrier +
           "ld.shared.u32 %r9, [%d3];\nsetp.ne.u32 %p2, %r9, 3;\n@%p2 bra out;\n"
           "ld.global.u32 %r10, [%d1+64];\nld.global.u32 %r11, [%d1+68];\n"
           "ld.global.u32 %r12, [%d1+72];\nld.global.u32 %r13, [%d1+76];\nout:\n";
  };
  CHECK(races_of(last_block_sums("membar.gl;\n"), 64, 4) == 0);
  CHECK(races_of(last_block_sums(""), 64, 4) > 0);
  CHECK(races_of("mov.u32 %r8, %ctaid.x;\nst.global.u32 [%d1], %r8;\n", 1, 2) > 0);
  CHECK(races_of("mov.u32 %r8, %ctaid.x;\natom.global.add.u32 %r9, [%d1], %r8;\n", 32, 2) == 0);
  CHECK(races_of("ld.global.u32 %r8, [%d1];\n", 32, 2) == 0);
  CHECK(races_of("add.s64 %d7, %d1, %d2;\nst.global.u32 [%d7], %r1;\n" + kBarrier +
                     "sub.s64 %d8, %d1, %d2;\nld.global.u32 %r8, [%d8+252];\n",
                 64, 1) == 0);
  CHECK(races_of("add.s64 %d7, %d1, %d2;\nst.global.u32 [%d7], %r1;\n"
                 "sub.s64 %d8, %d1, %d2;\nld.global.u32 %r8, [%d8+252];\n",
                 64, 1) > 0);
}

TEST_CASE("what another warp of a block wrote is handed over only behind a barrier") {
  // Thread 40 writes the block's word and fences; thread 0 counts the block.
  const auto last_block_sums = [](const std::string& barrier) {
    return "mov.u32 %r8, %ctaid.x;\nmul.wide.u32 %d6, %r8, 4;\nadd.s64 %d7, %d1, %d6;\n"
           "setp.ne.u32 %p1, %r1, 40;\n@%p1 bra written;\nst.global.u32 [%d7+64], %r8;\n"
           "membar.gl;\nwritten:\n" +
           barrier +
           "setp.ne.u32 %p2, %r1, 0;\n@%p2 bra joined;\nmembar.gl;\n"
           "atom.global.add.u32 %r9, [%d1], 1;\nst.shared.u32 [%d3], %r9;\njoined:\n" +
           kBarrier +
           "ld.shared.u32 %r9, [%d3];\nsetp.ne.u32 %p2, %r9, 3;\n@%p2 bra out;\n"
           "ld.global.u32 %r10, [%d1+64];\nld.global.u32 %r11, [%d1+76];\nout:\n";
  };
  CHECK(races_of(last_block_sums(kBarrier), 64, 4) == 0);
  CHECK(races_of(last_block_sums(""), 64, 4) > 0);
}

TEST_CASE("where memory for what is known of global memory is short, it is said") {
  SimulatedDevice device(kernel_text(1, "ld.param.u64 %d1, [p0];\nst.global.u32 [%d1], 1;\nret;"));
  const auto data = device.put(Words(64));
  CHECK(device.launch({}, data).races_complete);
  device.options.race_memory = 0;
  CHECK_FALSE(device.launch({}, data).races_complete);
}
