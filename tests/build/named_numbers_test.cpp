// SPDX-License-Identifier: Apache-2.0
#include "harness/build/named_numbers.h"

#include <chrono>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <string>
#include <utility>

using namespace gauntlet;

namespace {

using Numbers = std::vector<std::int64_t>;

Numbers named_in(std::string text) {
  SolutionSource source;
  source.files = {{"solution.cpp", std::move(text)}};
  return named_numbers(source);
}

}  // namespace

TEST_CASE("every way to write an integer names it") {
  CHECK(named_in("a = 4096 + b; c = 4'097; d = 0x1002; e = 0b11; f = 010; g = 7uLL;") ==
        Numbers{3, 7, 8, 4096, 4097, 4098});
  CHECK(named_in("if (work > 3e6 || work > 2.5e1f || ratio < 0.5 || x > 9.5) {}") ==
        Numbers{25, 3'000'000});
}

TEST_CASE("what literals make together is named beside each of them") {
  CHECK(named_in("n = 1 << 20;") == Numbers{20, 1 << 20});
  CHECK(named_in("n = 64 * 1024 - 1;") == Numbers{64, 1023, 1024, 65'535, 65'536});
  CHECK(named_in("n = size / 64;") == Numbers{64});
  CHECK(named_in("n = 3 << 62; m = 9 * 9007199254740991;") ==
        Numbers{3, 9, 62, 9'007'199'254'740'991});
}

TEST_CASE("what a compiler does not see names nothing, but for the preprocessor") {
  CHECK(named_in("// 500\n/* 600 */ \"700\" '8' x900 \n#define BLOCK 128\n") == Numbers{128});
  CHECK(named_in("a = 0; b = 1; c = -1; d = 99999999999999999999;").empty());
}

TEST_CASE(
    "headers that it includes are part of a solution, and what only its tests include is not") {
  SolutionSource source;
  source.files = {{"solution.cpp", "#include \"detail/b.h\"\n#include <c.h>\nint a = 100;"},
                  {"detail/b.h", "#include \"../d.h\"\n#include \"../solution.cpp\"\n200"},
                  {"c.h", "250"},
                  {"d.h", "300"},
                  {"tests.cpp", "#include \"e.h\"\n400"},
                  {"e.h", "500"}};
  CHECK(named_numbers(source) == Numbers{100, 200, 300});
}

TEST_CASE("of a table, what stands elsewhere too is kept") {
  std::string table;
  for (int i = 1000; i < 2000; ++i) table += fmt::format("{}, ", i);
  const Numbers named = named_in(table + "; if (n > 5000 || m > 5000) {}");
  CHECK(named.size() == 200);
  CHECK(named.back() == 5000);
}

TEST_CASE("a sum of very many literals takes no time to speak of") {
  std::string sum = "1";
  while (sum.size() < 250'000) sum += "+1";
  const auto start = std::chrono::steady_clock::now();
  CHECK(named_in(sum) == Numbers{2, 3, 4, 5, 6, 7, 8});
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}
