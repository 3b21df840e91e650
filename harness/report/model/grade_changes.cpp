// SPDX-License-Identifier: Apache-2.0
#include "harness/report/model/grade_changes.h"

#include <map>

#include "harness/report/text/phrases.h"
#include "harness/score/cell_score.h"

namespace gauntlet {
namespace {

std::map<CellKey, const CellObservation*> by_key(const ReportInput& input) {
  std::map<CellKey, const CellObservation*> cells;
  for (const auto& cell : input.cells) cells.emplace(cell.key, &cell);
  return cells;
}

}  // namespace

std::vector<std::string> what_differs(const CellObservation& before, const CellObservation& after) {
  const Provenance& from = before.provenance;
  const Provenance& now = after.provenance;
  std::vector<std::string> found;
  if (from.submission_digest != now.submission_digest) found.push_back("another solution");
  if (from.grader_digest != now.grader_digest) found.push_back("another grader");
  if (before.build.compiler != after.build.compiler) found.push_back("another compiler");
  if (from.cpu != now.cpu || from.cores != now.cores) found.push_back("another machine");
  if (found.empty() && before.seed != after.seed) found.push_back("another run");
  return found;
}

bool by_name(const PublishedCell& a, const PublishedCell& b) {
  return a.seen.key < b.seen.key;
}

std::string published_grade(const Rubric& rubric, const CellObservation& cell) {
  const CellScore score = score_cell(rubric, cell);
  if (!score.score) return std::string(name_of(score.status));
  return grade_text(score, ascii_signs());
}

std::vector<LedgerEntry> grade_changes(const std::vector<PublishedCell>& before,
                                       const ReportInput& now, const std::string& today) {
  std::vector<LedgerEntry> entries;
  const auto cells_now = by_key(now);
  for (const PublishedCell& cell : before) {
    const std::string grade =
        cell.grade.empty() ? published_grade(now.rubric, cell.seen) : cell.grade;
    LedgerEntry entry{today, cell.seen.key.row(), cell.seen.key.column(),
                      grade, "withdrawn",         {"its result is gone"}};
    if (const auto found = cells_now.find(cell.seen.key); found != cells_now.end()) {
      const CellObservation* after = found->second;
      entry.after = published_grade(now.rubric, *after);
      entry.because = what_differs(cell.seen, *after);
      if (!entry.because.empty()) entry.when = after->provenance.started;
      if (cell.rubric != now.rubric.digest && entry.after != grade)
        entry.because.push_back("another rubric");
      const bool same_solution =
          cell.seen.provenance.submission_digest == after->provenance.submission_digest;
      if (entry.after == grade && same_solution) continue;
    }
    entries.push_back(entry);
  }
  return entries;
}

}  // namespace gauntlet
