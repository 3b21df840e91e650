// SPDX-License-Identifier: Apache-2.0
#include "harness/store/cache_key.h"

#include <doctest/doctest.h>
#include <set>

using namespace gauntlet;

namespace {

CacheKey sample_key() {
  return CacheKey("solution").add("flags", "-O3").add_text("contract", "int f();");
}

}  // namespace

TEST_CASE("every part of a key changes its digest, wherever it stands") {
  std::set<std::string> digests{sample_key().digest()};
  for (const CacheKey& other :
       {CacheKey("tests").add("flags", "-O3").add_text("contract", "int f();"),
        CacheKey("solution").add("flags", "-O2").add_text("contract", "int f();"),
        CacheKey("solution").add("flag", "s-O3").add_text("contract", "int f();"),
        CacheKey("solution").add("flags", "-O3").add_text("contract", "int g();"),
        CacheKey("solution").add_text("contract", "int f();"), sample_key().add("more", "")})
    CHECK(digests.insert(other.digest()).second);
  CHECK(digests.contains(sample_key().digest()));
}

TEST_CASE("the key of a format is the same in every version that has the format") {
  // Who changes what follows raises CacheKey::kFormat, so that people are told what became of
  // their cache.
  CHECK(CacheKey::kFormat == 2);
  CHECK(sample_key().digest() ==
        "1639478f483e159430d08f9771cbe2874f3152b3a0904a1f85dac647b7528730");
}

TEST_CASE("two keys differ in the fields that changed, came or went") {
  CHECK(changes(sample_key(), sample_key()).empty());
  const CacheKey before = CacheKey("x").add("a", "1").add("b", "2").add("gone", "3");
  const CacheKey after = CacheKey("x").add("new", "4").add("a", "1").add("b", "5");
  const auto found = changes(before, after);
  REQUIRE(found.size() == 3);
  CHECK(found[0].field == "new");
  CHECK(found[0].before.empty());
  CHECK(found[1].field == "b");
  CHECK(sentence_of(found[1], "the b") == "the b changed: 2 -> 5");
  CHECK(found[2].field == "gone");
  CHECK(found[2].after.empty());
}

TEST_CASE("of a digest its beginning is shown, of other values everything, on one line") {
  CHECK(short_value(std::string(64, 'a')) == "aaaaaaaa");
  CHECK(short_value(std::string(64, 'g')) == std::string(64, 'g'));
  CHECK(short_value("g++\n12") == "g++ 12");
}
