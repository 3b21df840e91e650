#include <fmt/format.h>
#include <map>

#include "harness/cli/exit_codes.h"
#include "harness/cli/grading_run.h"
#include "harness/cli/progress.h"
#include "harness/cli/verbs.h"
#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/names.h"
#include "harness/core/text.h"
#include "harness/store/cell_comparison.h"
#include "harness/store/observation_json.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

using Outcome = Proof::Outcome;

constexpr std::string_view kCheck = "check ";  // what proofs about checks begin with

struct Claim {
  Receipt receipt;
  SubmissionFolder submission;
  fs::path folder;  // that the receipt lies in, with the files that it speaks of
};

fs::path receipt_of(const Context& context, const CellKey& key) {
  const ResultStore store = context.store();
  const fs::path file = store.receipt_file(key);
  if (fs::exists(file)) return file;
  if (fs::exists(store.opened_file(key)))
    throw UserError(fmt::format("{} was opened, and its run never ended; grade it again: "
                                "./gauntlet grade {} -c {}",
                                store.opened_file(key).string(), key.generation(), key.column()),
                    kExitNothingMatched);
  throw UserError(fmt::format("{} is not there; grade it first: ./gauntlet grade {} -c {}{}",
                              file.string(), key.generation(), key.column(),
                              fs::exists(store.observation_file(key)) ? " --fresh" : ""),
                  kExitNothingMatched);
}

Claim find_claim(const Context& context, const VerifyOptions& options) {
  if (fs::is_regular_file(options.what)) {
    const Receipt receipt = receipt_from_json(read_file(options.what, kReceiptFile), options.what);
    if (const std::string why = why_no_submission_name(receipt.key.submission); !why.empty())
      throw UserError(fmt::format("{}: submission: {}", one_line(options.what, 200), why));
    require_challenge(receipt.key.challenge, context.challenges());
    return {receipt, find_submission(context, receipt.key.row()),
            fs::absolute(options.what).parent_path()};
  }
  if (options.challenge.empty())
    throw UserError(
        fmt::format("'{}' is no receipt's file; name a submission's challenge with it: "
                    "./gauntlet verify {} CHALLENGE",
                    printable(options.what, 200), printable(options.what, 200)));
  const SubmissionFolder submission = find_submission(context, options.what);
  const CellKey key = cell_named(submission, options.challenge, context.challenges());
  const fs::path file = receipt_of(context, key);
  const Receipt receipt = receipt_from_json(read_file(file, kReceiptFile), file.string());
  if (receipt.key != key)
    throw UserError(fmt::format("{}: is about {}; move it back or remove it", file.string(),
                                printable(receipt.key.text(), 160)));
  return {receipt, submission, file.parent_path()};
}

/// That score.json is what this rubric makes of the observation beside it.
Proof check_score(const Rubric& rubric, const fs::path& file, const CellObservation& cell) {
  const std::string text = read_file(file, kResultFile);
  if (text == to_json(score_cell(rubric, cell), rubric))
    return {"score", Outcome::holds, file.string()};
  const auto in = JsonFields::of_document(text, file.string(), "gauntlet.score/1");
  if (in.text("rubric_digest") != rubric.digest)
    return {
        "score", Outcome::open,
        fmt::format("{} is of another rubric, or says so: what it says cannot be told from here. "
                    "./gauntlet score writes what this rubric makes of the observation; verify "
                    "again then",
                    file.string())};
  return {
      "score", Outcome::refuted,
      fmt::format("{} is not what the rubric makes of the observation: it was edited; ./gauntlet "
                  "score writes it again",
                  file.string())};
}

/// The observation that lies beside the receipt, when the receipt is of it.
std::optional<CellObservation> observation_beside(const Claim& claim) {
  const fs::path file = claim.folder / "observation.json";
  if (!fs::exists(file)) return std::nullopt;
  return observation_from_json(read_file(file, kResultFile), file.string());
}

