// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/ci/changed_submissions.h"

namespace gauntlet {

/// What git knows of a checkout. git is asked with no configuration but the repository's own: a
/// submission can put no program of its choice into our hands.
class CheckoutHistory {
 public:
  /// Throws UserError where the folder is no checkout of its own, and for a `base` that is no
  /// commit or has no common ancestor with what is checked out.
  CheckoutHistory(const std::filesystem::path& root, std::string base);

  /// The merge base of `base` and what is checked out.
  const std::string& fork_point() const { return fork_point_; }

  /// What lies in the checkout otherwise than at the fork point, committed or not.
  ChangedFiles changes() const;

  /// Writes the files below `folder` in the commit `base`, without folders in it, into `target`.
  /// Returns how many there were.
  int extract(const std::string& folder, const std::filesystem::path& target) const;

 private:
  std::string ask(const std::vector<std::string>& arguments, const std::string& trouble) const;

  std::filesystem::path root_;
  std::string base_;
  std::string base_commit_;
  std::string fork_point_;
};

}  // namespace gauntlet
