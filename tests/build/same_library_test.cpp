// SPDX-License-Identifier: Apache-2.0
// What a receipt says of a library holds for every later build of the same source.
#include <chrono>
#include <doctest/doctest.h>
#include <thread>

#include "tests/build/bench.h"

using namespace gauntlet;
using gauntlet::test::Bench;

namespace {

std::string library_of(const std::string& source) {
  const Bench bench;
  bench.file("detail/second.cpp", source + "static int second_state = state();\n");
  const BuiltSolution built =
      bench.build(source + "extern \"C\" long answer() { return state(); }\n");
  REQUIRE_MESSAGE(built.record.ok, built.record.messages);
  return read_file(built.library);
}

std::string text_of(const std::string& what) {
  return "static const char* volatile text = " + what + ";\nstatic int state() { return *text; }\n";
}

}  // namespace

TEST_CASE("the same source makes the same library, at another time and in another folder") {
  const std::string line_table = "asm(\".text\\n.file 1 \\\"x.c\\\"\\n.loc 1 1 0\\nnop\");\n";
  const std::string nameless =
      "namespace { struct A { A(); int n; }; A::A() : n(__LINE__) {} A a; }\n"
      "static int state() { return a.n; }\n";
  const std::string sources[] = {text_of("__DATE__"),          text_of("__TIME__"),
                                 text_of("__TIMESTAMP__"),     text_of("__FILE__"),
                                 text_of("__BASE_FILE__"),     text_of("__builtin_FILE()"),
                                 line_table + text_of("\"\""), nameless};
  std::vector<std::string> before;
  for (const std::string& source : sources) before.push_back(library_of(source));
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // __TIME__ counts seconds
  for (std::size_t i = 0; i < before.size(); ++i)
    CHECK_MESSAGE(library_of(sources[i]) == before[i], sources[i]);
}

TEST_CASE("a source finds no randomness to build upon") {
  for (const char* device : {"/dev/urandom", "/dev/random", "/proc/sys/kernel/random/uuid"})
    CHECK_FALSE(Bench()
                    .build(std::string("asm(\".incbin \\\"") + device +
                           "\\\"\");\nextern \"C\" long answer() { return 1; }\n")
                    .record.ok);
}
