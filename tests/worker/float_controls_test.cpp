// SPDX-License-Identifier: Apache-2.0
// A function returns with the rounding mode, and the treatment of subnormals, that it was given.
#include <cfenv>

#include "tests/support/text.h"
#include "worker_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

TEST_CASE("a call that leaves other float controls behind is wrong") {
  for (const char* body :
       {"__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8000); return 0;",
        "__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x0040); return 0;",
        "return std::fesetround(FE_UPWARD);", "return feenableexcept(FE_OVERFLOW);"}) {
    const Ending end = ending_of(body, "#include <cfenv>");
    CHECK_MESSAGE(end.verdict == Verdict::wrong, body);
    CHECK(contains(end.text, "rounding mode"));
  }
}

TEST_CASE("so is a library that changes them when it is loaded") {
  const Ending end = ending_of(
      "return 0;",
      "static const int changed = (__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040), 1);");
  CHECK(end.verdict == Verdict::wrong);
}

TEST_CASE("float controls that are put back, and flags of what happened, are nobody's business") {
  const Ending end = ending_of(R"(
    const unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | 0x8040);
    volatile float huge = 3e38f;
    huge = huge * huge;
    __builtin_ia32_ldmxcsr(before | (__builtin_ia32_stmxcsr() & 0x3f));
    std::feraiseexcept(FE_INEXACT | FE_DIVBYZERO);
    return 0;)",
                               "#include <cfenv>");
  CHECK_MESSAGE(end.verdict == Verdict::passed, end.text);
}

TEST_CASE("a function meets other float controls where a call says so, and returns with these") {
  const auto ending = [](const std::string& body) {
    const Solution solution(work(body, "#include <cfenv>"));
    WorkCall call(256);
    for (const bool unusual : {false, true, true, false}) {
      call.zero_subnormals = call.unusual_floats;  // the second time
      call.unusual_floats = unusual;
      const Ending end = ending_of(*solution.session, call);
      if (end.verdict != Verdict::passed) return end;
      CHECK_MESSAGE(call.returned == (unusual ? FE_UPWARD : FE_TONEAREST), body);
    }
    return Ending{};
  };
  const std::string mode = "const int mode = std::fegetround();";
  CHECK(ending(mode + "return mode;").verdict == Verdict::passed);
  for (const char* left : {"std::fesetround(FE_TONEAREST);", "__builtin_ia32_ldmxcsr(0x1F80);",
                           "__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() & ~0x8000u);",
                           "__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() & ~0x0040u);",
                           "std::fesetenv(FE_DFL_ENV);"})
    CHECK_MESSAGE(ending(mode + left + "return mode;").verdict == Verdict::wrong, left);
}
