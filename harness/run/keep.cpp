// SPDX-License-Identifier: Apache-2.0
#include "harness/run/keep.h"

#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/file_lock.h"
#include "harness/core/files.h"
#include "harness/core/hold_interrupts.h"
#include "harness/core/machine.h"
#include "harness/score/cell_score.h"
#include "harness/score/recorded_grade.h"
#include "harness/store/observation_json.h"
#include "harness/store/replacement.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

/// The content of score.json; empty when there is none.
std::string stored_score(const ResultStore& store, const CellKey& key) {
  const fs::path file = store.score_file(key);
  return fs::exists(file) ? read_file(file, kResultFile) : "";
}

/// Empty when there is no score.
std::string stored_grade(const ResultStore& store, const CellKey& key) {
  try {
    const std::string score = stored_score(store, key);
    return score.empty() ? "" : recorded_grade(score, "");
  } catch (const UserError&) {
    return "unreadable";
  }
}

/// The grade of the result that lies there, for the ledger; empty when none does.
std::string replaced_grade(const ResultStore& store, const CellKey& key) {
  if (!fs::exists(store.observation_file(key))) return "";
  const std::string grade = stored_grade(store, key);
  return grade.empty() ? "without a score" : grade;
}

bool is_stored(const ResultStore& store, const CellObservation& cell) {
  const auto stored = store.load(cell.key);
  return stored && to_json(*stored) == to_json(cell);
}

}  // namespace

void keep(const ResultStore& store, const Rubric& rubric, const GradedCell& cell,
          const std::string& because) {
  const HoldInterrupts hold;
  const CellObservation& seen = cell.observation;
  const CellKey& key = seen.key;
  const std::string score = to_json(score_cell(rubric, seen), rubric);
  const Replacement replacement(store, key);
  LedgerEntry entry{seen.provenance.started,   key.row(), key.column(), "",
                    recorded_grade(score, ""), {because}};
  // The store cannot tell any more what was replaced, and why.
  const auto& interrupted = replacement.interrupted();
  entry.before = interrupted ? interrupted->before : replaced_grade(store, key);
  if (interrupted) entry.because = interrupted->because;
  replacement.begin(sha256(to_json(seen)), entry);
  store.save(seen);
  write_file(store.score_file(key), score);
  store.close_receipt(seen, cell.receipt);
  replacement.end();
}

std::string keep_score(const ResultStore& store, const Rubric& rubric,
                       const CellObservation& cell) {
  const CellKey& key = cell.key;
  const std::string now = to_json(score_cell(rubric, cell), rubric);
  const std::string grade = stored_grade(store, key);
  if (now == stored_score(store, key)) return grade;
  const auto lock = FileLock::try_now(store.lock_file(key), FileLock::Mode::exclusive);
  // Somebody replaces it, or has: the score of the new result is theirs to write.
  if (!lock || !is_stored(store, cell)) return grade;
  const HoldInterrupts hold;
  if (const std::string after = recorded_grade(now, ""); !grade.empty() && grade != after)
    append_to_ledger(store.ledger_file(),
                     {{utc_now(), key.row(), key.column(), grade, after, {"another rubric"}}});
  write_file(store.score_file(key), now);
  return grade;
}

void finish_keeping(const ResultStore& store, const CellKey& key) {
  if (const auto lock = FileLock::try_now(store.lock_file(key), FileLock::Mode::exclusive))
    const Replacement settled(store, key);
}

}  // namespace gauntlet
