// SPDX-License-Identifier: Apache-2.0
// What a submission's own tests earn, and that no way of cheating with them does.
#include "harness/grading/self_test.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <string>

#include "tests/end_to_end/grading_environment.h"

using namespace gauntlet;
namespace fs = std::filesystem;

namespace {

SolutionSource with_tests(const std::string& text) {
  SolutionSource source;
  source.files.push_back({"solution.cpp", "int nothing;"});
  source.files.push_back({"tests.cpp", "#include <cstdlib>\n#include \"contract.h\"\n" + text});
  return source;
}

/// Two right solutions and two wrong ones, each of which only says how many bytes it would save.
std::vector<SelfTestSubject> subjects() {
  const auto saving = [](const char* name, int bytes, bool honest) {
    SelfTestSubject subject;
    subject.name = name;
    subject.honest = honest;
    subject.solution.files.push_back(
        {"solution.cpp",
         "#include \"contract.h\"\n"
         "extern \"C\" int64_t layernorm_saved_bytes(const LayernormArgs*) { return " +
             std::to_string(bytes) +
             "; }\n"
             "extern \"C\" int64_t layernorm_forward(const LayernormArgs*) { return 0; }\n"
             "extern \"C\" int64_t layernorm_backward(const LayernormArgs*) { return 0; }\n"});
    return subject;
  };
  std::vector<SelfTestSubject> all{saving("right", 8, true), saving("also_right", 16, true),
                                   saving("negative", -5, false), saving("odd", 7, false)};
  all[1].uses = "more may be saved";
  return all;
}

CheckObservation grade(const std::string& tests) {
  Challenge challenge = load_challenge(GAUNTLET_ROOT, kChallenge);
  return grade_self_test(environment(), challenge, with_tests(tests), subjects(),
                         [](const std::string&) {});
}

constexpr const char* kAsk = "LayernormArgs a{}; const auto n = layernorm_saved_bytes(&a);";

std::string self_test(const std::string& body) {
  return "extern \"C\" int self_test(void) { " + body + " }";
}

}  // namespace

TEST_CASE("tests that tell all wrong solutions from all right ones earn everything") {
  const auto seen = grade(self_test(std::string(kAsk) + "return n < 0 || n % 2 != 0;"));
  CHECK(seen.verdict == Verdict::passed);
  CHECK(seen.earned == 1);
  CHECK(seen.cases == 4);
}

TEST_CASE("tests that miss one of two wrong solutions earn half") {
  CHECK(grade(self_test(std::string(kAsk) + "return n < 0;")).earned == 0.5);
}

TEST_CASE("a crash on a wrong solution notices it") {
  CHECK(grade(self_test(std::string(kAsk) + "if (n < 0) abort(); return 0;")).earned == 0.5);
}

TEST_CASE("tests that accept, refuse, crash or hang whatever they are given earn nothing") {
  for (const char* body :
       {"return 0;", "return 1;", "abort();", "for (volatile int i = 0;;) i = 1;"}) {
    CAPTURE(body);
    const auto seen = grade(self_test(body));
    CHECK(seen.verdict == Verdict::wrong);
    CHECK(seen.earned == 0);
  }
}

TEST_CASE("refusing one of two right solutions costs more than all kills bring") {
  const auto seen = grade(self_test(std::string(kAsk) + "return n != 8;"));
  CHECK(seen.verdict == Verdict::wrong);
  CHECK(seen.earned == 0);
  REQUIRE(seen.finding);
  CHECK(seen.finding->evidence.at(0) ==
        "also_right: self_test returned 1; it is right all the same: more may be saved");
}

TEST_CASE("a finding names the line of the assertion that a right solution fails") {
  const auto words = [](const std::string& tests) {
    const auto seen = grade(tests);
    REQUIRE(seen.finding);
    return seen.finding->evidence.at(0);
  };
  const std::string asserting =
      words("#include <cassert>\n" + self_test(std::string(kAsk) + "assert(n == 8); return 0;"));
  CHECK_MESSAGE(asserting.find("printed \"tests.cpp:4: ") != std::string::npos, asserting);
  CHECK_MESSAGE(asserting.find("`n == 8'") != std::string::npos, asserting);
  CHECK(
      words("#include <cstdio>\n" +
            self_test(std::string(kAsk) + "std::puts(\"checked\"); if (n != 8) "
                                          "std::fprintf(stderr, \"line %d: \\033[31m%d\\n\\n\", 4, "
                                          "int(n)); return n != 8;")) ==
      "also_right: self_test returned 1 and printed \"line 4: \uFFFD16\"; "
      "it is right all the same: more may be saved");
}

TEST_CASE("tests cannot bring the functions that they test") {
  const auto seen =
      grade("extern \"C\" int64_t layernorm_saved_bytes(const LayernormArgs*) { return 8; }\n" +
            self_test(std::string(kAsk) + "return n < 0 || n % 2 != 0;"));
  CHECK(seen.earned == 1);  // it was the subject's that answered
}

TEST_CASE("missing tests and tests that do not build are findings") {
  SolutionSource none;
  none.files.push_back({"solution.cpp", "int nothing;"});
  const Challenge challenge = load_challenge(GAUNTLET_ROOT, kChallenge);
  const auto absent = grade_self_test(environment(), challenge, none, subjects(), {});
  REQUIRE(absent.finding);
  CHECK(absent.finding->summary.find("no tests.cpp") != std::string::npos);
  const auto broken = grade("this is no C++");
  REQUIRE(broken.finding);
  CHECK(broken.finding->summary == "tests.cpp does not build");
  const auto nameless = grade("int self_tset() { return 0; }");
  CHECK(nameless.earned == 0);
}

TEST_CASE("a wrong solution with which the tests hang is noticed") {
  const auto seen = grade(
      self_test(std::string(kAsk) + "for (volatile int i = 0; n < 0;) i = 1; return n % 2 != 0;"));
  CHECK(seen.earned == 1);
}
