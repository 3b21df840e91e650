// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/build/build_folder.h"
#include "harness/build/build_steps.h"
#include "harness/build/silencing.h"

namespace gauntlet {

/// The search for silencers (silencing.h) in files that were compiled. What the compiler reads may
/// depend on what it is asked to do, on which files are there and on which descriptors are open:
/// a search in other circumstances would go by other text. So it is the same command in the same
/// folder, to the last name. Only the file that is included first is another, each file has an end
/// that makes the compiler give up once it has read all, and line directives are misspelt.
class SilencerSearch {
 public:
  SilencerSearch(const std::vector<SolutionSource::File>& files, const std::string& contract,
                 BuildFolder& folder, BuildSteps& steps);

  /// Makes the file that is included first what tells the silencers.
  void fill(const std::string& first_name);

  /// Looks into what this command reads, which compiles this file.
  void go_through(const std::string& file, std::vector<std::string> command);

  const std::vector<Diagnostic>& found() const { return found_; }

 private:
  const std::vector<SolutionSource::File>& files_;
  BuildFolder& folder_;
  BuildSteps& steps_;
  std::string contract_;
  std::vector<Diagnostic> found_;
};

}  // namespace gauntlet
