#include "harness/grading/audit.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/rng.h"

namespace gauntlet {
namespace {

using Kind = AuditRow::Kind;

/// A contestant of the audit: what it is expected to do, and the cell that shows what it did.
struct Contestant {
  AuditRow row;
  CellRequest request;
};

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

CellRequest request_for(const Challenge& challenge, std::string name, SolutionSource solution,
                        std::uint64_t seed) {
  CellRequest request;
  request.submission = std::move(name);
  request.challenge = challenge;
  request.solution = std::move(solution);
  request.seed = seed;
  request.audit = true;
  request.grade_tests = false;
  return request;
}

Contestant contestant(const Challenge& challenge, Kind kind, const std::string& name,
                      std::string note, SolutionSource solution, std::uint64_t seed) {
  Contestant made;
  made.row.kind = kind;
  made.row.name = name;
  made.row.note = std::move(note);
  made.row.seed = seed;
  made.request = request_for(challenge, name, std::move(solution), seed);
  return made;
}

std::vector<Contestant> line_up(const Workshop& workshop, const Challenge& challenge,
                                const AuditOptions& options) {
  const Grader grader = grader_for(challenge.id).make();
  AuditSuite suite = load_audit_suite(workshop.root, challenge.id, grader);
  const std::uint64_t first_seed = options.seed ? *options.seed : entropy();
  std::vector<Contestant> all;
  for (Mutant& mutant : suite.mutants) {
    all.push_back(contestant(challenge, Kind::mutant, mutant.name, mutant.fault,
                             std::move(mutant.solution), first_seed));
    all.back().row.expected = mutant.killers;
    if (options.brief) all.back().request.only_checks = std::move(mutant.killers);
  }
  for (int i = 0; i < kNullKinds; ++i) {
    const auto kind = static_cast<NullKind>(i);
    all.push_back(contestant(challenge, Kind::null_solution, std::string(name_of(kind)),
                             "solves nothing", {}, first_seed));
    all.back().request.null_solution = kind;
  }
  suite.honest.push_back({"reference", "the solution that speed is compared with",
                          read_solution(workshop.root / "reference" / challenge.id)});
  for (int run = 0; run < options.honest_seeds.value_or(suite.honest_seeds); ++run) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(run);
    for (const HonestVariant& variant : suite.honest) {
      const Kind kind = &variant == &suite.honest.back() ? Kind::reference : Kind::honest;
      all.push_back(
          contestant(challenge, kind, variant.name, variant.strategy, variant.solution, seed));
    }
  }
  return all;
}

void judge_mutant(AuditRow& row, const Grader& grader) {
  for (const std::string& killer : row.expected)
    if (!contains(row.failed_checks, killer))
      row.problems.push_back(fmt::format("{} does not kill it", killer));
  if (row.failed_checks.size() < 2)
    row.problems.push_back(fmt::format("{} of {} checks kill it, want 2 or more",
                                       row.failed_checks.size(), grader.checks.size()));
}

/// A null solution must meet at least two checks whose failure caps the grade.
void judge_null(AuditRow& row, const Grader& grader) {
  int capping = 0;
  for (const Check& check : grader.checks)
    if (check.severity >= Severity::critical && contains(row.failed_checks, check.id)) ++capping;
  if (capping < 2)
    row.problems.push_back(
        fmt::format("fails {} critical checks, want 2 or more: it could be graded well", capping));
}

void judge_honest(AuditRow& row, const CellObservation& cell) {
  for (const CheckObservation& check : cell.checks)
    if (blames_submission(check.verdict))
      row.problems.push_back(fmt::format("{} rejects it: {} [{}]", check.info.id,
                                         check.finding->summary, check.finding->case_name));
}

void judge(AuditRow& row, const CellObservation& cell, const Grader& grader) {
  if (!cell.build.ok) row.problems.push_back("does not build: " + cell.build.messages);
  for (const CheckObservation& check : cell.checks) {
    if (blames_submission(check.verdict)) row.failed_checks.push_back(check.info.id);
    if (check.verdict == Verdict::broken)
      row.problems.push_back(fmt::format("{} broke: {}", check.info.id, check.finding->summary));
  }
  switch (row.kind) {
    case Kind::mutant:
      return judge_mutant(row, grader);
    case Kind::null_solution:
      return judge_null(row, grader);
    case Kind::honest:
    case Kind::reference:
      return judge_honest(row, cell);
  }
}

std::vector<std::string> idle_checks(const Grader& grader, const std::vector<AuditRow>& rows) {
  std::vector<std::string> idle;
  for (const Check& check : grader.checks)
    if (std::none_of(rows.begin(), rows.end(), [&](const AuditRow& row) {
          return row.kind == Kind::mutant && contains(row.failed_checks, check.id);
        }))
      idle.push_back(check.id);
  return idle;
}

}  // namespace

bool AuditReport::ok() const {
  return !rows.empty() && std::all_of(rows.begin(), rows.end(),
                                      [](const AuditRow& row) { return row.problems.empty(); });
}

AuditReport audit_challenge(const Workshop& workshop, const Challenge& challenge,
                            const AuditOptions& options, const Progress& progress) {
  const Grader grader = grader_for(challenge.id).make();
  std::vector<Contestant> contestants = line_up(workshop, challenge, options);
  std::vector<CellRequest> requests;
  for (const Contestant& one : contestants) requests.push_back(one.request);
  const auto cells = grade_cells(workshop, requests, options.jobs, progress);

  AuditReport report;
  report.challenge = challenge.id;
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    judge(contestants[i].row, cells[i], grader);
    report.rows.push_back(std::move(contestants[i].row));
  }
  if (!options.brief) report.idle_checks = idle_checks(grader, report.rows);
  return report;
}

}  // namespace gauntlet
