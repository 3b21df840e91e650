// SPDX-License-Identifier: Apache-2.0
// Results of several machines become those of one.
#include "harness/run/merge.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <map>

#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/store/reuse.h"
#include "tests/store/receipt_sample.h"
#include "tests/support/text.h"

using namespace gauntlet;

namespace fs = std::filesystem;

namespace {

Rubric rubric() {
  return load_rubric(fs::path(GAUNTLET_ROOT) / "harness/score/rubric.yaml");
}

/// Folders of results that are gone at the end.
struct ResultFolders {
  ResultStore operator[](const std::string& name) const { return ResultStore(root.path() / name); }

  ScratchFolder root{"merge"};
};

void keep_as_graded(const ResultStore& store, const CellObservation& cell) {
  store.save(cell);
  store.close_receipt(cell, sample::receipt_of(cell));
  store.save_graded_from({cell.key.submission, ""}, "submissions/" + cell.key.submission);
  store.save_model_card({cell.key.submission, ""},
                        {cell.key.submission, "b", "c", "d", "e", "f", "g", "h", "i", "j"});
}

CellObservation cell(const std::string& submission, const std::string& challenge,
                     const std::string& day = "03") {
  CellObservation one = sample::graded_cell();
  one.key = CellKey::of(submission, challenge);
  one.provenance.started = "2020-04-" + day + "T09:12:44Z";
  return one;
}

/// Of a grading process that died.
CellObservation broken_cell(const std::string& submission, const std::string& challenge) {
  CellObservation one = cell(submission, challenge);
  one.checks = {sample::failed("base", Severity::minor, Verdict::broken)};
  return one;
}

MergePlan merged(const std::vector<ResultStore>& folders, const ResultStore& into) {
  const MergePlan plan = plan_merge(folders, into);
  carry_out(plan, into, rubric());
  return plan;
}

std::string refusal(const std::vector<ResultStore>& folders, const ResultStore& into) {
  try {
    plan_merge(folders, into);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no refusal";
}

std::string digest_of(const ResultStore& store) {
  return Digest().add_folder("results", store.root()).hex();
}

/// Three shards of two submissions and three challenges, graded.
void grade_shards(const ResultFolders& folders) {
  std::vector<CellKey> plan;
  for (const char* submission : {"bravo", "delta"})
    for (const char* challenge : {"first", "second", "third"})
      plan.push_back(CellKey::of(submission, challenge));
  for (int i = 1; i <= 3; ++i) {
    const ShardRecord record = record_of({i, 3}, plan);
    const ResultStore store = folders["shard" + std::to_string(i)];
    for (const CellKey& key : record.cells)
      keep_as_graded(store, cell(key.submission, key.challenge));
    save_shard(store.root(), record);
  }
}

}  // namespace

TEST_CASE("shards give the same results in whatever order, at once or one after the other") {
  const ResultFolders folders;
  grade_shards(folders);
  std::vector<ResultStore> shards{folders["shard1"], folders["shard2"], folders["shard3"]};
  const MergePlan plan = merged(shards, folders["once"]);
  CHECK(plan.cells.size() == 6);
  CHECK(plan.missing.empty());
  std::reverse(shards.begin(), shards.end());
  merged(shards, folders["reversed"]);
  CHECK(digest_of(folders["reversed"]) == digest_of(folders["once"]));
  for (std::size_t i = 0; i < 3; ++i) {
    const MergePlan part = merged({shards[i]}, folders["slowly"]);
    CHECK(part.missing.empty() == (i == 2));
  }
  CHECK(digest_of(folders["slowly"]) == digest_of(folders["once"]));
  const MergePlan again = merged(shards, folders["once"]);
  CHECK(again.cells.empty());
  CHECK(again.same == 6);
  CHECK(digest_of(folders["once"]) == digest_of(folders["reversed"]));
  for (const CellKey& key : folders["once"].keys()) {
    std::string why;
    CHECK_MESSAGE(load_proven(folders["once"], key, why), why);
    CHECK(fs::exists(folders["once"].score_file(key)));
  }
  CHECK(folders["once"].graded_from({"delta", ""}) == "submissions/delta");
  CHECK(folders["once"].load_model_card({"delta", ""})->name == "delta");
}

TEST_CASE("what is missing of a plan is said") {
  const ResultFolders folders;
  grade_shards(folders);
  const auto store = folders["shard2"];
  const CellKey lost = store.keys().front();
  fs::remove(store.observation_file(lost));
  const MergePlan plan = merged({folders["shard1"], store}, folders["all"]);
  REQUIRE(plan.missing.size() == 2);
  CHECK(plan.missing[0] == lost.text() + ": shard 2/3 was to grade it, and there is no grade");
  CHECK(plan.missing[1] == "2 of the 6 planned cells: nobody handed in shard 3/3");
}

TEST_CASE("a run that did not end is missing, and hides no grade of before") {
  const ResultFolders folders;
  keep_as_graded(folders["a"], cell("bravo", "first"));
  folders["a"].open_receipt(sample::receipt_of(cell("bravo", "first")));
  const MergePlan plan = merged({folders["a"]}, folders["all"]);
  CHECK(plan.cells.empty());
  REQUIRE(plan.missing.size() == 1);
  CHECK(contains(plan.missing[0], "bravo/first: a run was begun and did not end, in "));
  // The same in the folder that is merged into.
  keep_as_graded(folders["b"], cell("bravo", "first"));
  folders["all"].open_receipt(sample::receipt_of(cell("bravo", "first")));
  CHECK(merged({folders["b"]}, folders["all"]).missing.size() == 1);
  CHECK(fs::exists(folders["all"].opened_file({"bravo", "first"})));
}

TEST_CASE("different grades of one cell are refused, and nothing is written") {
  const ResultFolders folders;
  keep_as_graded(folders["a"], cell("bravo", "first"));
  keep_as_graded(folders["b"], cell("bravo", "first", "04"));
  keep_as_graded(folders["b"], cell("bravo", "second"));
  const std::string said = refusal({folders["b"], folders["a"]}, folders["all"]);
  CHECK(contains(said, "bravo/first: "));
  CHECK(contains(said, "/a and "));
  CHECK(contains(said, "different grades of it"));
  CHECK(refusal({folders["a"], folders["b"]}, folders["all"]) == said);
  CHECK_FALSE(fs::exists(folders["all"].root()));
}

TEST_CASE("a cell whose receipt is missing or does not fit is refused") {
  const ResultFolders folders;
  keep_as_graded(folders["a"], cell("bravo", "first"));
  const fs::path file = folders["a"].observation_file({"bravo", "first"});
  write_file(file, replaced(read_file(file), "\"earned\": 1.0", "\"earned\": 0.5"));
  CHECK(contains(refusal({folders["a"]}, folders["all"]), "receipt does not fit"));
  fs::remove(folders["a"].receipt_file({"bravo", "first"}));
  CHECK(contains(refusal({folders["a"]}, folders["all"]), "has no receipt"));
}

TEST_CASE("what broke gives way to every grade and takes none away") {
  const ResultFolders folders;
  folders["broken"].save(broken_cell("bravo", "first"));
  const MergePlan alone = merged({folders["broken"]}, folders["all"]);
  CHECK(alone.cells.size() == 1);
  REQUIRE(alone.missing.size() == 1);
  CHECK(contains(alone.missing[0], "bravo/first: the grader broke, in "));
  keep_as_graded(folders["graded"], cell("bravo", "first"));
  const MergePlan both = merged({folders["broken"], folders["graded"]}, folders["all"]);
  CHECK(both.missing.empty());
  REQUIRE(both.cells.size() == 1);
  CHECK_FALSE(both.cells[0].before.has_value());  // no grade was replaced
  const MergePlan late = merged({folders["broken"]}, folders["all"]);
  CHECK(late.cells.empty());
  CHECK(late.missing.empty());
}

TEST_CASE("a later run replaces a grade, and an earlier one does not") {
  const ResultFolders folders;
  keep_as_graded(folders["early"], cell("bravo", "first", "03"));
  keep_as_graded(folders["late"], cell("bravo", "first", "05"));
  merged({folders["early"]}, folders["all"]);
  const MergePlan plan = merged({folders["late"]}, folders["all"]);
  REQUIRE(plan.cells.size() == 1);
  REQUIRE(plan.cells[0].before.has_value());
  CHECK(plan.cells[0].before->provenance.started == "2020-04-03T09:12:44Z");
  CHECK(folders["all"].load({"bravo", "first"})->provenance.started == "2020-04-05T09:12:44Z");
  CHECK(contains(refusal({folders["early"]}, folders["all"]), "is not later and replaces nothing"));
}

TEST_CASE("results of two submissions of one name, and shards of two plans, are refused") {
  const ResultFolders folders;
  grade_shards(folders);
  const ResultStore one = folders["shard1"];
  const ResultStore two = folders["shard2"];
  two.save_graded_from({"bravo", ""}, "/elsewhere/bravo");
  CHECK(contains(refusal({one, two}, folders["all"]), "two submissions of one name"));
  two.save_graded_from({"bravo", ""}, "submissions/bravo");
  folders["all"].save_graded_from({"bravo", ""}, "/elsewhere/bravo");
  CHECK(contains(refusal({one, two}, folders["all"]), "has grades of /elsewhere/bravo, not of "));
  save_shard(two.root(), record_of({2, 3}, {CellKey::of("bravo", "first")}));
  CHECK(contains(refusal({one, two}, folders["new"]), "is of another plan than shard"));
  CHECK(contains(refusal({folders["nothing"]}, folders["new"]), "is no folder of results"));
}
