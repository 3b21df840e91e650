// SPDX-License-Identifier: Apache-2.0
#include "harness/run/verification.h"

#include <fmt/format.h>

#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/names.h"
#include "harness/core/text.h"
#include "harness/run/grading_run.h"
#include "harness/score/cell_score.h"
#include "harness/store/json_fields.h"
#include "harness/store/observation_json.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

fs::path receipt_of(const ResultStore& store, const CellKey& key) {
  const fs::path file = store.receipt_file(key);
  if (fs::exists(file)) return file;
  if (fs::exists(store.opened_file(key)))
    throw UserError(fmt::format("{} was opened, and its run never ended; grade it again: "
                                "./gauntlet grade {} -c {}",
                                store.opened_file(key).string(), key.generation(), key.entry()),
                    kExitNothingMatched);
  throw UserError(fmt::format("{} is not there; grade it first: ./gauntlet grade {} -c {}{}",
                              file.string(), key.generation(), key.entry(),
                              fs::exists(store.observation_file(key)) ? " --fresh" : ""),
                  kExitNothingMatched);
}

/// That score.json is what this rubric makes of the observation beside it.
Proof check_score(const Rubric& rubric, const fs::path& file, const CellObservation& cell) {
  const std::string text = read_file(file, kResultFile);
  if (text == to_json(score_cell(rubric, cell), rubric))
    return {"score", Proof::Outcome::holds, file.string()};
  const auto in = JsonFields::of_document(text, file.string(), "gauntlet.score/1");
  if (in.text("rubric_digest") != rubric.digest)
    return {
        "score", Proof::Outcome::open,
        fmt::format("{} is of another rubric, or says so: what it says cannot be told from here. "
                    "./gauntlet score writes what this rubric makes of the observation; verify "
                    "again then",
                    file.string())};
  return {
      "score", Proof::Outcome::refuted,
      fmt::format("{} is not what the rubric makes of the observation: it was edited; ./gauntlet "
                  "score writes it again",
                  file.string())};
}

/// The observation that lies beside the receipt, when the receipt is of it.
std::optional<CellObservation> observation_beside(const Claim& claim) {
  const fs::path file = claim.file.parent_path() / "observation.json";
  if (!fs::exists(file)) return std::nullopt;
  return observation_from_json(read_file(file, kResultFile), file.string());
}

/// What can be told without running anything.
std::vector<Proof> check_files(const Rubric& rubric, const Claim& claim, const CellRequest& request,
                               const PrintedDigests& printed) {
  std::vector<Proof> proofs{
      check_commitment(claim.receipt, printed.commitment),
      check_closing(claim.receipt, printed.closing, !printed.commitment.empty()),
      check_sources(claim.receipt, request.solution.digest()),
      check_grader(claim.receipt,
                   std::string(grader_for(request.challenge.id).digest(request.solution.device)))};
  const fs::path observation = claim.file.parent_path() / "observation.json";
  if (!fs::exists(observation)) {
    proofs.push_back(
        {"observation", Proof::Outcome::noted,
         fmt::format("{} is not there; the run below stands for it", observation.string())});
    if (const fs::path score = claim.file.parent_path() / "score.json"; fs::exists(score))
      proofs.push_back(
          {"score", Proof::Outcome::open,
           fmt::format("{} has no observation beside it that it could follow from; remove it, or "
                       "run ./gauntlet grade",
                       score.string())});
    return proofs;
  }
  const std::string text = read_file(observation, kResultFile);
  proofs.push_back(check_observation(claim.receipt, text, observation.string()));
  const fs::path score = claim.file.parent_path() / "score.json";
  if (proofs.back().outcome == Proof::Outcome::holds && fs::exists(score))
    proofs.push_back(check_score(rubric, score, observation_from_json(text, observation.string())));
  return proofs;
}

/// A build from nothing: what the cache holds proves nothing about the sources.
std::string fresh_library(const VerifyTerms& terms, const CellRequest& request) {
  const ScratchFolder cache("verify");
  return build_solution(request.solution, request.challenge, cache.path(), terms.environment.build)
      .digest();
}

