#include "harness/cli/grading_run.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/build/compiler.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/interrupt.h"
#include "harness/cli/progress.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/machine.h"
#include "harness/report/text/phrases.h"
#include "harness/sandbox/report.h"
#include "harness/score/judge_claims.h"
#include "harness/store/reuse.h"

namespace gauntlet {
namespace {

ReuseKey reuse_key(const CellRequest& request) {
  const Machine machine = this_machine();
  return {request.solution.digest(),
          std::string(grader_for(request.challenge.id).digest),
          compiler().version,
          fmt::format("{}", fmt::join(compile_flags(), " ")),
          machine.cpu,
          machine.cores,
          request.seed,
          request.solution.device,
          probe_sandbox().tier};
}

void keep_score(const Context& context, const Rubric& rubric, const CellObservation& seen) {
  write_file(context.store().score_file(seen.key), to_json(score_cell(rubric, seen), rubric));
}

}  // namespace

PlannedCell plan_cell(const Context& context, const SubmissionFolder& submission,
                      const CellKey& key, bool fresh) {
  PlannedCell cell;
  cell.request.submission = key.submission;
  cell.request.attempt = key.attempt;
  cell.request.challenge = load_challenge(context.root(), key.column());
  cell.request.solution = read_solution(submission.folder / key.challenge);
  if (cell.request.solution.device != key.device)
    throw UserError(fmt::format("{}: the solution in {} is for device {}; name the cell {}",
                                key.text(), (submission.folder / key.challenge).string(),
                                name_of(cell.request.solution.device), cell.request.key().text()),
                    kExitNothingMatched);
  cell.request.seed = context.seed;
  // The graders are what tests the reference.
  cell.request.grade_tests = !submission.is_reference();
  cell.why_run = "asked for";
  if (fresh) return cell;
  auto stored = load_proven(context.store(), key, cell.why_run);
  if (!stored) return cell;
  if (auto reason = why_not_reusable(*stored, reuse_key(cell.request)))
    cell.why_run = *reason;
  else
    cell.reused = std::move(stored->observation);
  return cell;
}

std::vector<CellObservation> carry_out(const Context& context,
                                       const std::vector<PlannedCell>& plan) {
  const Rubric rubric = context.rubric();
  std::vector<CellObservation> cells(plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i)
    if (plan[i].reused) {
      cells[i] = *plan[i].reused;
      keep_score(context, rubric, cells[i]);  // the rubric may be another one by now
    }
  std::vector<CellRequest> requests;
  std::vector<std::size_t> places;  // of the requests, in the plan
  for (std::size_t i = 0; i < plan.size(); ++i)
    if (!plan[i].reused) {
      requests.push_back(plan[i].request);
      requests.back().open_receipt = [&context](const Receipt& receipt) {
        context.store().open_receipt(receipt);
      };
      places.push_back(i);
    }
  ProgressDisplay display(*context.err, context.live, context.quiet, requests.size());
  const auto progress = [&](const CellEvent& event) { display.show(event); };
  const auto finished = [&](const GradedCell& cell) { keep(context, rubric, cell); };
  auto seen = grade_cells(context.workshop, requests, context.jobs, progress, finished);
  for (std::size_t n = 0; n < seen.size(); ++n) cells[places[n]] = std::move(seen[n]);
  return cells;
}

void keep(const Context& context, const Rubric& rubric, const GradedCell& cell) {
  const HoldInterrupts hold;
  const ResultStore store = context.store();
  const CellObservation& seen = cell.observation;
  store.save(seen);
  keep_score(context, rubric, seen);
  store.close_receipt(seen, cell.receipt);
}

Json cell_document(const Rubric& rubric, const BoardCell& scored, const CellObservation& cell) {
  Json document = Json::parse(to_json(scored.score, rubric));
  document.erase("schema");
  document["seed"] = cell.seed.text();
  document["built"] = cell.build.ok;
  if (scored.placement) document["place"] = ordinal(*scored.placement);
  document["findings"] = Json::array();
  for (const auto& check : cell.checks)
    if (check.finding)
      document["findings"].push_back(
          {{"check", check.info.id},
           {"verdict", name_of(check.verdict)},
           {"severity", name_of(check.info.severity)},
           {"case", check.finding->case_name},
           {"summary", check.finding->summary},
           {"show", show_command(cell.key.row(), cell.key.column(), check.info.id)},
           {"reproduce", rerun_command(cell, check.info.id)}});
  for (const JudgedClaim& one : judge_claims(cell))
    document["stated_claims"].push_back(to_json(one));
  if (!cell.claims_fault.empty()) document["claims_fault"] = cell.claims_fault;
  return document;
}

}  // namespace gauntlet
