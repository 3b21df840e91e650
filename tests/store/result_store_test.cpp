#include "harness/store/result_store.h"

#include <algorithm>
#include <doctest/doctest.h>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/store/observation_json.h"
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

TEST_CASE("papers are kept beside the cells") {
  const ScratchFolder folder("test");
  const ResultStore store(folder.path());
  CHECK_FALSE(store.load_papers({"bravo", ""}).has_value());
  Papers papers{"Bravo: 2", "unknown", "2026", "ab", "1", "x", "high", "unknown", "1", "2"};
  store.save_papers({"bravo", ""}, papers);
  CHECK(store.load_papers({"bravo", ""})->name == "Bravo: 2");
}
