// SPDX-License-Identifier: Apache-2.0
#include "harness/run/grading_run.h"

#include <fmt/format.h>

#include "harness/build/toolchain.h"
#include "harness/core/error.h"
#include "harness/core/machine.h"
#include "harness/run/cell_claims.h"
#include "harness/run/keep.h"
#include "harness/sandbox/report.h"

namespace gauntlet {

namespace fs = std::filesystem;

ReuseKey reuse_key(const CellRequest& request, const std::optional<std::string>& constraint) {
  const Machine machine = this_machine();
  const Toolchain& chain = toolchain(request.solution.device);
  return {request.solution.digest(),
          std::string(grader_for(request.challenge.id).digest(request.solution.device)),
          chain.compiler().version,
          chain.flags_in_words(chain),
          machine.cpu,
          machine.cores,
          request.seed,
          request.solution.device,
          probe_sandbox().tier,
          request.solution.file_digests(),
          request.challenge.contract_digest(),
          constraint};
}

PlannedCell plan_cell(const PlanTerms& terms, const SubmissionFolder& submission,
                      const CellKey& key) {
  PlannedCell cell;
  cell.request.submission = key.submission;
  cell.request.attempt = key.attempt;
  cell.request.challenge = load_challenge(terms.root, key.column());
  const fs::path folder = solution_folder(submission, key);
  cell.request.solution = read_solution(folder);
  const Device device = cell.request.solution.device;
  if (const std::string why = cell.request.challenge.why_not_on(device); !why.empty())
    throw UserError(fmt::format("{}: {}", folder.string(), why), kExitInvalidSubmission);
  if (device != key.device)
    throw UserError(
        fmt::format("{}: the solution in {} is for device {}; name the cell {}", key.text(),
                    folder.string(), name_of(device), cell.request.key().text()),
        kExitNothingMatched);
  cell.request.seed = terms.seed;
  cell.request.constraint = terms.constraint.value_or("");
  // The graders are what tests the reference.
  cell.request.grade_tests = !submission.is_reference();
  cell.why_run = "asked for";
  if (terms.fresh) return cell;
  cell.wanted = reuse_key(cell.request, terms.constraint);
  ask_store(terms.store, cell);
  return cell;
}

std::vector<CellObservation> carry_out(Runner& runner, const ResultStore& store,
                                       const Rubric& rubric, std::vector<PlannedCell>& plan,
                                       const Progress& progress, const Finished& finished) {
  CellClaims claims(store, plan, progress);
  std::vector<CellObservation> cells(plan.size());
  std::vector<CellRequest> requests;
  std::vector<std::size_t> places;  // of the requests, in the plan
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (plan[i].reused) {
      cells[i] = *plan[i].reused;
      finish_keeping(store, cells[i].key);
      keep_score(store, rubric, cells[i]);  // the rubric may be another one by now
      continue;
    }
    requests.push_back(plan[i].request);
    requests.back().results = store.root();
    places.push_back(i);
  }
  auto seen = runner.grade(requests, progress, [&](const GradedCell& cell) {
    keep(store, rubric, cell, claims.why_run(cell.observation.key));
    claims.release(cell.observation.key);
    if (finished) finished(cell);
  });
  for (std::size_t n = 0; n < seen.size(); ++n) cells[places[n]] = std::move(seen[n]);
  return cells;
}

}  // namespace gauntlet