/// What can be told without running anything.
std::vector<Proof> check_files(const Context& context, const Claim& claim,
                               const CellRequest& request, const VerifyOptions& options) {
  std::vector<Proof> proofs{
      check_commitment(claim.receipt, options.commitment),
      check_closing(claim.receipt, options.closing, !options.commitment.empty()),
      check_sources(claim.receipt, request.solution.digest()),
      check_grader(claim.receipt, std::string(grader_for(request.challenge.id).digest))};
  const fs::path observation = claim.folder / "observation.json";
  if (!fs::exists(observation)) {
    proofs.push_back(
        {"observation", Outcome::noted,
         fmt::format("{} is not there; the run below stands for it", observation.string())});
    if (const fs::path score = claim.folder / "score.json"; fs::exists(score))
      proofs.push_back(
          {"score", Outcome::open,
           fmt::format("{} has no observation beside it that it could follow from; remove it, or "
                       "run ./gauntlet grade",
                       score.string())});
    return proofs;
  }
  const std::string text = read_file(observation, kResultFile);
  proofs.push_back(check_observation(claim.receipt, text, observation.string()));
  const fs::path score = claim.folder / "score.json";
  if (proofs.back().outcome == Outcome::holds && fs::exists(score))
    proofs.push_back(
        check_score(context.rubric(), score, observation_from_json(text, observation.string())));
  return proofs;
}

/// A build from nothing: what the cache holds proves nothing about the sources.
std::string fresh_library(const Context& context, const CellRequest& request) {
  const ScratchFolder cache("verify");
  const BuiltSolution built =
      build_solution(request.solution, request.challenge, cache.path(), context.workshop.build);
  return built.record.ok ? sha256(read_file(built.library)) : "";
}

/// Everything again with the receipt's seed, but for the races. Nothing when the grader broke.
std::optional<GradedCell> run_again(const Context& context, CellRequest request,
                                    const Receipt& claimed) {
  request.seed = claimed.closing->seed;
  request.races = false;
  std::optional<GradedCell> seen;
  ProgressDisplay display(*context.err, context.live, context.quiet, 1);
  grade_cells(
      context.workshop, {request}, 1, [&](const CellEvent& event) { display.show(event); },
      [&](const GradedCell& cell) { seen = cell; });
  if (!seen->receipt) return std::nullopt;
  seen->receipt->library = fresh_library(context, request);
  return seen;
}

/// What a new run could not confirm.
struct Left {
  std::vector<Unrepeated> unrepeated;
  std::vector<std::string> not_compared;
};

Json document_of(const Claim& claim, const std::vector<Proof>& proofs, const Left& left) {
  Json document{{"schema", "gauntlet.verify/1"}};
  put_cell_key(document, claim.receipt.key);
  document["commitment"] = claim.receipt.commitment;
  document["closing"] = closing_digest(claim.receipt);
  document["outcome"] = name_of(worst_of(proofs));
  document["confirmed"] = worst_of(proofs) <= Outcome::noted;
  document["rests_on_receipt"] = Json::array();
  document["not_compared"] = Json(left.not_compared);
  document["proofs"] = Json::array();
  for (const Unrepeated& one : left.unrepeated)
    document["rests_on_receipt"].push_back(
        {{"check", one.check}, {"earned", json_number(one.earned)}, {"ratios", Json(one.ratios)}});
  for (const Proof& proof : proofs)
    document["proofs"].push_back(
        {{"what", proof.what}, {"outcome", name_of(proof.outcome)}, {"text", proof.text}});
  return document;
}

std::string in_words(const Unrepeated& one) {
  if (one.ratios.empty()) return fmt::format("{} ({:.3g} of its points)", one.check, one.earned);
  return fmt::format("{} ({:.3g} to {:.3g} times the reference)", one.check, one.ratios.front(),
                     one.ratios.back());
}

