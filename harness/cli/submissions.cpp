#include "harness/cli/submissions.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/cli/exit_codes.h"
#include "harness/core/digest.h"
#include "harness/core/entry.h"
#include "harness/core/error.h"
#include "harness/core/names.h"
#include "harness/core/text.h"

namespace gauntlet {

namespace fs = std::filesystem;

std::vector<std::string> submission_names(const fs::path& root) {
  return folder_names(root / "submissions");
}

std::string why_not_called(const std::string& name) {
  if (name != kReferenceName) return why_no_submission_name(name);
  return "'reference' is no name for a submission: our own solutions have it; rename its folder";
}

SubmissionFolder find_submission(const Context& context, const std::string& word) {
  if (word == kReferenceName) return {word, context.root() / "reference"};
  std::vector<std::string> known = submission_names(context.root());
  fs::path folder = context.root() / "submissions" / word;
  if (word.empty() || !contains(known, word)) folder = fs::absolute(word);
  folder = folder.lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "submissions/bravo/"
  std::erase_if(known, [](const std::string& name) { return !why_not_called(name).empty(); });
  if (word.empty() || !fs::is_directory(folder))
    throw UserError(fmt::format("no submission '{}': it is no folder, and submissions/ has {}{}",
                                printable(word, 80), sentence_list(known),
                                did_you_mean(folder.filename().string(), known)));
  const std::string name = folder.filename().string();
  if (fs::equivalent(folder, context.root() / "reference"))
    return {std::string(kReferenceName), folder};
  if (const std::string why = why_not_called(name); !why.empty())
    throw UserError(fmt::format("{}: {}", one_line(folder.string(), 400), why),
                    kExitInvalidSubmission);
  return {name, folder};
}

std::vector<std::string> challenges_of(const SubmissionFolder& submission,
                                       const std::vector<std::string>& known) {
  const std::vector<std::string> present = folder_names(submission.folder);
  for (const auto& id : present)
    if (!contains(known, id))
      throw UserError(
          fmt::format("{}: folder '{}' is no challenge{}; known: {}", submission.folder.string(),
                      printable(id, 80), did_you_mean(id, known), sentence_list(known)),
          kExitInvalidSubmission);
  if (present.empty())
    throw UserError(fmt::format("{}: has no solution: a solution to a challenge is "
                                "<challenge>/solution.cpp; known challenges: {}",
                                submission.folder.string(), sentence_list(known)),
                    kExitInvalidSubmission);
  std::vector<std::string> ordered;
  for (const auto& id : known)
    if (contains(present, id)) ordered.push_back(id);
  return ordered;
}

ModelCard model_card_of(const SubmissionFolder& submission) {
  const fs::path file = submission.folder / "model.yaml";
  if (!fs::exists(file))
    throw UserError(fmt::format("{} is missing; ./gauntlet new writes one to fill in, and every "
                                "value may be 'unknown'",
                                file.string()),
                    kExitInvalidSubmission);
  try {
    return read_model_card(file);
  } catch (const UserError& error) {
    throw UserError(error.what(), kExitInvalidSubmission);
  }
}

void require_challenge(const std::string& id, const std::vector<std::string>& known) {
  if (!contains(known, id))
    throw UserError(fmt::format("no challenge '{}'{}; known: {}", printable(id, 80),
                                did_you_mean(id, known), sentence_list(known)));
}

void require_entry(const std::string& name, const std::vector<std::string>& known) {
  require_challenge(Entry::named(name).challenge, known);
}

std::string prompts_digest(const fs::path& root) {
  Digest digest;
  for (const auto& id : challenge_ids(root))
    digest.add(id, load_challenge(root, id).prompt_digest());
  return digest.hex();
}

}  // namespace gauntlet
