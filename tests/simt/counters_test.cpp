// SPDX-License-Identifier: Apache-2.0
// Counts of kernels that can be counted by hand.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <string>

#include "tests/simt/device.h"

using namespace gauntlet::simt;

namespace {

using Words = std::vector<std::uint32_t>;

/// One warp, or more, reads p0 at base + stride * thread, `bytes` at a time.
Traffic read_by(std::uint64_t base, std::uint32_t stride, int words, std::uint32_t threads = 32) {
  const std::string load = words == 1   ? "ld.global.u32 %r2, [%d3];"
                           : words == 2 ? "ld.global.v2.u32 {%r2,%r3}, [%d3];"
                                        : "ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%d3];";
  SimulatedDevice device(
      kernel_text(1, fmt::format("ld.param.u64 %d1, [p0];\nmov.u32 %r1, %tid.x;\n"
                                 "mul.wide.u32 %d2, %r1, {};\nadd.s64 %d3, %d1, %d2;\n"
                                 "{}\nret;",
                                 stride, load)));
  const auto data = device.put(Words(16384));
  const LaunchResult got = device.launch({{1, 1, 1}, {threads, 1, 1}}, data + base);
  INFO(all_texts(got));
  CHECK(got.diagnostics.empty());
  return got.counters.global.read;
}

SharedTraffic shared_by(const std::string& address, const std::string& access) {
  SimulatedDevice device(kernel_text(0,
                                     ".shared .align 16 .b8 s[16384];\nmov.u32 %r1, %tid.x;\n"
                                     "mov.u64 %d1, s;\n" +
                                         address +
                                         "\ncvt.u64.u32 %d2, %r2;\n"
                                         "add.s64 %d3, %d1, %d2;\n" +
                                         access + "\nret;"));
  const LaunchResult got = device.launch({{1, 1, 1}, {32, 1, 1}});
  INFO(all_texts(got));
  CHECK(got.status == Status::completed);
  return got.counters.shared_stores;
}

}  // namespace

TEST_CASE("sectors are the distinct blocks of 32 bytes of a request") {
  const auto check = [](const Traffic& got, std::uint64_t requests, std::uint64_t bytes,
                        std::uint64_t sectors) {
    CHECK(got.requests == requests);
    CHECK(got.bytes == bytes);
    CHECK(got.sectors == sectors);
  };
  check(read_by(0, 4, 1), 1, 128, 4);      // coalesced
  check(read_by(4, 4, 1), 1, 128, 5);      // the same, one word further
  check(read_by(0, 0, 1), 1, 128, 1);      // one word for all
  check(read_by(0, 8, 1), 1, 128, 8);      // every second word
  check(read_by(0, 32, 1), 1, 128, 32);    // a sector a lane
  check(read_by(0, 2048, 1), 1, 128, 32);  // a column
  check(read_by(0, 16, 4), 1, 512, 16);    // vectors
  check(read_by(0, 8, 2), 1, 256, 8);
  check(read_by(0, 4, 1, 40), 2, 160, 5);  // a warp of 8 threads
  check(read_by(0, 4, 1, 1), 1, 4, 1);
}

