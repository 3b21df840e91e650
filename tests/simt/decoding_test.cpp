// SPDX-License-Identifier: Apache-2.0
// What is taken as PTX and what is refused, by its name and line.
#include <doctest/doctest.h>
#include <string>

#include "tests/simt/device.h"

using namespace gauntlet::simt;

namespace {

std::string refusal_of(const std::string& ptx) {
  try {
    program_of(ptx);
  } catch (const PtxError& error) {
    return error.what();
  }
  return "";
}

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string with_body(const std::string& body) {
  return refusal_of(kernel_text(1, body + "\nret;"));
}

}  // namespace

TEST_CASE("an unknown instruction is refused by its whole name and its source line") {
  const std::string text = kernel_text(1,
                                       ".loc 1 17 3\n"
                                       "wgmma.fence.sync.aligned;\nret;",
                                       ".file 1 \"/tmp/solution.cu\"");
  CHECK(refusal_of(text) ==
        "solution.cu:17: the instruction 'wgmma.fence.sync.aligned' is not supported");
  CHECK(
      says(with_body("add.rz.f32 %f1, %f2, %f3;"), "'add.rz.f32 b32, b32, b32' is not supported"));
  CHECK(says(with_body("vote.sync.all.pred %r1, %p1, -1;"), "not supported"));  // a wrong register
  CHECK(says(with_body("ld.global.v3.f32 {%f1,%f2,%f3}, [%d1];"), "not supported"));
  CHECK(says(with_body("add.s32 %r1, %r2;"), "not supported"));
  CHECK(says(with_body("add.s32 %r1, %r2, %d3;"), "not supported"));
  CHECK(says(with_body("add.f32 %f1, %f2, 0d3FF0000000000000;"), "not supported"));
  CHECK(says(with_body("mov.u32 %r1, %clock;"), "'%clock' is not supported"));
}

TEST_CASE("what NVIDIA's own assembler refuses for compute capability 8.0 is refused") {
  for (const char* const instruction :
       {"add.bf16 %h1, %h2, %h3", "mul.rn.bf16x2 %r1, %r2, %r3", "cvt.rn.bf16.s32 %h1, %r1",
        "mov.f16 %h1, %h2", "selp.bf16 %h1, %h2, %h3, %p1"})
    CHECK(says(with_body(instruction + std::string(";")), "not supported"));
}

TEST_CASE("what is no PTX is refused with its line") {
  CHECK(says(refusal_of("hello"), "PTX line 1"));
  CHECK(says(refusal_of(".version 8.0\n.address_size 32"), "only .address_size 64"));
  CHECK(says(refusal_of(kernel_text(0, "ret")), "expected"));
  CHECK(says(refusal_of(".visible .entry k() { ret;"), "no end"));
  CHECK(says(with_body("bra nowhere;"), "no label nowhere"));
  CHECK(says(with_body("a: a: ret;"), "two labels"));
  CHECK(says(with_body("mov.u64 %d1, unknown;"), "'unknown' is not supported"));
  CHECK(says(with_body(".global .u32 x;"), "not supported in a function"));
  CHECK(says(with_body(".shared .b8 big[50000];\nmov.u64 %d1, big;"), "a kernel has 49152"));
  CHECK(says(with_body(".local .b8 big[99999999999];"), "larger than 64 MiB"));
  CHECK(says(refusal_of(kernel_text(0, "add.s32 %r1, %r2, %r3;")), "goes on where it has no"));
  CHECK(says(refusal_of(kernel_text(0, "")), "no instructions"));
  CHECK(says(refusal_of(".entry k() {ret;}\n.entry k() {ret;}"), "two functions are named k"));
  CHECK(says(with_body("mov.b32 %r1, 99999999999999999999;"), "no number that fits"));
}

TEST_CASE("calls are put in place; recursion and calls through pointers are refused") {
  const std::string callee =
      ".func (.param .b32 out) twice(.param .b32 in) {\n.reg .b32 %r<3>;\n"
      "ld.param.b32 %r1, [in+0];\nadd.s32 %r2, %r1, %r1;\nst.param.b32 [out+0], %r2;\nret;\n}\n";
  const auto calling = [](const std::string& name) {
    return "mov.u32 %r1, %tid.x;\n{\n.param .b32 param0;\nst.param.b32 [param0+0], %r1;\n"
           ".param .b32 retval0;\ncall.uni (retval0), " +
           name +
           ", (param0);\n"
           "ld.param.b32 %r2, [retval0+0];\n}\n";
  };
  SimulatedDevice device(kernel_text(1,
                                     calling("twice") +
                                         "ld.param.u64 %d1, [p0];\nmul.wide.u32 %d2, %r1, 4;\n"
                                         "add.s64 %d1, %d1, %d2;\nst.global.u32 [%d1], %r2;\nret;",
                                     callee));
  const auto out = device.put(std::vector<std::uint32_t>(64));
  CHECK(device.launch({{1, 1, 1}, {64, 1, 1}}, out).status == Status::completed);
  CHECK(device.get<std::uint32_t>(out)[63] == 126);

  CHECK(says(refusal_of(kernel_text(0, calling("nobody") + "ret;")), "nobody is defined nowhere"));
  const std::string endless =
      ".func (.param .b32 out) endless(.param .b32 in) {\n.reg .b32 %r<3>;\n" + calling("endless") +
      "ret;\n}\n";
  CHECK(says(refusal_of(kernel_text(0, calling("endless") + "ret;", endless)), "recursion"));
  CHECK(says(with_body("call.uni (%r1), %d1, (%r2), prototype;"), "through a pointer"));
}

TEST_CASE("bombs end at a limit, in no time") {
  std::string doubling;
  for (int n = 0; n < 40; ++n) {
    const std::string next = n == 39 ? "" : "call.uni f" + std::to_string(n + 1) + ";\n";
    doubling = ".func f" + std::to_string(n) + "() {\n" + next + next + "ret;\n}\n" + doubling;
  }
  CHECK_FALSE(refusal_of(kernel_text(0, "call.uni f0;\nret;", doubling)).empty());

  std::string nested;
  for (int n = 0; n < 100; ++n) nested += "l" + std::to_string(n) + ":\n";
  nested = "";
  for (int n = 0; n < 100; ++n) nested += "l" + std::to_string(n) + ": add.s32 %r1, %r1, 1;\n";
  for (int n = 99; n >= 0; --n) nested += "@%p1 bra l" + std::to_string(n) + ";\n";
  CHECK(says(refusal_of(kernel_text(0, nested + "ret;")), "loops are nested more than 64 deep"));

  std::string live;
  for (int n = 0; n < 9000; ++n) live += "mov.u32 %x" + std::to_string(n) + ", %tid.x;\n";
  for (int n = 0; n < 9000; ++n) live += "add.s32 %x0, %x0, %x" + std::to_string(n) + ";\n";
  CHECK(
      says(refusal_of(kernel_text(0, ".reg .b32 %x<9000>;\n" + live + "ret;")), "live registers"));
  CHECK(says(refusal_of(kernel_text(0, std::string(2000, '{') + "ret;")), "nested too deep"));
  // A range of registers costs nothing before one of it is used.
  CHECK(refusal_of(kernel_text(0, ".reg .b32 %x<4000000000>;\nmov.u32 %x3999999999, 1;\nret;"))
            .empty());
}
