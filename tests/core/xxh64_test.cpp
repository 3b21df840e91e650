#include "harness/core/xxh64.h"

#include <doctest/doctest.h>
#include <string_view>
#include <vector>

using namespace gauntlet;

namespace {

std::uint64_t hash_of(std::string_view text, std::uint64_t seed = 0) {
  return xxh64(std::as_bytes(std::span(text)), seed);
}

}  // namespace

// The values are those of libxxhash 0.8.1.
TEST_CASE("short texts have the hashes that everybody's XXH64 gives them") {
  CHECK(hash_of("") == 0xef46db3751d8e999);
  CHECK(hash_of("a") == 0xd24ec4f1a98c6e5b);
  CHECK(hash_of("abc") == 0x44bc2cf5ad770999);
  CHECK(hash_of("abc", 1) == 0xbea9ca8199328908);
  CHECK(hash_of("Nobody inspects the spammish repetition") == 0xfbcea83c8a378bf1);
}

TEST_CASE("whole stripes, and every kind of rest behind them, are hashed as by everybody") {
  std::vector<std::byte> bytes;
  for (unsigned i = 0; i < 101; ++i) bytes.push_back(static_cast<std::byte>(7 * i));
  const auto first = [&](std::size_t count) {
    return xxh64(std::span(bytes).first(count), 2654435761);
  };
  CHECK(first(31) == 0xa2ba2580312f0f94);
  CHECK(first(32) == 0xba4945101354e701);
  CHECK(first(33) == 0x1f245ed9dde2a6c8);
  CHECK(first(63) == 0x7010506b304f24a3);
  CHECK(first(64) == 0x7a368c1f823dfc0e);
  CHECK(first(100) == 0xac47104ac97e0bd1);
  CHECK(first(101) == 0x48395cd114743493);
}
