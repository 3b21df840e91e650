// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/run/folders.h"
#include "harness/score/board.h"
#include "harness/store/model_card.h"

namespace gauntlet {

/// A submission on disk: submissions/<name>/, a folder elsewhere, or reference/. Attempts after the
/// first have a folder each below it, attempts/2/ and so on, with a model.yaml of their own.
struct SubmissionFolder {
  std::string name;
  std::filesystem::path folder;
  int attempt = 1;
  Device device = Device::cpu;  // that was named with it; the CPU where none was

  bool is_reference() const { return name == kReferenceName; }
  CellKey key() const { return {name, "", "", device, attempt}; }
};

/// Finds a submission by name or by folder, "bravo", "bravo#2" for its second attempt,
/// "bravo@cuda" for what it does on that device. Throws UserError with the nearest known name.
SubmissionFolder find_submission(const Folders& folders, const std::string& word);

/// Why nobody's submission can have this name; empty when one can.
std::string why_not_called(const std::string& name);

/// Names of the folders under submissions/ of a workspace, sorted: as strangers wrote them.
std::vector<std::string> submission_names(const std::filesystem::path& workspace);

/// A solution of a submission: in the folder <challenge>/, or, for another device than the CPU, in
/// <challenge>@<device>/ as well, beside that for the CPU.
struct SolutionFolder {
  std::string challenge;
  Device device = Device::cpu;
  std::filesystem::path folder;
};

/// The solutions that a submission has folders for, in the order of `known` and, for one challenge,
/// of the devices. Throws UserError (exit code 3) for a folder that is no challenge, for two
/// solutions of one challenge for the same device and for a submission without any.
std::vector<SolutionFolder> solutions_of(const SubmissionFolder& submission,
                                         const std::vector<std::string>& known);

/// Where the solution is that this cell of the submission is about, if there is one.
std::filesystem::path solution_folder(const SubmissionFolder& submission, const CellKey& key);

/// Its model card. Throws UserError (exit code 3) when model.yaml is missing or wrong.
ModelCard model_card_of(const SubmissionFolder& submission);

/// Throws UserError with the nearest known id unless `id` is one of `known`.
void require_challenge(const std::string& id, const std::vector<std::string>& known);

/// The cell of a submission that "ID", "ID.SIZE" or either with "@DEVICE" names. Throws UserError
/// for a challenge that is not known.
CellKey cell_named(const SubmissionFolder& submission, const std::string& column,
                   const std::vector<std::string>& known);

/// What a model.yaml's prompt_digest says: of the prompts of all challenges together that are
/// graded on these devices.
std::string prompts_digest(const std::filesystem::path& data, const std::vector<Device>& devices);

}  // namespace gauntlet
