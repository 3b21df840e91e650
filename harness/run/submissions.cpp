// SPDX-License-Identifier: Apache-2.0
#include "harness/run/submissions.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

#include "harness/build/challenge.h"
#include "harness/build/solution.h"
#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/names.h"
#include "harness/core/text.h"
#include "harness/store/result_store.h"

namespace gauntlet {

namespace fs = std::filesystem;

std::vector<std::string> submission_names(const fs::path& workspace) {
  return folder_names(workspace / "submissions");
}

std::string why_not_called(const std::string& name) {
  if (name != kReferenceName) return why_no_submission_name(name);
  return "'reference' is no name for a submission: our own solutions have it; rename its folder";
}

namespace {

constexpr std::string_view kAttempts = "attempts";

/// Whether a folder can have an entry of this name.
bool is_file_name(const std::string& word) {
  return !word.empty() && word != "." && word != ".." && word.find('/') == std::string::npos;
}

/// Of the first attempt.
SubmissionFolder find_folder(const Folders& folders, const std::string& word) {
  const fs::path reference = folders.data / "reference";
  if (word == kReferenceName) return {word, reference};
  fs::path folder = folders.workspace / "submissions" / word;
  if (!is_file_name(word) || !fs::is_directory(folder)) folder = fs::absolute(word);
  folder = folder.lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "submissions/bravo/"
  if (word.empty() || !fs::is_directory(folder)) {
    std::vector<std::string> known = submission_names(folders.workspace);
    std::erase_if(known, [](const std::string& name) { return !why_not_called(name).empty(); });
    throw UserError(fmt::format("no submission '{}': it is no folder, and submissions/ has {}{}",
                                printable(word, 80), sentence_list(known),
                                did_you_mean(folder.filename().string(), known)));
  }
  if (fs::equivalent(folder, reference)) return {std::string(kReferenceName), folder};
  return {folder.filename().string(), folder};
}

/// What a folder's name and its files say. "first@cuda" is beside "first", whatever device that is
/// for.
SolutionFolder solution_in(const fs::path& folder, const std::vector<std::string>& known) {
  const std::string name = folder.filename();
  for (const std::string& id : known) {
    if (name == id) return {id, device_of(folder), folder};
    for (const Device device : kAllDevices)
      if (device != Device::cpu && name == fmt::format("{}@{}", id, name_of(device)))
        return {id, device, folder};
  }
  throw UserError(
      fmt::format("{}: folder '{}' is no challenge{}; known: {}", folder.parent_path().string(),
                  printable(name, 80), did_you_mean(name, known), sentence_list(known)),
      kExitInvalidSubmission);
}

/// "submissions/bravo/attempts/2" is bravo's second attempt.
void recognise_attempt(SubmissionFolder& found) {
  const fs::path attempts = found.folder.parent_path();
  if (attempts.filename() != kAttempts) return;
  found.attempt = CellKey::of("#" + found.name).attempt;
  found.name = attempts.parent_path().filename().string();
}

}  // namespace

SubmissionFolder find_submission(const Folders& folders, const std::string& word) {
  const std::size_t last = word.rfind('/') + 1;  // 0 where there is none
  const CellKey named = CellKey::of(word.substr(last));
  SubmissionFolder found = find_folder(folders, word.substr(0, last) + named.submission);
  recognise_attempt(found);
  if (named.attempt > 1) {
    found.attempt = named.attempt;
    found.folder = found.folder / kAttempts / std::to_string(named.attempt);
    if (!fs::is_directory(found.folder))
      throw UserError(fmt::format("{} has no attempt {}: {} is no folder", found.name,
                                  named.attempt, one_line(found.folder.string(), 400)));
  }
  found.device = named.device;
  if (found.is_reference()) return found;
  if (const std::string why = why_not_called(found.name); !why.empty())
    throw UserError(fmt::format("{}: {}", one_line(found.folder.string(), 400), why),
                    kExitInvalidSubmission);
  return found;
}

std::vector<SolutionFolder> solutions_of(const SubmissionFolder& submission,
                                         const std::vector<std::string>& known) {
  std::vector<SolutionFolder> found;
  for (const std::string& name : folder_names(submission.folder)) {
    if (submission.attempt == 1 && name == kAttempts) continue;
    found.push_back(solution_in(submission.folder / name, known));
  }
  if (found.empty())
    throw UserError(fmt::format("{}: has no solution: a solution to a challenge is "
                                "<challenge>/solution.cpp or <challenge>/solution.cu; known "
                                "challenges: {}",
                                submission.folder.string(), sentence_list(known)),
                    kExitInvalidSubmission);
  const auto order = [&](const SolutionFolder& one) {
    return std::tuple(std::ranges::find(known, one.challenge), one.device);
  };
  std::ranges::stable_sort(found, {}, order);
  if (const auto twice = std::ranges::adjacent_find(found, {}, order); twice != found.end())
    throw UserError(
        fmt::format("{} and {} are both for {} on {}; keep one of them", twice->folder.string(),
                    (twice + 1)->folder.string(), twice->challenge, name_of(twice->device)),
        kExitInvalidSubmission);
  return found;
}

fs::path solution_folder(const SubmissionFolder& submission, const CellKey& key) {
  const fs::path usual = submission.folder / key.challenge;
  if (key.device == Device::cpu) return usual;
  const fs::path beside =
      submission.folder / fmt::format("{}@{}", key.challenge, name_of(key.device));
  return fs::is_directory(beside) ? beside : usual;
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

CellKey cell_named(const SubmissionFolder& submission, const std::string& column,
                   const std::vector<std::string>& known) {
  CellKey key = CellKey::of(submission.key().row(), column);
  require_challenge(key.challenge, known);
  return key;
}

std::string prompts_digest(const fs::path& data, const std::vector<Device>& devices) {
  Digest digest;
  for (const Device device : devices)
    for (const std::string& id : challenge_ids(data)) {
      const Challenge challenge = load_challenge(data, id);
      if (!challenge.is_graded_on(device)) continue;
      const CellKey key{"", id, "", device};
      digest.add(key.entry(), challenge.prompt_digest(device));
    }
  return digest.hex();
}

}  // namespace gauntlet
