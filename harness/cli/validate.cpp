// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "harness/build/challenge.h"
#include "harness/build/solution.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/validation.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/stated_claim.h"
#include "harness/core/text.h"
#include "harness/run/submissions.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

/// The files beside a solution that differ from what the challenge says now.
std::vector<std::string> outdated_copies(const Challenge& challenge,
                                         const SolutionFolder& solution) {
  std::vector<std::string> outdated;
  const auto compare = [&](const char* name, const std::string& current) {
    const fs::path copy = solution.folder / name;
    if (fs::exists(copy) && read_file(copy, kSubmissionFile) != current)
      outdated.push_back(fmt::format("{}/{} differs from the challenge's",
                                     solution.folder.filename().string(), name));
  };
  compare("PROMPT.md", challenge.prompt(solution.device));
  compare("contract.h", read_file(challenge.folder / "contract.h"));
  return outdated;
}

/// Whether a model card names the prompts as they are now: those for one device, or for all.
bool names_current_prompts(const ModelCard& card, const fs::path& root) {
  std::vector<std::vector<Device>> handed_out{kAllDevices};
  for (const Device device : kAllDevices) handed_out.push_back({device});
  return std::ranges::any_of(handed_out, [&](const std::vector<Device>& devices) {
    return card.prompt_digest == prompts_digest(root, devices);
  });
}

/// A grade needs no claims, so that bad ones are no reason to turn a submission away.
void try_claims(const std::string& claims, const fs::path& file, ValidationFindings& findings) {
  try {
    stated_claims_from_yaml(claims, file.string());
  } catch (const UserError& error) {
    findings.notes.push_back(
        fmt::format("its claims will not be measured: {}", printable(error.what())));
  }
}

void inspect_solution(const Context& context, const SolutionFolder& found,
                      ValidationFindings& findings) {
  const Challenge challenge = load_challenge(context.root(), found.challenge);
  if (const std::string why = challenge.why_not_on(found.device); !why.empty())
    throw UserError(fmt::format("{}: {}", found.folder.string(), why));
  // First, so that what is no plain file is not opened below.
  const SolutionSource solution = read_solution(found.folder);
  if (solution.device != found.device)
    throw UserError(fmt::format("{}: holds a solution for {}", found.folder.string(),
                                name_of(solution.device)));
  for (auto& note : outdated_copies(challenge, found)) findings.notes.push_back(std::move(note));
  if (solution.claims)
    try_claims(*solution.claims, found.folder / SolutionSource::kClaims, findings);
}

/// Runs one step of the validation; what it refuses is a problem of the submission.
template <class Step>
void collect(ValidationFindings& findings, const Step& step) {
  try {
    step();
  } catch (const UserError& error) {
    findings.problems.push_back(error.what());
  }
}

}  // namespace

ValidationFindings inspect_submission(const Context& context, const SubmissionFolder& submission) {
  ValidationFindings findings;
  if (!submission.is_reference())
    collect(findings, [&] {
      const ModelCard card = model_card_of(submission);
      if (card.prompt_digest == kUnknown)
        findings.notes.push_back("model.yaml does not know which prompts the model was given");
      else if (!names_current_prompts(card, context.root()))
        findings.notes.push_back("the prompts have changed since this model was given them");
    });
  collect(findings, [&] {
    for (const SolutionFolder& solution : solutions_of(submission, context.challenges()))
      collect(findings, [&] { inspect_solution(context, solution, findings); });
  });
  return findings;
}

VerbResult validate(const Context& context, const std::vector<std::string>& submissions) {
  VerbResult answer;
  answer.document = {{"schema", "gauntlet.validate/1"}, {"submissions", Json::array()}};
  for (const auto& word : submissions) {
    const SubmissionFolder submission = find_submission(context.folders(), word);
    const ValidationFindings findings = inspect_submission(context, submission);
    if (!findings.problems.empty()) answer.exit_code = kExitInvalidSubmission;
    answer.text += fmt::format("{} {}\n", submission.key().generation(),
                               findings.problems.empty() ? "ok" : "INVALID");
    for (const auto& problem : findings.problems) answer.text += "  " + one_line(problem) + "\n";
    for (const auto& note : findings.notes) answer.text += "  note: " + one_line(note) + "\n";
    answer.document["submissions"].push_back({{"submission", submission.key().generation()},
                                              {"valid", findings.problems.empty()},
                                              {"problems", Json(findings.problems)},
                                              {"notes", Json(findings.notes)}});
  }
  return answer;
}

}  // namespace gauntlet
