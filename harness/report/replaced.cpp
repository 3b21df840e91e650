#include "harness/report/replaced.h"

#include <fmt/format.h>

#include "harness/report/phrases.h"
#include "harness/store/json_fields.h"

namespace gauntlet {
namespace {

std::string published_grade(const JsonFields& cell) {
  if (!cell.has("letter")) return cell.text("standing");
  return fmt::format("{} {}", cell.text("letter"), cell.integer("printed"));
}

std::string grade_now(const Rubric& rubric, const CellScore& score) {
  if (!score.score) return std::string(name_of(score.standing));
  return grade_text(rubric, score, ascii_signs());
}

const CellObservation* find_cell(const ReportInput& input, const JsonFields& published) {
  for (const auto& cell : input.cells)
    if (cell.submission == published.text("submission") &&
        cell.challenge == published.text("challenge"))
      return &cell;
  return nullptr;
}

std::vector<std::string> differences(const JsonFields& before, const CellObservation& after) {
  const JsonFields from = before.fields("from");
  const Provenance& now = after.provenance;
  std::vector<std::string> found;
  if (from.text("solution") != now.submission_digest) found.push_back("another solution");
  if (from.text("grader") != now.grader_digest) found.push_back("another grader");
  if (before.text("compiler") != after.build.compiler) found.push_back("another compiler");
  if (from.text("cpu") != now.cpu || from.integer("cores") != now.cores)
    found.push_back("another machine");
  if (found.empty() && before.seed("seed") != after.seed) found.push_back("another run");
  return found;
}

}  // namespace

std::vector<LedgerEntry> replaced_grades(const std::string& published,
                                         const std::string& shown_name, const ReportInput& now,
                                         const std::string& today) {
  const auto before = JsonFields::of_document(published, shown_name, "gauntlet.aggregate/1");
  const bool other_rubric = before.fields("rubric").text("digest") != now.rubric.digest;
  std::vector<LedgerEntry> entries;
  for (const auto& cell : before.list("cells")) {
    const std::string grade = published_grade(cell);
    LedgerEntry entry{today,       cell.text("submission"), cell.text("challenge"), grade,
                      "withdrawn", {"its result is gone"}};
    if (const CellObservation* after = find_cell(now, cell)) {
      entry.after = grade_now(now.rubric, score_cell(now.rubric, *after));
      entry.because = differences(cell, *after);
      if (!entry.because.empty()) entry.when = after->provenance.started;
      if (other_rubric && entry.after != grade) entry.because.push_back("another rubric");
      const bool same_solution =
          cell.fields("from").text("solution") == after->provenance.submission_digest;
      if (entry.after == grade && same_solution) continue;
    }
    entries.push_back(entry);
  }
  return entries;
}

}  // namespace gauntlet
