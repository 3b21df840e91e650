// SPDX-License-Identifier: Apache-2.0
#include "harness/run/merge.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/file_lock.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/run/shard_set.h"
#include "harness/score/cell_score.h"
#include "harness/store/reuse.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

/// A cell as one folder has it. Observations are not kept: there may be tens of thousands.
struct Candidate {
  fs::path folder;
  std::string digest;  // of observation.json
  std::string started;
  bool broken = false;  // through a fault of ours; nothing vouches for that, and nothing has to
};

bool broke(const CellObservation& cell) {
  return !cell.checks.empty() &&
         std::all_of(cell.checks.begin(), cell.checks.end(), [](const CheckObservation& check) {
           return check.verdict == Verdict::broken;
         });
}

std::string shown(const ResultStore& store) {
  return one_line(store.root().string(), 400);
}

/// Joins folders one by one; what it has come to does not depend on their order.
class Merger {
 public:
  explicit Merger(const ResultStore& into) : into_(into) {}

  void add(const ResultStore& folder) {
    if (!fs::is_directory(folder.root()))
      throw UserError(fmt::format("{} is no folder of results; give those that --results named",
                                  shown(folder)));
    std::set<CellKey> seen;
    for (const CellKey& key : folder.keys()) {
      if (seen.insert(generation_of(key)).second) add_generation(folder, generation_of(key));
      if (const auto found = candidate(folder, key)) add_cell(key, *found);
    }
    for (const ShardRecord& record : load_shards(folder.root())) shards_.add(record, shown(folder));
  }

  MergePlan finish() {
    for (auto& [key, generation] : generations_) {
      require_same_place(generation);
      plan_.generations.push_back(std::move(generation));
    }
    for (const auto& [key, found] : cells_) settle(key, found);
    if (fs::is_directory(into_.root())) shards_.add_earlier(load_shards(into_.root()));
    plan_.shards = shards_.records();
    for (const auto& [key, sentence] : lacking_) plan_.missing.push_back(sentence);
    for (std::string& sentence : shards_.missing([&](const CellKey& key) { return is_told(key); }))
      plan_.missing.push_back(std::move(sentence));
    return std::move(plan_);
  }

 private:
  static CellKey generation_of(const CellKey& key) {
    return {key.submission, "", "", Device::cpu, key.attempt};
  }

  /// What the folder has of a cell; nothing where its run did not end.
  std::optional<Candidate> candidate(const ResultStore& store, const CellKey& key) {
    if (fs::exists(store.opened_file(key))) {
      note_unended(store, key);
      return std::nullopt;
    }
    const fs::path file = store.observation_file(key);
    if (!fs::exists(file)) return std::nullopt;
    const std::string digest = sha256(read_file(file, kResultFile));
    std::string why;
    if (const auto proven = load_proven(store, key, why))
      return Candidate{store.root(), digest, proven->observation.provenance.started,
                       broke(proven->observation)};
    const auto cell = store.load(key);
    if (cell && broke(*cell)) return Candidate{store.root(), digest, "", true};
    throw UserError(
        fmt::format("{}: {}: {}; take the folder from where it was graded, or grade "
                    "the cell again",
                    shown(store), key.text(), why));
  }

  void note_unended(const ResultStore& store, const CellKey& key) {
    lacking_[key] =
        fmt::format("{}: a run was begun and did not end, in {}", key.text(), shown(store));
  }

  void add_cell(const CellKey& key, const Candidate& found) {
    const auto [at, fresh] = cells_.emplace(key, found);
    Candidate& known = at->second;
    if (fresh || known.digest == found.digest) return;
    if (known.broken || found.broken) {
      // Of two that broke any will do, as long as it is always the same.
      if (std::tie(found.broken, found.digest) < std::tie(known.broken, known.digest))
        known = found;
      return;
    }
    throw UserError(fmt::format(
        "{}: {} and {} have different grades of it, and which one counts is not for a merge to "
        "choose: leave one of the folders out",
        key.text(), one_line(std::min(known.folder, found.folder).string(), 400),
        one_line(std::max(known.folder, found.folder).string(), 400)));
  }

