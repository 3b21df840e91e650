// SPDX-License-Identifier: Apache-2.0
#include "harness/store/result_store.h"

#include <algorithm>
#include <doctest/doctest.h>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/store/observation_json.h"
#include "harness/store/reuse.h"
#include "tests/store/receipt_sample.h"
#include "tests/store/sample.h"

using namespace gauntlet;

TEST_CASE("a saved cell is found again, and one that was never saved is not") {
  const ScratchFolder folder("test");
  const ResultStore store(folder.path() / "results");
  CHECK(store.load_all().empty());
  store.save(sample::cell("bravo", "first"));
  CHECK(store.load({"bravo", "first"})->key.submission == "bravo");
  CHECK_FALSE(store.load({"bravo", "second"}).has_value());
  CHECK(std::filesystem::exists(folder.path() / "results/bravo/first/observation.json"));
}

TEST_CASE("all cells come sorted, whatever the order in which they were saved") {
  const ScratchFolder folder("test");
  const ResultStore store(folder.path());
  const std::vector<std::string> names{"h", "c", "a", "g", "b", "e", "f", "d"};
  for (const auto& submission : names)
    for (const auto& challenge : names) store.save(sample::cell(submission, challenge));
  const auto cells = store.load_all();
  REQUIRE(cells.size() == 64);
  for (std::size_t i = 1; i < cells.size(); ++i)
    CHECK(std::pair(cells[i - 1].key.submission, cells[i - 1].key.challenge) <
          std::pair(cells[i].key.submission, cells[i].key.challenge));
}

TEST_CASE("sizes, devices and attempts of one submission lie beside each other") {
  const ScratchFolder folder("test");
  const ResultStore store(folder.path());
  std::vector<CellKey> keys;
  for (const int attempt : {1, 2, 10})
    for (const char* size : {"", "large"})
      for (const Device device : {Device::cpu, Device::cuda})
        keys.push_back({"bravo", "first", size, device, attempt});
  for (std::size_t i = 0; i < keys.size(); ++i) {
    CellObservation cell = sample::graded_cell();
    cell.key = keys[i];
    cell.seed = i;
    store.save(cell);
    store.close_receipt(cell, sample::receipt_of(cell));
  }
  CHECK(store.load_all().size() == keys.size());
  std::vector<CellKey> found = store.keys();
  std::sort(found.begin(), found.end());
  std::sort(keys.begin(), keys.end());
  CHECK(found == keys);
  for (const CellKey& key : keys) {
    CAPTURE(key.text());
    const auto cell = store.load(key);
    REQUIRE(cell.has_value());
    CHECK(cell->key == key);
    CHECK(store.load_receipt(key)->key == key);
    CHECK(store.load_receipt(key)->closing->seed == cell->seed);
    std::string why;
    CHECK_MESSAGE(load_proven(store, key, why).has_value(), why);
  }
  for (const char* file : {"bravo/first", "bravo/first@cuda", "bravo/attempts/2/first.large@cuda"})
    CHECK(std::filesystem::exists(folder.path() / file / "observation.json"));
  const auto large = store.load_all([](const CellKey& key) { return key.size == "large"; });
  CHECK(large.size() == keys.size() / 2);
}

TEST_CASE("each attempt has card and a folder that it was graded from") {
  const ScratchFolder folder("test");
  const ResultStore store(folder.path() / "results");
  ModelCard card{"Bravo", "unknown", "2026", "ab", "1", "x", "high", "unknown", "1", "2"};
  store.save_model_card({"bravo", ""}, card);
  card.attempt = "2";
  const CellKey second = CellKey::of("bravo#2");
  store.save_model_card(second, card);
  CHECK(store.load_model_card({"bravo", ""})->attempt == "1");
  CHECK(store.load_model_card(second)->attempt == "2");
  const auto submission = folder.path() / "submissions/bravo";
  std::filesystem::create_directories(submission / "attempts/2");
  store.claim({"bravo", ""}, submission, folder.path());
  store.claim(second, submission / "attempts/2", folder.path());
  CHECK_THROWS_WITH_AS(store.claim(second, submission, folder.path()),
                       doctest::Contains("has grades of submissions/bravo/attempts/2, not of"),
                       UserError);
}

TEST_CASE("a folder that no attempt or device can have is named and left out") {
  const ScratchFolder folder("test");
  std::vector<std::string> remarks;
  const ResultStore store(folder.path(), [&](const std::string& said) { remarks.push_back(said); });
  store.save(sample::cell("bravo#2", "first"));
  for (const char* odd : {"attempts/1", "attempts/02", "attempts/x", "first@gpu", "first#2"})
    std::filesystem::create_directories(folder.path() / "bravo" / odd);
  CHECK(store.load_all().size() == 1);
  CHECK(remarks.size() == 5);
}

TEST_CASE("a result in another cell's folder is refused") {
  const ScratchFolder folder("test");
  const ResultStore store(folder.path());
  write_file(store.observation_file({"alpha", "first"}), to_json(sample::cell("bravo", "first")));
  CHECK_THROWS_WITH_AS(store.load({"alpha", "first"}), doctest::Contains("is about bravo/first"),
                       UserError);
}

TEST_CASE("names that would leave the store or need quoting are refused") {
  const ScratchFolder folder("test");
  const ResultStore store(folder.path());
  for (const char* name : {"", "..", ".hidden", "a/b", "A", "a b", "a|b", "-x"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(store.load({name, "first"}), UserError);
    CHECK_THROWS_AS(store.save(sample::cell("bravo", name)), UserError);
  }
}

TEST_CASE("model cards are kept beside the cells") {
  const ScratchFolder folder("test");
  const ResultStore store(folder.path());
  CHECK_FALSE(store.load_model_card({"bravo", ""}).has_value());
  ModelCard card{"Bravo: 2", "unknown", "2026", "ab", "1", "x", "high", "unknown", "1", "2"};
  store.save_model_card({"bravo", ""}, card);
  CHECK(store.load_model_card({"bravo", ""})->name == "Bravo: 2");
}
