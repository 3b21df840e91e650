// SPDX-License-Identifier: Apache-2.0
// What a kernel does wrong is told once, with its line, its thread and how often, and nothing of it
// happens. Each fault has a kernel beside it that does nearly the same and is right.
#include <doctest/doctest.h>
#include <string>

#include "tests/simt/device.h"

using namespace gauntlet::simt;

namespace {

using Words = std::vector<std::uint32_t>;

const std::string kFile = ".file 1 \"/somewhere/solution.cu\"";
/// %d1 is p0 plus four times the thread's number %r1; %d3 is p0.
const std::string kWordAndLine =
    "ld.param.u64 %d3, [p0];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 4;\n"
    "add.s64 %d1, %d3, %d2;\n.loc 1 12 3\n";

LaunchResult launched(const std::string& body, std::size_t words, std::uint32_t threads = 32,
                      Access access = Access::read_write, Content content = Content::defined) {
  SimulatedDevice device(kernel_text(1, kWordAndLine + body + "\nret;", kFile));
  const auto buffer = device.put(Words(words), "data", access, content);
  return device.launch({{2, 1, 1}, {threads, 1, 1}, 64}, buffer);
}

void require_only(const LaunchResult& got, Fault fault, const std::string& text) {
  INFO(all_texts(got));
  REQUIRE(got.diagnostics.size() == 1);
  CHECK(got.diagnostics[0].fault == fault);
  CHECK(got.diagnostics[0].text() == text);
}

}  // namespace

TEST_CASE("an access that no allocation holds is told and left out") {
  const LaunchResult got = launched("st.global.u32 [%d1], 7;", 30);
  require_only(
      got, Fault::out_of_bounds,
      "out_of_bounds at solution.cu:12 in k: writes 4 bytes at offset 120 of 'data', which "
      "has 120, block (0,0,0), thread (30,0,0), 4 times");
  CHECK(got.status == Status::faulted);
  CHECK(got.counters.global.written.bytes == 2 * 120);
  CHECK(launched("st.global.u32 [%d1], %r1;", 32).diagnostics.empty());
  CHECK(count_of(launched("ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%d3+112];", 30),
                 Fault::out_of_bounds) == 1);
  CHECK(count_of(launched("ld.global.u32 %r2, [%d1+-4];", 32), Fault::out_of_bounds) == 1);
  // Far away, next to nothing, and at the end of the address space.
  for (const char* address : {"0", "4096", "-8", "140737488355328", "2305843009213693952"}) {
    const LaunchResult far =
        launched("mov.u64 %d4, " + std::string(address) + ";\nld.u32 %r2, [%d4];", 0);
    CHECK(count_of(far, Fault::out_of_bounds) == 1);
  }
}

TEST_CASE("shared and local memory end where they end") {
  const std::string shared = "mul.wide.u32 %d4, %r1, 4;\n";
  CHECK(launched(shared + "st.shared.u32 [%d4+-60], %r1;", 1, 16).diagnostics.size() == 1);
  CHECK(launched(shared + "st.shared.u32 [%d4], %r1;", 1, 16).diagnostics.empty());
  CHECK(launched(shared + "st.shared.u32 [%d4+4], %r1;", 1, 16).diagnostics.size() == 1);
  const std::string local = ".local .align 4 .b8 mine[16];\nmov.u64 %d4, mine;\n";
  CHECK(launched(local + "st.local.u32 [%d4+12], %r1;", 1).diagnostics.empty());
  CHECK(count_of(launched(local + "st.local.u32 [%d4+16], %r1;", 1), Fault::out_of_bounds) == 1);
  const std::string generic = local + "cvta.local.u64 %d5, %d4;\n";
  CHECK(launched(generic + "st.u32 [%d5+12], %r1;", 1).diagnostics.empty());
  CHECK(count_of(launched(generic + "st.u32 [%d5+16], %r1;", 1), Fault::out_of_bounds) == 1);
}

TEST_CASE("each thread has local memory of its own") {
  SimulatedDevice device(kernel_text(1, kWordAndLine + R"(
    .local .align 8 .b8 mine[8];
    mov.u64 %d4, mine;
    cvta.local.u64 %d5, %d4;
    st.local.u32 [%d4+4], %r1;
    ld.u32 %r2, [%d5+4];
    st.global.u32 [%d1], %r2;
    ret;)",
                                     kFile));
  const auto out = device.put(Words(64));
  CHECK(device.launch({{1, 1, 1}, {64, 1, 1}}, out).diagnostics.empty());
  for (std::uint32_t n = 0; n < 64; ++n) CHECK(device.get<std::uint32_t>(out)[n] == n);
}