std::string closing_line(Outcome worst, const Left& left) {
  if (worst == Outcome::refuted) return "Refuted: this receipt does not prove the grade.\n";
  if (worst == Outcome::open) return "Neither confirmed nor refuted.\n";
  const std::string besides = left.not_compared.empty()
                                  ? ""
                                  : fmt::format("Nor was compared, and no score rests on it: {}.\n",
                                                sentence_list(left.not_compared));
  if (left.unrepeated.empty()) return "Confirmed.\n" + besides;
  std::vector<std::string> words;
  for (const Unrepeated& one : left.unrepeated) words.push_back(in_words(one));
  return fmt::format(
      "Confirmed except speed: what goes by the clock was not run again, and these rest on the "
      "receipt alone: {}.\n{}",
      sentence_list(words), besides);
}

std::string line_of(Outcome outcome, const std::string& what, const std::string& text) {
  return fmt::format("  {:<8} {}: {}\n", name_of(outcome), what, one_line(text));
}

/// One line for each proof, and one for all checks of which the same is said.
std::string lines_of(const std::vector<Proof>& proofs) {
  std::string text;
  std::map<std::pair<Outcome, std::string>, std::vector<std::string>> checks;
  for (const Proof& proof : proofs)
    if (proof.what.starts_with(kCheck))
      checks[{proof.outcome, proof.text}].push_back(proof.what.substr(kCheck.size()));
    else
      text += line_of(proof.outcome, proof.what, proof.text);
  for (const auto& [said, names] : checks) {
    const auto& [outcome, what] = said;
    if (outcome == Outcome::holds)
      text += line_of(outcome, fmt::format("{} checks", names.size()), what);
    else
      text += line_of(outcome, sentence_list(names), what);
  }
  return text;
}

Answer answer_for(const Claim& claim, const std::vector<Proof>& proofs, const Left& left) {
  const Outcome worst = worst_of(proofs);
  Answer answer;
  answer.document = document_of(claim, proofs, left);
  answer.text = fmt::format("{} {}\n{}{}", claim.receipt.key.row(), claim.receipt.key.column(),
                            lines_of(proofs), closing_line(worst, left));
  if (worst == Outcome::open) answer.exit_code = kExitIncomplete;
  if (worst == Outcome::refuted) answer.exit_code = kExitGateFailed;
  return answer;
}

}  // namespace

Answer verify(const Context& context, const VerifyOptions& options) {
  const Claim claim = find_claim(context, options);
  if (!claim.receipt.closing)
    throw UserError(fmt::format("{}: the run that it was opened for never ended, so that it proves "
                                "nothing; grade again",
                                options.what),
                    kExitNothingMatched);
  const PlannedCell cell = plan_cell(context, claim.submission, claim.receipt.key, true);
  std::vector<Proof> proofs = check_files(context, claim, cell.request, options);
  // What would run is something else, or nobody needs to hear more.
  if (worst_of(proofs) >= Outcome::open) return answer_for(claim, proofs, {});
  const auto seen = run_again(context, cell.request, claim.receipt);
  if (!seen) {
    proofs.push_back(
        {"run", Outcome::open, "the grader broke; verify again, and report it if it stays"});
    return answer_for(claim, proofs, {});
  }
  const auto add = [&proofs](std::vector<Proof> more) {
    proofs.insert(proofs.end(), more.begin(), more.end());
  };
  add(compare_runs(claim.receipt, *seen->receipt));
  // Without the stored observation, what goes by the clock is named without its numbers.
  const auto stored = observation_beside(claim);
  const CellObservation& then = stored ? *stored : seen->observation;
  add(compare_questions(then, seen->observation));
  add(compare_earned(claim.receipt, then, *seen->receipt, seen->observation));
  add(compare_seen(claim.receipt, then, *seen->receipt, seen->observation));
  return answer_for(claim, proofs,
                    {rests_on_receipt(*seen->receipt, then),
                     not_compared(*seen->receipt, then, seen->observation)});
}

}  // namespace gauntlet