  void add_generation(const ResultStore& store, const CellKey& key) {
    MergePlan::Generation& known =
        generations_.emplace(key, MergePlan::Generation{key, {}, {}}).first->second;
    if (auto place = store.graded_from(key)) {
      if (known.graded_from && *known.graded_from != *place)
        throw UserError(fmt::format(
            "{}: it was graded from {} and from {}, which are two submissions of one name: merge "
            "one of them, or rename its folder and grade it again",
            key.generation(), one_line(std::min(*known.graded_from, *place), 400),
            one_line(std::max(*known.graded_from, *place), 400)));
      known.graded_from = std::move(place);
    }
    if (auto card = store.load_model_card(key)) {
      if (known.card && model_card_to_yaml(*known.card) != model_card_to_yaml(*card))
        throw UserError(fmt::format(
            "{}: two folders have different model cards of it; grade all shards of one commit",
            key.generation()));
      known.card = std::move(card);
    }
  }

  void require_same_place(const MergePlan::Generation& fresh) const {
    const auto place = into_.graded_from(fresh.key);
    if (place && fresh.graded_from && *place != *fresh.graded_from)
      throw UserError(fmt::format(
          "{}: {} has grades of {}, not of {}: merge into another folder, or rename the submission",
          fresh.key.generation(), shown(into_), one_line(*place, 400),
          one_line(*fresh.graded_from, 400)));
  }

  /// Against what lies in the results already.
  void settle(const CellKey& key, const Candidate& found) {
    if (fs::exists(into_.opened_file(key))) {
      note_unended(into_, key);
      return;
    }
    std::string why;
    auto before = load_proven(into_, key, why);
    if (before && sha256(read_file(into_.observation_file(key), kResultFile)) == found.digest) {
      ++plan_.same;
      return;
    }
    if (before && broke(before->observation)) before.reset();
    if (found.broken) {
      if (before) return;  // a grade, which nothing that broke takes away
      lacking_[key] = fmt::format("{}: the grader broke, in {}: grade it again", key.text(),
                                  one_line(found.folder.string(), 400));
    }
    plan_.cells.push_back({key, found.folder, std::nullopt});
    if (!before) return;
    require_later(key, found, before->observation.provenance.started);
    plan_.cells.back().before = std::move(before->observation);
  }

  void require_later(const CellKey& key, const Candidate& found, const std::string& there) const {
    if (found.started > there) return;
    throw UserError(fmt::format(
        "{}: {} has the grade of a run that began at {}, and {} one of {}, which is not later and "
        "replaces nothing: leave that folder out",
        key.text(), shown(into_), one_line(there, 40), one_line(found.folder.string(), 400),
        one_line(found.started, 40)));
  }

  /// It has a grade, or a sentence says why it has none.
  bool is_told(const CellKey& key) const {
    if (cells_.contains(key) || lacking_.contains(key)) return true;
    std::string why;
    return load_proven(into_, key, why).has_value();
  }

  const ResultStore& into_;
  std::map<CellKey, Candidate> cells_;
  std::map<CellKey, MergePlan::Generation> generations_;
  std::map<CellKey, std::string> lacking_;  // and why
  ShardSet shards_;
  MergePlan plan_;
};

}  // namespace

MergePlan plan_merge(const std::vector<ResultStore>& folders, const ResultStore& into) {
  Merger merger(into);
  for (const ResultStore& folder : folders) merger.add(folder);
  return merger.finish();
}

void carry_out(const MergePlan& plan, const ResultStore& into, const Rubric& rubric) {
  for (const MergePlan::Generation& one : plan.generations) {
    if (one.graded_from) into.save_graded_from(one.key, *one.graded_from);
    if (one.card) into.save_model_card(one.key, *one.card);
  }
  for (const MergePlan::Cell& cell : plan.cells) {
    const ResultStore from(cell.from);
    const FileLock lock(into.lock_file(cell.key), FileLock::Mode::exclusive);
    write_file(into.observation_file(cell.key),
               read_file(from.observation_file(cell.key), kResultFile));
    const CellObservation seen = *into.load(cell.key);
    write_file(into.score_file(cell.key), to_json(score_cell(rubric, seen), rubric));
    into.close_receipt(seen, from.load_receipt(cell.key));
  }
  if (plan.shards.empty()) return;
  for (const ShardRecord& old : load_shards(into.root()))
    fs::remove(shard_file(into.root(), old.shard));
  for (const ShardRecord& record : plan.shards) save_shard(into.root(), record);
}

}  // namespace gauntlet