TEST_CASE("misaligned, freed and read-only memory") {
  CHECK(launched("ld.global.u32 %r2, [%d3+2];", 32).diagnostics.at(0).fault == Fault::misaligned);
  CHECK(launched("ld.global.v2.u32 {%r2,%r3}, [%d3+4];", 32).diagnostics.at(0).fault ==
        Fault::misaligned);
  CHECK(launched("ld.global.v2.u32 {%r2,%r3}, [%d3+8];", 32).diagnostics.empty());
  const LaunchResult written = launched("st.global.u32 [%d1], 1;", 32, 32, Access::read_only);
  CHECK(written.status == Status::faulted);
  CHECK(written.diagnostics.at(0).fault == Fault::read_only);
  CHECK(count_of(launched("atom.global.add.u32 %r2, [%d3], 1;", 32, 32, Access::read_only),
                 Fault::read_only) == 1);
  CHECK(launched("ld.global.u32 %r2, [%d1];", 32, 32, Access::read_only).diagnostics.empty());

  SimulatedDevice device(kernel_text(1, kWordAndLine + "ld.global.u32 %r2, [%d1];\nret;", kFile));
  const auto buffer = device.put(Words(32));
  CHECK(device.launch({{1, 1, 1}, {32, 1, 1}}, buffer).diagnostics.empty());
  CHECK(device.memory.unmap(buffer));
  CHECK_FALSE(device.memory.unmap(buffer));
  CHECK(device.launch({{1, 1, 1}, {32, 1, 1}}, buffer).diagnostics.at(0).fault == Fault::freed);
}

TEST_CASE("memory that nobody has written") {
  const LaunchResult global =
      launched("ld.global.u32 %r2, [%d1];", 32, 32, Access::read_write, Content::undefined);
  require_only(global, Fault::undefined_read,
               "undefined_read at solution.cu:12 in k: reads 4 bytes at offset 0 of 'data', which "
               "nobody has written, block (0,0,0), thread (0,0,0), 64 times");
  CHECK(global.status == Status::completed);
  CHECK(launched("st.global.u32 [%d1], 1;\nld.global.u32 %r2, [%d1];", 64, 32, Access::read_write,
                 Content::undefined)
            .diagnostics.empty());
  // One byte of four is not enough.
  CHECK(count_of(launched("st.global.u8 [%d1], 1;\nld.global.u32 %r2, [%d1];", 64, 32,
                          Access::read_write, Content::undefined),
                 Fault::undefined_read) == 1);
  // Shared memory is undefined again in the next block.
  const std::string own =
      "mul.wide.u32 %d4, %r1, 4;\nsetp.eq.u32 %p1, %r5, 0;\nmov.u32 %r5, %ctaid.x;\n";
  CHECK(launched(own + "ld.shared.u32 %r2, [%d4];", 1, 16).diagnostics.at(0).count == 32);
  CHECK(launched(own + "st.shared.u32 [%d4], 1;\nld.shared.u32 %r2, [%d4];", 1, 16)
            .diagnostics.empty());
  CHECK(launched("mov.u32 %r5, %ctaid.x;\nsetp.eq.u32 %p1, %r5, 0;\nmul.wide.u32 %d4, %r1, 4;\n"
                 "@%p1 st.shared.u32 [%d4], 1;\nld.shared.u32 %r2, [%d4];",
                 1, 16)
            .diagnostics.at(0)
            .count == 16);
}

