#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/cli/context.h"

namespace gauntlet {

/// A submission on disk: submissions/<name>/, a folder elsewhere, or reference/.
struct SubmissionFolder {
  std::string name;
  std::filesystem::path folder;
  bool is_reference() const { return name == kReferenceName; }
};

/// Finds a submission by name or by folder. Throws UserError with the nearest known name.
SubmissionFolder find_submission(const Context& context, const std::string& word);

/// Why nobody's submission can have this name; empty when one can.
std::string why_not_called(const std::string& name);

/// Names of the folders under submissions/, sorted: as strangers wrote them.
std::vector<std::string> submission_names(const std::filesystem::path& root);

/// The challenges that a submission has folders for, in the order of `known`. Throws UserError
/// (exit code 3) for a folder that is no challenge and for a submission without any.
std::vector<std::string> challenges_of(const SubmissionFolder& submission,
                                       const std::vector<std::string>& known);

/// Its model card. Throws UserError (exit code 3) when model.yaml is missing or wrong.
ModelCard model_card_of(const SubmissionFolder& submission);

/// Throws UserError with the nearest known id unless `id` is one of `known`.
void require_challenge(const std::string& id, const std::vector<std::string>& known);

/// The same for the challenge of an entry, "ID" or "ID.SIZE".
void require_entry(const std::string& name, const std::vector<std::string>& known);

/// What a model.yaml's prompt_digest says: of the prompts of all challenges together.
std::string prompts_digest(const std::filesystem::path& root);

}  // namespace gauntlet
