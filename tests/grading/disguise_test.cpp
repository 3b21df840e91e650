// SPDX-License-Identifier: Apache-2.0
// What the disguise of a solution changes, and what it must leave as it is.
#include "harness/grading/disguise.h"

#include <doctest/doctest.h>
#include <string>

using namespace gauntlet;

namespace {

/// Two functions, one of them in a section that the linker keeps once, a group whose name nothing
/// defines, an access to a thread-local variable, and an initialiser.
constexpr const char* kText =
    "\t.file\t\"solution.cpp\"\n"
    "\t.section\t.text._Z4onceD2Ev,\"axG\",@progbits,_Z4onceD5Ev,comdat\n"
    "_Z4onceD2Ev:\n"
    "\t.cfi_startproc\n"
    "\tret\n"
    "\t.cfi_endproc\n"
    "\t.text\n"
    "\t.globl\trun\n"
    "run:\n"
    "\t.cfi_startproc\n"
    "\t.byte\t0x66\n"
    "\tleaq\tmine@tlsgd(%rip), %rdi\n"
    "\t.value\t0x6666\n"
    "\trex64\n"
    "\tcall\t__tls_get_addr@PLT\n"
    "\tcall\t_Z4onceD2Ev\n"
    "\tcall\tmemcpy@PLT\n"
    "\taddq\t$8+mine@dtpoff, %rax\n"
    "\taddq\t$mine@dtpoff, %rax\n"
    "\tmovq\t%rax, %run\n"
    ".L3:\n"
    "\tret\n"
    "\t.cfi_endproc\n"
    "\t.section\t.rodata\n"
    "text:\n"
    "\t.string\t\"run\"\n"
    "\t.section\t.init_array,\"aw\"\n"
    "\t.align 8\n"
    "\t.quad\t_GLOBAL__sub_I_run\n"
    "\t.section\t.tbss,\"awT\",@nobits\n"
    "mine:\n"
    "\t.zero\t8\n\f";

std::string drawn(std::uint64_t seed) {
  Rng rng(seed);
  const auto files = Disguise(kText, "P_").draw(rng);
  REQUIRE(files.size() == 1);
  return files[0];
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what a solution defines is renamed wherever it stands, and nothing else") {
  const std::string text = drawn(1);
  for (const char* part : {"\nP_run:\n", "\t.globl\tP_run\n", "call\tP__Z4onceD2Ev\n",
                           ",P__Z4onceD5Ev,comdat\n", "P_mine@tlsgd", "$8+P_mine@", "$P_mine@",
                           "call\tmemcpy@PLT", "%run\n", "\"run\"", "\n.L3:\n"}) {
    CAPTURE(part);
    CHECK(holds(text, part));
  }
  CHECK_FALSE(holds(text, "solution.cpp"));
  CHECK_FALSE(holds(text, ".cfi"));
}

TEST_CASE("initialisers are left to whoever links the library") {
  CHECK_FALSE(holds(drawn(1), "init_array"));
  const std::vector<std::string> wanted{"P__GLOBAL__sub_I_run"};
  CHECK(Disguise(
            std::string(kText).replace(std::string(kText).find("text:"), 5, "_GLOBAL__sub_I_run:"),
            "P_")
            .initialisers() == wanted);
}

#if defined(__x86_64__)
TEST_CASE("every draw has other bytes, and none comes between what belongs together") {
  CHECK(drawn(1) != drawn(2));
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const std::string text = drawn(seed);
    CHECK(holds(text,
                "\t.byte\t0x66\n\tleaq\tP_mine@tlsgd(%rip), %rdi\n\t.value\t0x6666\n"
                "\trex64\n\tcall\t__tls_get_addr@PLT\n"));
    // Each function begins with an instruction of 32 drawn bits.
    CHECK(holds(text, "P__Z4onceD2Ev:\n\tnop"));
  }
}
#endif