/// Everything, or these checks, again with the receipt's seed, but for the races. Nothing when the
/// grader broke.
std::optional<GradedCell> run_again(const VerifyTerms& terms, CellRequest request,
                                    const Receipt& claimed,
                                    const std::vector<std::string>& only_checks = {}) {
  request.seed = claimed.closing->seed;
  request.races = false;
  request.only_checks = only_checks;
  std::optional<GradedCell> seen;
  terms.runner.grade({request}, terms.progress, [&](const GradedCell& cell) { seen = cell; });
  if (!seen->receipt) return std::nullopt;
  return seen;
}

/// Compares what was seen then with the new run, and with more runs of those checks whose outputs
/// do not come again while there is something that these may still confirm.
Comparison compare_with_runs(const VerifyTerms& terms, const CellRequest& request,
                             const Receipt& claimed, const CellObservation& then,
                             const Receipt& seen, const CellObservation& now) {
  std::vector<CellObservation> runs{now};
  for (;;) {
    Comparison comparison = compare_seen(claimed, then, seen, runs);
    if (comparison.ask_again.empty() || runs.size() == kMostRuns) return comparison;
    const auto again = run_again(terms, request, claimed, comparison.ask_again);
    if (!again) return comparison;
    runs.push_back(again->observation);
  }
}

}  // namespace

Claim claim_in_file(const Folders& folders, const fs::path& file) {
  const Receipt receipt = receipt_from_json(read_file(file, kReceiptFile), file.string());
  if (const std::string why = why_no_submission_name(receipt.key.submission); !why.empty())
    throw UserError(fmt::format("{}: submission: {}", one_line(file.string(), 200), why));
  require_challenge(receipt.key.challenge, challenge_ids(folders.data));
  return {receipt, find_submission(folders, receipt.key.row()), fs::absolute(file)};
}

Claim claim_in_store(const ResultStore& store, const SubmissionFolder& submission,
                     const CellKey& key) {
  const fs::path file = receipt_of(store, key);
  const Receipt receipt = receipt_from_json(read_file(file, kReceiptFile), file.string());
  if (receipt.key != key)
    throw UserError(fmt::format("{}: is about {}; move it back or remove it", file.string(),
                                printable(receipt.key.text(), 160)));
  return {receipt, submission, file};
}

Verification verify_claim(const VerifyTerms& terms, const Claim& claim,
                          const PrintedDigests& printed) {
  if (!claim.receipt.closing)
    throw UserError(fmt::format("{}: the run that it was opened for never ended, so that it proves "
                                "nothing; grade again",
                                claim.file.string()),
                    kExitNothingMatched);
  const PlannedCell cell = plan_cell({terms.environment.root, ResultStore({}), std::nullopt, true},
                                     claim.submission, claim.receipt.key);
  std::vector<Proof> proofs = check_files(terms.rubric, claim, cell.request, printed);
  // What would run is something else, or nobody needs to hear more.
  if (worst_of(proofs) >= Proof::Outcome::open) return {proofs, {}};
  const auto seen = run_again(terms, cell.request, claim.receipt);
  if (!seen) {
    proofs.push_back(
        {"run", Proof::Outcome::open, "the grader broke; verify again, and report it if it stays"});
    return {proofs, {}};
  }
  Receipt now = *seen->receipt;
  now.library = fresh_library(terms, cell.request);
  const auto add = [&proofs](const std::vector<Proof>& more) {
    proofs.insert(proofs.end(), more.begin(), more.end());
  };
  add(compare_runs(claim.receipt, now));
  // Without the stored observation, what goes by the clock is named without its numbers.
  const auto stored = observation_beside(claim);
  const CellObservation& then = stored ? *stored : seen->observation;
  add(compare_questions(then, seen->observation));
  // Nobody needs to hear more of a receipt that is refuted.
  const Comparison comparison =
      worst_of(proofs) == Proof::Outcome::refuted
          ? compare_seen(claim.receipt, then, now, {&seen->observation, 1})
          : compare_with_runs(terms, cell.request, claim.receipt, then, now, seen->observation);
  add(comparison.proofs);
  return {proofs,
          {rests_on_receipt(now, then), not_compared(now, then, seen->observation),
           comparison.wavering, comparison.unconfirmed}};
}

}  // namespace gauntlet