TEST_CASE("lanes that are named and do not come, come and are not named, or have left") {
  const std::string half = "setp.lt.u32 %p1, %r1, 16;\n";
  const std::string shuffle = "shfl.sync.bfly.b32 %r2, %r1, 1, 31, ";
  const LaunchResult absent =
      launched(half + "@!%p1 bra out;\n" + shuffle + "-1;\nout:\nbar.warp.sync -1;", 32);
  INFO(all_texts(absent));
  CHECK(absent.diagnostics.at(0).fault == Fault::absent_lane);
  CHECK(launched(half + "@!%p1 bra out;\n" + shuffle + "65535;\nout:\nbar.warp.sync -1;", 32)
            .diagnostics.empty());
  // Lanes that have ended are not waited for.
  CHECK(launched(half + "@%p1 ret;\n" + shuffle + "-65536;", 32).diagnostics.empty());
  CHECK(count_of(launched(half + "@%p1 ret;\n" + shuffle + "-1;", 32), Fault::absent_lane) == 0);
  CHECK(count_of(launched(shuffle + "65535;", 32), Fault::foreign_lane) == 1);
  CHECK(count_of(launched("@!%p1 bra out;\nout:\nshfl.sync.idx.b32 %r2, %r1, 20, 31, 15;", 32, 4),
                 Fault::idle_source) == 1);
  // Two halves with masks of their own at one instruction.
  CHECK(
      launched(half + "selp.b32 %r3, 65535, -65536, %p1;\nshfl.sync.bfly.b32 %r2, %r1, 1, 31, %r3;",
               32)
          .diagnostics.empty());
}

TEST_CASE("threads of a block that wait at different barriers, or for nobody") {
  const std::string half = "setp.lt.u32 %p1, %r1, 16;\n";
  const LaunchResult apart = launched(
      half + "@%p1 bra a;\nbar.sync 0;\nbra.uni out;\na:\n.loc 1 14 1\nbar.sync 0;\nout:\n", 32);
  INFO(all_texts(apart));
  CHECK(count_of(apart, Fault::divergent_barrier) == 1);
  const std::string by_warp = "setp.lt.u32 %p1, %r1, 32;\n";
  CHECK(
      count_of(launched(by_warp + "@%p1 bra a;\nbar.sync 0;\nbra.uni out;\na:\nbar.sync 0;\nout:\n",
                        64, 64),
               Fault::divergent_barrier) == 1);
  CHECK(launched(by_warp + "@%p1 bra a;\na:\nbar.sync 0;\n", 64, 64).diagnostics.empty());
  // Threads that have returned are not waited for, as from compute capability 7.0 on.
  CHECK(launched(by_warp + "@%p1 ret;\nbar.sync 0;\n", 64, 64).diagnostics.empty());
  const LaunchResult stuck = launched(
      by_warp + "@%p1 bra a;\nbar.sync 1, 64;\nbra.uni out;\na:\nbar.sync 2, 64;\nout:\n", 64, 64);
  CHECK(stuck.status == Status::timed_out);
  CHECK(count_of(stuck, Fault::stuck_barrier) == 1);
}

TEST_CASE("a trap ends the launch; printf and assert tell what they were told") {
  const LaunchResult got =
      launched("setp.eq.u32 %p1, %r1, 5;\n@%p1 trap;\nst.global.u32 [%d1], 1;", 32);
  CHECK(got.status == Status::trapped);
  CHECK(got.why == "trap at solution.cu:12 in k");
  CHECK(got.diagnostics.at(0).thread == Index3{5, 0, 0});
  CHECK(got.counters.global.written.requests == 0);
}

TEST_CASE("a launch beyond what a device has is refused") {
  SimulatedDevice device(kernel_text(1, ".shared .b8 s[1024];\nmov.u64 %d1, s;\nret;"));
  const auto status = [&](const LaunchShape& shape) {
    return device.launch(shape, std::uint64_t(0)).status;
  };
  CHECK(status({{1, 1, 1}, {1024, 1, 1}}) == Status::completed);
  CHECK(status({{1, 1, 1}, {1025, 1, 1}}) == Status::refused);
  CHECK(status({{1, 1, 1}, {32, 33, 1}}) == Status::refused);
  CHECK(status({{1, 1, 1}, {65536, 65536, 1}}) == Status::refused);
  CHECK(status({{0, 1, 1}, {1, 1, 1}}) == Status::refused);
  CHECK(status({{1, 65536, 1}, {1, 1, 1}}) == Status::refused);
  CHECK(status({{4294967295u, 65535, 65535}, {1, 1, 1}}) == Status::refused);
  CHECK(status({{1, 1, 1}, {1, 1, 1}, 166'912 - 1024}) == Status::completed);
  CHECK(status({{1, 1, 1}, {1, 1, 1}, 166'912 - 1023}) == Status::refused);
  CHECK(status({{1, 1, 1}, {1, 1, 1}, 4294967295u}) == Status::refused);
  CHECK(device.launch({}).status == Status::refused);  // a parameter is missing
}
