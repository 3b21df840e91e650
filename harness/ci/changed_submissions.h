// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

/// What became of a submission between two states of a checkout.
enum class SubmissionChange { added, edited, renamed, removed, unchanged };

std::string_view name_of(SubmissionChange change);

/// One attempt of a submission of which a file changed.
struct ChangedSubmission {
  std::string name;  // its folder's, as hostile as a stranger likes
  std::string attempt = "1";
  SubmissionChange change = SubmissionChange::edited;
  std::string renamed_from = {};  // the generation that its files were moved from

  /// "bravo#2": CellKey::generation(), where the names are in order.
  std::string generation() const { return attempt == "1" ? name : name + "#" + attempt; }
  /// Where it is, or was: "submissions/bravo/attempts/2".
  std::string folder() const;
};

struct ChangedFiles {
  std::vector<ChangedSubmission> submissions;  // by name, then attempt
  int outside = 0;  // changed files that belong to no submission; these grade nothing
};

/// What is known of both states besides the changes themselves.
struct CheckoutStates {
  std::function<bool(const std::string& folder)> existed;  // "submissions/bravo"
  std::function<bool(const std::string& folder)> exists;
};

/// Reads what `git diff --name-status -z` printed, and the paths of files that git does not know
/// yet, each ended by a zero byte. A submission whose folder is new and holds files of a folder
/// that is gone was renamed. Throws Broken for text that git does not print.
ChangedFiles changed_files(std::string_view name_status, std::string_view untracked,
                           const CheckoutStates& states);

}  // namespace gauntlet