TEST_CASE("traffic is counted by buffer") {
  SimulatedDevice device(kernel_text(2, R"(
    ld.param.u64 %d1, [p0];
    ld.param.u64 %d2, [p1];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d3, %r1, 4;
    add.s64 %d4, %d1, %d3;
    ld.global.u32 %r2, [%d4];
    ld.global.u32 %r3, [%d4];
    atom.global.add.u32 %r4, [%d2], %r2;
    ret;)"));
  const auto in = device.put(Words(64), "in", Access::read_only);
  const auto out = device.put(Words(64), "out");
  const Counters counters = device.launch({{3, 1, 1}, {64, 1, 1}}, in, out).counters;
  REQUIRE(counters.buffers.size() == 2);
  CHECK(counters.buffers[0].first == "in");
  CHECK(counters.buffers[0].second.read.bytes == 3 * 2 * 256);
  CHECK(counters.buffers[0].second.read.sectors == 3 * 2 * 8);
  CHECK(counters.buffers[1].first == "out");
  CHECK(counters.buffers[1].second.atomic.requests == 3 * 2);
  CHECK(counters.buffers[1].second.atomic.bytes == 3 * 64 * 4);
  CHECK(counters.buffers[1].second.atomic.sectors == 3 * 2);
  CHECK(counters.blocks == 3);
  CHECK(counters.warps == 6);
  CHECK(counters.warp_instructions == 6 * 9);
  CHECK(counters.thread_instructions == 3 * 64 * 9);
  CHECK(counters.by_class[std::size_t(Class::load)] == 3 * 64 * 2);
  CHECK(counters.by_class[std::size_t(Class::atomic)] == 3 * 64);
  CHECK(counters.by_class[std::size_t(Class::parameter)] == 3 * 64 * 2);
  CHECK(counters.by_class[std::size_t(Class::integer)] == 3 * 64 * 2);
  CHECK(counters.by_class[std::size_t(Class::move)] == 3 * 64);
  CHECK(counters.by_class[std::size_t(Class::control)] == 3 * 64);
  // Without sectors, all else is counted as before.
  device.options.count_sectors = false;
  const Counters without = device.launch({{3, 1, 1}, {64, 1, 1}}, in, out).counters;
  CHECK(without.global.read.sectors + without.global.atomic.sectors == 0);
  CHECK(without.buffers[0].second.read.bytes == counters.buffers[0].second.read.bytes);
  CHECK(without.thread_instructions == counters.thread_instructions);
  device.options.count_sectors = true;
  // A second launch counts anew.
  CHECK(device.launch({{1, 1, 1}, {64, 1, 1}}, in, out).counters.global.read.bytes == 512);
}

TEST_CASE("wavefronts of shared memory, with conflicts and without") {
  const std::string word = "st.shared.u32 [%d3], %r1;";
  const auto strided = [](int bytes) { return fmt::format("mul.lo.u32 %r2, %r1, {};", bytes); };
  const auto check = [&](const SharedTraffic& got, std::uint64_t wavefronts, std::uint64_t least) {
    CHECK(got.requests == 1);
    CHECK(got.wavefronts == wavefronts);
    CHECK(got.least_wavefronts == least);
    CHECK(got.conflicts() == wavefronts - least);
  };
  check(shared_by(strided(4), word), 1, 1);
  check(shared_by(strided(8), word), 2, 1);     // two words a bank
  check(shared_by(strided(128), word), 32, 1);  // a column of 32 words
  check(shared_by(strided(132), word), 1, 1);   // a column, padded
  check(shared_by(strided(0), word), 1, 1);     // one word
  check(shared_by(strided(8), "st.shared.v2.u32 [%d3], {%r1,%r1};"), 2, 2);
  check(shared_by(strided(16), "st.shared.v4.u32 [%d3], {%r1,%r1,%r1,%r1};"), 4, 4);
  check(shared_by(strided(32), "st.shared.v4.u32 [%d3], {%r1,%r1,%r1,%r1};"), 8, 4);
  check(shared_by(strided(1), "st.shared.u8 [%d3], %r1;"), 1, 1);  // eight words
  check(shared_by("xor.b32 %r2, %r1, 5;\nshl.b32 %r2, %r2, 2;", word), 1, 1);
}

TEST_CASE("branches, divergence, barriers and idle lanes") {
  SimulatedDevice device(kernel_text(0, R"(
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 8;
    @%p1 bra few;
    bra.uni out;
few:
    add.s32 %r2, %r1, 1;
    add.s32 %r2, %r2, 1;
out:
    bar.sync 0;
    ret;)"));
  const Counters counters = device.launch({{1, 1, 1}, {64, 1, 1}}).counters;
  CHECK(counters.branches == 2);            // one a warp
  CHECK(counters.divergent_branches == 1);  // of the first warp
  CHECK(counters.barriers == 2);
  CHECK(counters.warp_instructions == (3 + 1 + 2 + 2) + (3 + 1 + 2));
  CHECK(counters.thread_instructions == 64 * 5 + 56 + 8 * 2);
  CHECK(counters.lane_efficiency() == doctest::Approx((64 * 5 + 56 + 16) / (14.0 * 32)));
}

TEST_CASE("counts and memory are the same with every vector unit and every run") {
  const std::string text = kernel_text(1, R"(
    ld.param.u64 %d1, [p0];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4;
    add.s64 %d3, %d1, %d2;
    cvt.rn.f32.u32 %f1, %r1;
    ex2.approx.f32 %f2, %f1;
    sin.approx.f32 %f3, %f1;
    fma.rn.f32 %f4, %f2, %f3, %f1;
    atom.global.add.f32 %f5, [%d1], %f4;
    st.global.f32 [%d3+4], %f4;
    ret;)");
  std::vector<Words> seen;
  for (int unit = 0; unit <= int(best_vector_unit()); ++unit) {
    const Program program = program_of(text, form_table(static_cast<VectorUnit>(unit)));
    std::vector<std::byte> bytes(260);  // 65 words
    DeviceMemory memory;
    memory.load(program);
    const std::uint64_t address = memory.map("data", bytes);
    LaunchOptions options;
    options.schedule_seed = 3;
    const LaunchResult got = launch(program, program.kernels[0], {{5, 1, 1}, {64, 1, 1}},
                                    std::as_bytes(std::span(&address, 1)), memory, options);
    Words words(65);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    words.push_back(std::uint32_t(got.counters.global.written.sectors));
    seen.push_back(words);
  }
  for (const Words& words : seen) CHECK(words == seen[0]);
}
