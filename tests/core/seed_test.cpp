// SPDX-License-Identifier: Apache-2.0
#include "harness/core/seed.h"

#include <doctest/doctest.h>

#include "harness/core/digest.h"

using namespace gauntlet;

namespace {

Seed seed_of(std::string_view word) {
  const auto seed = Seed::parse(word);
  REQUIRE(seed);
  return *seed;
}

std::string nibbles(std::size_t count, char digit) {
  return "0x" + std::string(count, digit);
}

}  // namespace

TEST_CASE("a seed is read as it is written, short or long") {
  for (const std::string& word :
       {std::string("0x0000000000000001"), std::string("0xfedcba9876543210"), nibbles(17, 'a'),
        nibbles(63, '7'), nibbles(64, 'f')})
    CHECK(seed_of(word).text() == word);
  CHECK(seed_of("1") == seed_of("0x1"));
  CHECK(seed_of("203") == seed_of("0XCB"));
  CHECK(seed_of("18446744073709551615") == Seed(~std::uint64_t{0}));
  for (const char* word :
       {"", "0x", "0xzz", "-1", "+1", " 1", "1 ", "12a", "18446744073709551616", "0x-1", "0x 1"})
    CHECK_FALSE(Seed::parse(word));
  CHECK_FALSE(Seed::parse(nibbles(65, '0')));
}

TEST_CASE("seeds that follow a seed carry into every byte") {
  CHECK(seed_of("255") + 1 == seed_of("256"));
  CHECK(seed_of(nibbles(16, 'f')) + 3 == seed_of("0x10000000000000002"));
  CHECK(seed_of(nibbles(64, 'f')) + 1 == Seed());
}

TEST_CASE("fresh seeds are 256 bits that nobody chose") {
  const Seed one = Seed::fresh();
  CHECK(one.text().size() > 40);  // shorter once in 2^104
  CHECK_FALSE(one == Seed::fresh());
}

TEST_CASE("a derived seed is SHA-256 of the documented bytes") {
  const std::string documented = std::string("gauntlet.seed/1") + std::string(31, '\0') + "\x05" +
                                 std::string(7, '\0') + "\x08" + "round 17";
  CHECK(derive(5, "round 17").text() == "0x" + sha256(documented));
}
