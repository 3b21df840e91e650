// SPDX-License-Identifier: Apache-2.0
#include "harness/core/rng.h"

#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <set>
#include <span>
#include <string>

using namespace gauntlet;

namespace {

std::string hex_of(Rng& rng, std::size_t bytes) {
  std::vector<std::byte> stream(bytes);
  rng.fill(stream);
  std::string hex;
  for (const std::byte byte : stream) hex += fmt::format("{:02x}", std::to_integer<int>(byte));
  return hex;
}

std::set<std::uint64_t> words_of(const Seed& seed, int count) {
  Rng rng(seed);
  std::set<std::uint64_t> words;
  for (int i = 0; i < count; ++i) words.insert(rng());
  return words;
}

}  // namespace

TEST_CASE("the stream is that of ChaCha20, as RFC 8439 publishes it") {
  Rng zero(0);  // appendix A.1, test vectors 1 and 2
  CHECK(hex_of(zero, 64) ==
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586");
  CHECK(hex_of(zero, 64) ==
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
        "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f");
  Rng last_bit(1);  // test vector 3 is of the second block
  hex_of(last_bit, 64);
  CHECK(hex_of(last_bit, 64) ==
        "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
        "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0");
  CHECK(Rng(0)() == 0x903df1a0ade0b876);  // little-endian
}

TEST_CASE("numbers, bytes and seeds of one stream are never the same part of it") {
  Rng rng(7);
  std::set<std::uint64_t> seen;
  std::size_t drawn = 0;
  const auto see = [&](std::uint64_t word) {
    seen.insert(word);
    ++drawn;
  };
  for (const std::size_t many : {1, 40, 300, 2000}) {
    for (std::size_t i = 0; i < many; ++i) see(rng());
    std::vector<std::uint64_t> words(many);
    rng.fill(std::as_writable_bytes(std::span(words)));
    for (const std::uint64_t word : words) see(word);
    const Seed seed = rng.seed();
    for (std::size_t i = 0; i < Seed::kBytes; i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, seed.bytes().data() + i, sizeof word);
      see(word);
    }
  }
  CHECK(seen.size() == drawn);  // of 2^64 numbers, no two are the same by chance
}

TEST_CASE("streams of neighbouring names or seeds share no number") {
  std::set<std::uint64_t> seen;
  const std::vector<Seed> seeds{derive(1, "round 1"),
                                derive(1, "round 2"),
                                derive(1, "round 11"),
                                derive(2, "round 1"),
                                derive(derive(1, "round 1"), ""),
                                derive(1, "")};
  for (const Seed& seed : seeds) seen.merge(words_of(seed, 1000));
  CHECK(seen.size() == 1000 * seeds.size());
  CHECK(words_of(derive(1, "a"), 9) == words_of(derive(1, "a"), 9));
}

TEST_CASE("integer() reaches both ends and nothing else") {
  Rng rng(3);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(rng.integer(-2, 2));
  CHECK(seen == std::set<std::int64_t>{-2, -1, 0, 1, 2});
  CHECK(rng.integer(5, 5) == 5);
  CHECK_THROWS(rng.integer(1, 0));
}

TEST_CASE("normal() has mean 0, deviation 1 and the tails of a normal") {
  Rng rng(11);
  constexpr int kDraws = 200'000;
  double sum = 0;
  double squares = 0;
  int beyond_two = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.normal();
    sum += x;
    squares += x * x;
    if (std::abs(x) > 2) ++beyond_two;
  }
  CHECK(std::abs(sum / kDraws) < 0.01);  // 4.5 standard errors
  CHECK(std::abs(squares / kDraws - 1) < 0.015);
  CHECK(beyond_two / double(kDraws) == doctest::Approx(0.0455).epsilon(0.05));
}

TEST_CASE("uniform() stays below 1 and shuffle() keeps every item") {
  Rng rng(5);
  for (int i = 0; i < 10'000; ++i) {
    const double x = rng.uniform();
    CHECK((x >= 0 && x < 1));
  }
  std::vector<int> items{1, 2, 3, 4, 5, 6};
  rng.shuffle(items);
  CHECK(std::set<int>(items.begin(), items.end()).size() == 6);
}
