// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <map>

#include "harness/cli/exit_codes.h"
#include "harness/cli/progress.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/run/verification.h"
#include "harness/store/json_fields.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

using Outcome = Proof::Outcome;

constexpr std::string_view kCheck = "check ";  // what proofs about checks begin with

Json document_of(const Claim& claim, const std::vector<Proof>& proofs, const Left& left) {
  Json document{{"schema", "gauntlet.verify/1"}};
  put_cell_key(document, claim.receipt.key);
  document["commitment"] = claim.receipt.commitment;
  document["closing"] = closing_digest(claim.receipt);
  document["outcome"] = name_of(worst_of(proofs));
  document["confirmed"] = worst_of(proofs) <= Outcome::noted;
  document["rests_on_receipt"] = Json::array();
  document["not_compared"] = Json(left.not_compared);
  document["wavering"] = Json(left.wavering);
  document["unconfirmed"] = Json(left.unconfirmed);
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

/// The last word, which may be all that is read: it says what was not confirmed.
std::string closing_line(Outcome worst, const Left& left) {
  if (worst == Outcome::refuted) return "Refuted: this receipt does not prove the grade.\n";
  if (worst == Outcome::open) return "Neither confirmed nor refuted.\n";
  const bool all = left.unconfirmed.empty();
  std::string text = all ? "Confirmed" : "Not confirmed: no new run gave anything like these, ";
  if (!all)
    text += fmt::format("which rest on the receipt alone: {}.\n", sentence_list(left.unconfirmed));
  if (left.unrepeated.empty()) {
    if (all) text += ".\n";
  } else {
    std::vector<std::string> words;
    for (const Unrepeated& one : left.unrepeated) words.push_back(in_words(one));
    text += fmt::format(
        "{}what goes by the clock was not run again, and these rest on the receipt alone: {}.\n",
        all ? " except speed: " : "Besides, ", sentence_list(words));
  }
  if (!left.wavering.empty())
    text += fmt::format("Came again only as near as new runs are to each other: {}.\n",
                        sentence_list(left.wavering));
  if (!left.not_compared.empty())
    text += fmt::format("Nor was compared, and no score rests on it: {}.\n",
                        sentence_list(left.not_compared));
  return text;
}

std::string line_of(Outcome outcome, const std::string& what, const std::string& text) {
  return fmt::format("  {:<11} {}: {}\n", name_of(outcome), what, one_line(text));
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

VerbResult answer_for(const Claim& claim, const std::vector<Proof>& proofs, const Left& left) {
  const Outcome worst = worst_of(proofs);
  VerbResult answer;
  answer.document = document_of(claim, proofs, left);
  answer.text = fmt::format("{} {}\n{}{}", claim.receipt.key.row(), claim.receipt.key.column(),
                            lines_of(proofs), closing_line(worst, left));
  if (worst == Outcome::open || worst == Outcome::unconfirmed) answer.exit_code = kExitIncomplete;
  if (worst == Outcome::refuted) answer.exit_code = kExitGateFailed;
  return answer;
}

/// What the results say of the cell that was named.
Claim stored_claim(const Context& context, const VerifyOptions& options) {
  if (options.challenge.empty())
    throw UserError(
        fmt::format("'{}' is no receipt's file; name a submission's challenge with it: "
                    "./gauntlet verify {} CHALLENGE",
                    printable(options.what, 200), printable(options.what, 200)));
  const SubmissionFolder submission = find_submission(context.folders(), options.what);
  const CellKey key = cell_named(submission, options.challenge, context.challenges());
  return claim_in_store(context.store(), submission, key);
}

}  // namespace

VerbResult verify(const Context& context, const VerifyOptions& options) {
  const Claim claim = fs::is_regular_file(options.what)
                          ? claim_in_file(context.folders(), options.what)
                          : stored_claim(context, options);
  ProgressDisplay display(*context.err, context.live, context.quiet, 0);
  LocalRunner runner = context.runner();
  const Verification seen = verify_claim({context.environment, runner, context.rubric(),
                                          [&](const CellEvent& event) { display.show(event); }},
                                         claim, {options.commitment, options.closing});
  return answer_for(claim, seen.proofs, seen.left);
}

}  // namespace gauntlet
