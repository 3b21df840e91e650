// SPDX-License-Identifier: Apache-2.0
#include "harness/audit/audit.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>

#include "harness/core/error.h"
#include "harness/core/rng.h"
#include "harness/core/text.h"
#include "harness/run/local_runner.h"
#include "harness/run/submissions.h"
#include "harness/worker/postmortem.h"

namespace gauntlet {
namespace {

using Kind = AuditRow::Kind;

// A named check that misses its mutant is asked with two seeds more. One that misses with
// probability p is found wanting with probability 2 p^2 - p^3: of the 900 named checks of all
// challenges that is one in 6 audits when each misses 1 of 100, and one in 550 when each misses 1
// of 1000. A single seed would find one wanting in every audit, or in 6 of 10.
constexpr int kSecondOpinions = 2;

// Of every honest variant in a brief audit, at most.
constexpr int kBriefSeeds = 3;

int honest_seeds(const AuditSuite& suite, const AuditOptions& options) {
  if (options.honest_seeds) return *options.honest_seeds;
  return options.brief ? std::min(suite.honest_seeds, kBriefSeeds) : suite.honest_seeds;
}

/// As few of them as name every check that any of them names, nearly: the next is always the one
/// that names most of what is left.
std::vector<Mutant> fewest(std::vector<Mutant> mutants) {
  std::set<std::string> left;
  for (const Mutant& mutant : mutants) left.insert(mutant.killers.begin(), mutant.killers.end());
  const auto names = [&](const Mutant& mutant) {
    return std::ranges::count_if(mutant.killers,
                                 [&](const std::string& check) { return left.contains(check); });
  };
  std::vector<Mutant> taken;
  while (!left.empty()) {
    const auto next = std::ranges::max_element(mutants, {}, names);
    for (const std::string& check : next->killers) left.erase(check);
    taken.push_back(std::move(*next));
    mutants.erase(next);
  }
  return taken;
}

/// A contestant of the audit: what it is expected to do, and the cell that shows what it did.
struct Contestant {
  AuditRow row;
  CellRequest request;
};

CellRequest request_for(const Challenge& challenge, std::string name, SolutionSource solution,
                        const Seed& seed) {
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
                      std::string note, SolutionSource solution, const Seed& seed) {
  Contestant made;
  made.row.kind = kind;
  made.row.name = name;
  made.row.note = std::move(note);
  made.row.seed = seed;
  made.request = request_for(challenge, name, std::move(solution), seed);
  return made;
}

/// The share of the checks that a right solution is asked where each is to be asked of one.
std::vector<std::string> share_of(const Grader& grader, std::size_t variant, std::size_t variants) {
  std::vector<std::string> share;
  for (std::size_t i = variant; i < grader.checks.size(); i += variants)
    share.push_back(grader.checks[i].id);
  return share;
}

/// All that a null solution is judged by.
std::vector<std::string> capping_checks(const Grader& grader) {
  std::vector<std::string> capping;
  for (const Check& check : grader.checks)
    if (check.severity >= Severity::critical) capping.push_back(check.id);
  return capping;
}

std::vector<Contestant> line_up(const Challenge& challenge, const Grader& grader, AuditSuite suite,
                                const AuditOptions& options) {
  const Seed first_seed = options.seed ? *options.seed : Seed::fresh();
  std::vector<Contestant> all;
  if (options.fewest) suite.mutants = fewest(std::move(suite.mutants));
  for (Mutant& mutant : suite.mutants) {
    all.push_back(contestant(challenge, Kind::mutant, mutant.name, mutant.fault,
                             std::move(mutant.solution), first_seed));
    for (const std::string& killer : mutant.killers) all.back().row.named.push_back({killer, 0, 0});
    all.back().request.subject = options.device == Device::cpu;
    if (options.brief) all.back().request.only_checks = std::move(mutant.killers);
  }
  for (int i = 0; i < kNullKinds; ++i) {
    const auto kind = static_cast<NullKind>(i);
    all.push_back(contestant(challenge, Kind::null_solution, std::string(name_of(kind)),
                             "solves nothing", {}, first_seed));
    all.back().request.null_solution = kind;
    all.back().request.solution.device = options.device;
    if (options.fewest) all.back().request.only_checks = capping_checks(grader);
  }
  for (int run = 0; run < honest_seeds(suite, options); ++run) {
    const Seed seed = first_seed + static_cast<std::uint64_t>(run);
    std::size_t share = 0;
    for (const HonestVariant& variant : suite.honest) {
      const Kind kind = variant.is_reference ? Kind::reference : Kind::honest;
      all.push_back(
          contestant(challenge, kind, variant.name, variant.strategy, variant.solution, seed));
      if (options.fewest) {
        all.back().request.only_checks = share_of(grader, share++, suite.honest.size());
        all.back().request.subject = options.device == Device::cpu;
      }
      if (!options.as_graded) continue;
      all.back().request.audit = false;
      all.back().request.races = false;
    }
  }
  return all;
}

void keep_only(std::vector<Contestant>& contestants, const std::vector<std::string>& only) {
  if (only.empty()) return;
  std::vector<std::string> known;
  for (const Contestant& one : contestants) known.push_back(one.row.name);
  for (const std::string& name : only)
    if (!contains(known, name))
      throw UserError(fmt::format("no mutant or honest variant is called '{}'{}",
                                  printable(name, 100), did_you_mean(name, known)));
  std::erase_if(contestants, [&](const Contestant& one) { return !contains(only, one.row.name); });
}

void judge_mutant(AuditRow& row) {
  if (!row.problems.empty()) return;  // it was not asked as it should have been
  for (const KillCount& count : row.named)
    if (!kills(count))
      row.problems.push_back(fmt::format("{} kills it with {} of {} seeds, want two of three",
                                         count.check, count.killed, count.asked));
}

/// A null solution must meet at least two checks whose failure caps the grade.
void judge_null(AuditRow& row, const Grader& grader) {
  const std::vector<std::string> capping = capping_checks(grader);
  const auto failed = std::ranges::count_if(
      capping, [&](const std::string& id) { return contains(row.failed_checks, id); });
  if (failed < 2)
    row.problems.push_back(
        fmt::format("fails {} critical checks, want 2 or more: it could be graded well", failed));
}

void judge_honest(AuditRow& row, const CellObservation& cell) {
  for (const CheckObservation& check : cell.checks)
    if (blames_submission(check.verdict))
      row.problems.push_back(fmt::format("{} rejects it: {} [{}]", check.info.id,
                                         check.finding->summary, check.finding->case_name));
}

/// Counts a cell's named checks, and notes what is wrong whoever the contestant is.
void count(AuditRow& row, const CellObservation& cell) {
  if (!cell.build.ok) row.problems.push_back("does not build: " + cell.build.messages);
  for (const CheckObservation& check : cell.checks) {
    for (KillCount& named : row.named)
      if (named.check == check.info.id) {
        ++named.asked;
        if (blames_submission(check.verdict)) ++named.killed;
      }
    if (check.verdict == Verdict::broken)
      row.problems.push_back(fmt::format("{} broke: {}", check.info.id, check.finding->summary));
  }
  // What lacks a function is refused before any check asks anything, so that it shows of none of
  // them that it notices the fault.
  const auto cannot_be_called = [](const CheckObservation& check) {
    return check.verdict == Verdict::rejected && check.finding->summary.starts_with(kDoesNotDefine);
  };
  if (row.kind == Kind::mutant && std::ranges::any_of(cell.checks, cannot_be_called))
    row.problems.push_back("is no solution, since a function of the contract is missing from it");
}

/// The same mutants with further seeds: as often as was asked for, or those that were missed.
struct Repeat {
  std::size_t contestant;
  CellRequest request;
};

std::vector<Repeat> repeats(const std::vector<Contestant>& contestants,
                            const AuditOptions& options) {
  std::vector<Repeat> again;
  const int more = options.mutant_seeds ? *options.mutant_seeds - 1 : kSecondOpinions;
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    const Contestant& one = contestants[i];
    CellRequest request = one.request;
    request.only_checks.clear();
    for (const KillCount& named : one.row.named)
      if (options.mutant_seeds || named.killed == 0) request.only_checks.push_back(named.check);
    if (request.only_checks.empty() || !one.row.problems.empty()) continue;
    for (int k = 1; k <= more; ++k) {
      request.seed = one.row.seed + static_cast<std::uint64_t>(k);
      again.push_back({i, request});
    }
  }
  return again;
}

void judge(AuditRow& row, const CellObservation& cell, const Grader& grader) {
  for (const CheckObservation& check : cell.checks)
    if (blames_submission(check.verdict)) row.failed_checks.push_back(check.info.id);
  switch (row.kind) {
    case Kind::mutant:
      return judge_mutant(row);
    case Kind::null_solution:
      return judge_null(row, grader);
    case Kind::honest:
    case Kind::reference:
      return judge_honest(row, cell);
  }
}

template <class T>
void keep_sample(std::vector<T>& all, int count, std::string_view grader_digest) {
  std::vector<T> kept;
  for (const std::size_t place : sample_of(all.size(), count, grader_digest))
    kept.push_back(std::move(all[place]));
  all = std::move(kept);
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

std::vector<std::size_t> sample_of(std::size_t all, int count, std::string_view grader_digest) {
  std::vector<std::size_t> places(all);
  std::iota(places.begin(), places.end(), std::size_t{0});
  Rng(derive(Seed(1), grader_digest)).shuffle(places);
  places.resize(std::min(places.size(), static_cast<std::size_t>(count)));
  std::ranges::sort(places);
  return places;
}

bool kills(const KillCount& count) {
  return count.asked > 0 && 3 * count.killed >= 2 * count.asked;
}

bool AuditReport::ok() const {
  return !rows.empty() && std::all_of(rows.begin(), rows.end(),
                                      [](const AuditRow& row) { return row.problems.empty(); });
}

AuditReport audit_suite(const Challenge& challenge, const Grader& grader, AuditSuite suite,
                        const AuditOptions& options, const GradeRequests& grade) {
  std::vector<Contestant> contestants = line_up(challenge, grader, std::move(suite), options);
  keep_only(contestants, options.only);
  const auto run = [&](const auto& many) {
    std::vector<CellRequest> requests;
    for (const auto& one : many) requests.push_back(one.request);
    return grade(requests);
  };
  const auto cells = run(contestants);
  for (std::size_t i = 0; i < contestants.size(); ++i) count(contestants[i].row, cells[i]);
  const std::vector<Repeat> again = repeats(contestants, options);
  const auto more_cells = run(again);
  for (std::size_t i = 0; i < again.size(); ++i)
    count(contestants[again[i].contestant].row, more_cells[i]);

  AuditReport report;
  report.challenge = challenge.id;
  report.device = options.device;
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    judge(contestants[i].row, cells[i], grader);
    report.rows.push_back(std::move(contestants[i].row));
  }
  if (!options.brief && !options.fewest && options.only.empty())
    report.idle_checks = idle_checks(grader, report.rows);
  return report;
}

AuditReport audit_challenge(const GradingEnvironment& environment, const Challenge& challenge,
                            const AuditOptions& options, const Progress& progress) {
  const Grader grader = grader_on(challenge.id, options.device);
  AuditSuite suite = load_audit_suite(environment.root, challenge.id, options.device, grader);
  if (options.sample) {
    const std::string_view digest = grader_for(challenge.id).digest(options.device);
    keep_sample(suite.mutants, *options.sample, digest);
    keep_sample(suite.honest, *options.sample, digest);
  }
  const SubmissionFolder reference =
      find_submission(Folders::checkout(environment.root), std::string(kReferenceName));
  const CellKey key{reference.name, challenge.id, "", options.device};
  suite.honest.push_back({"reference", "the solution that speed is compared with",
                          read_solution(solution_folder(reference, key)), true});
  return audit_suite(challenge, grader, std::move(suite), options, [&](const auto& requests) {
    return LocalRunner(environment, options.jobs).grade(requests, progress);
  });
}

}  // namespace gauntlet
