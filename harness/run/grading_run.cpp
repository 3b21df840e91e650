// SPDX-License-Identifier: Apache-2.0
#include "harness/run/grading_run.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/build/toolchain.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/hold_interrupts.h"
#include "harness/core/machine.h"
#include "harness/sandbox/report.h"
#include "harness/score/cell_score.h"
#include "harness/store/reuse.h"

namespace gauntlet {
namespace {

ReuseKey reuse_key(const CellRequest& request, const PlanTerms& terms) {
  const Machine machine = this_machine();
  const Toolchain& chain = toolchain(request.solution.device);
  return {request.solution.digest(),
          std::string(grader_for(request.challenge.id).digest),
          chain.compiler().version,
          fmt::format("{}", fmt::join(chain.solution_flags, " ")),
          machine.cpu,
          machine.cores,
          request.seed,
          request.solution.device,
          probe_sandbox().tier,
          terms.constraint};
}

}  // namespace

PlannedCell plan_cell(const PlanTerms& terms, const SubmissionFolder& submission,
                      const CellKey& key) {
  PlannedCell cell;
  cell.request.submission = key.submission;
  cell.request.attempt = key.attempt;
  cell.request.challenge = load_challenge(terms.root, key.column());
  cell.request.solution = read_solution(submission.folder / key.challenge);
  if (cell.request.solution.device != key.device)
    throw UserError(fmt::format("{}: the solution in {} is for device {}; name the cell {}",
                                key.text(), (submission.folder / key.challenge).string(),
                                name_of(cell.request.solution.device), cell.request.key().text()),
                    kExitNothingMatched);
  cell.request.seed = terms.seed;
  cell.request.constraint = terms.constraint.value_or("");
  // The graders are what tests the reference.
  cell.request.grade_tests = !submission.is_reference();
  cell.why_run = "asked for";
  if (terms.fresh) return cell;
  auto stored = load_proven(terms.store, key, cell.why_run);
  if (!stored) return cell;
  if (auto reason = why_not_reusable(*stored, reuse_key(cell.request, terms)))
    cell.why_run = *reason;
  else
    cell.reused = std::move(stored->observation);
  return cell;
}

std::vector<CellObservation> carry_out(Runner& runner, const ResultStore& store,
                                       const Rubric& rubric, const std::vector<PlannedCell>& plan,
                                       const Progress& progress, const Finished& finished) {
  std::vector<CellObservation> cells(plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i)
    if (plan[i].reused) {
      cells[i] = *plan[i].reused;
      keep_score(store, rubric, cells[i]);  // the rubric may be another one by now
    }
  std::vector<CellRequest> requests;
  std::vector<std::size_t> places;  // of the requests, in the plan
  for (std::size_t i = 0; i < plan.size(); ++i)
    if (!plan[i].reused) {
      requests.push_back(plan[i].request);
      requests.back().results = store.root();
      places.push_back(i);
    }
  auto seen = runner.grade(requests, progress, [&](const GradedCell& cell) {
    keep(store, rubric, cell);
    if (finished) finished(cell);
  });
  for (std::size_t n = 0; n < seen.size(); ++n) cells[places[n]] = std::move(seen[n]);
  return cells;
}

void keep_score(const ResultStore& store, const Rubric& rubric, const CellObservation& seen) {
  write_file(store.score_file(seen.key), to_json(score_cell(rubric, seen), rubric));
}

void keep(const ResultStore& store, const Rubric& rubric, const GradedCell& cell) {
  const HoldInterrupts hold;
  const CellObservation& seen = cell.observation;
  store.save(seen);
  keep_score(store, rubric, seen);
  store.close_receipt(seen, cell.receipt);
}

}  // namespace gauntlet
