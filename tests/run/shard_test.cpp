// SPDX-License-Identifier: Apache-2.0
// A plan in parts for several machines.
#include <algorithm>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <map>
#include <random>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/run/shard_set.h"
#include "tests/support/text.h"

using namespace gauntlet;

namespace {

/// Some submissions took all challenges, some the first alone.
std::vector<CellKey> plan_of(int submissions) {
  std::vector<CellKey> plan;
  for (int i = 0; i < submissions; ++i)
    for (const char* challenge : {"first", "second", "third", "third.large"})
      if (i % 3 != 0 || std::string(challenge) == "first")
        plan.push_back(CellKey::of("model" + std::to_string(i), challenge));
  plan.push_back(CellKey::of("model1#2", "first"));
  plan.push_back(CellKey::of("model1@cuda", "first"));
  return plan;
}

std::string complaint(const std::string& word) {
  try {
    Shard::named(word);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no complaint";
}

}  // namespace

TEST_CASE("every cell is in exactly one shard, in whatever order the plan was written down") {
  std::mt19937 random(7);
  for (const int submissions : {0, 1, 10, 41})
    for (const int of : {1, 2, 3, 7, 200}) {
      INFO(submissions, " in ", of);
      std::vector<CellKey> plan = plan_of(submissions);
      std::vector<CellKey> all;
      for (int i = 1; i <= of; ++i) {
        const auto mine = cells_of({i, of}, plan);
        std::shuffle(plan.begin(), plan.end(), random);
        plan.push_back(plan.front());  // named twice
        CHECK(cells_of({i, of}, plan) == mine);
        all.insert(all.end(), mine.begin(), mine.end());
      }
      std::sort(all.begin(), all.end());
      plan = plan_of(submissions);
      std::sort(plan.begin(), plan.end());
      CHECK(all == plan);
    }
}

TEST_CASE("shards have as many cells of each challenge, give or take one") {
  const auto plan = plan_of(100);
  std::map<std::string, std::pair<std::ptrdiff_t, std::ptrdiff_t>> least_and_most;
  for (int i = 1; i <= 7; ++i) {
    const auto mine = cells_of({i, 7}, plan);
    for (const char* column : {"first", "second", "third", "third.large"}) {
      const auto count = std::count_if(mine.begin(), mine.end(),
                                       [&](const CellKey& key) { return key.column() == column; });
      const auto known = least_and_most.try_emplace(column, count, count).first;
      known->second = {std::min(known->second.first, count), std::max(known->second.second, count)};
    }
  }
  for (const auto& column : least_and_most) {
    INFO(column.first);
    const auto [least, most] = column.second;
    CHECK(least > 0);
    CHECK(most - least <= 1);
  }
}

TEST_CASE("a shard is named by its number and how many there are") {
  CHECK(Shard::named("2/3") == Shard{2, 3});
  CHECK(Shard::named("2/3").text() == "2/3");
  for (const char* word : {"", "2", "0/3", "4/3", "-1/3", "a/b", "1/3x", " 1/3", "1/0", "1//3",
                           "1/99999999999", "1/10001"}) {
    INFO(word);
    CHECK(contains(complaint(word), "is no shard: 2/3 is the second of three"));
  }
}

TEST_CASE("what a shard leaves beside its results is read back, and no other file is") {
  const ScratchFolder folder("shards");
  const auto plan = plan_of(5);
  for (const int i : {2, 1}) save_shard(folder.path(), record_of({i, 3}, plan));
  write_file(folder.path() / "shard-x-of-3.json", "no shard");
  write_file(folder.path() / "shard-4-of-3.json", "no shard");
  const auto read = load_shards(folder.path());
  REQUIRE(read.size() == 2);
  CHECK(read[0].shard == Shard{1, 3});
  CHECK(read[1].cells == cells_of({2, 3}, plan));
  CHECK(read[1].plan == read[0].plan);
  CHECK(read[1].planned == plan.size());
  CHECK(record_of({1, 3}, plan).plan != record_of({1, 4}, plan).plan);
  CHECK(record_of({1, 3}, plan).plan != record_of({1, 3}, plan_of(6)).plan);
  write_file(folder.path() / "shard-3-of-3.json", "{}");
  CHECK_THROWS_AS(load_shards(folder.path()), UserError);
}

TEST_CASE("of shards that are not there it is told how many cells they have, of others which") {
  const auto plan = plan_of(5);
  ShardSet shards;
  CHECK(shards.missing([](const CellKey&) { return false; }).empty());
  shards.add(record_of({3, 3}, plan), "c");
  shards.add_earlier({record_of({1, 3}, plan), record_of({2, 3}, plan_of(6))});
  CHECK(shards.records().size() == 2);
  const CellKey lost = cells_of({1, 3}, plan).front();
  const auto missing = shards.missing([&](const CellKey& key) { return key != lost; });
  REQUIRE(missing.size() == 2);
  CHECK(missing[0] == lost.text() + ": shard 1/3 was to grade it, and there is no grade");
  CHECK(missing[1] == fmt::format("{} of the {} planned cells: nobody handed in shard 2/3",
                                  cells_of({2, 3}, plan).size(), plan.size()));
  CHECK_THROWS_AS(shards.add(record_of({2, 3}, plan_of(6)), "b"), UserError);
}
