// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/build/build_folder.h"
#include "harness/build/build_steps.h"
#include "harness/build/compiler_messages.h"
#include "harness/build/own_macros.h"
#include "harness/build/solution.h"

namespace gauntlet {

/// A system header that expands a submission's macro takes in text of the submission's, and a
/// warning about that text has its place in the header, where nobody counts it; a pragma in it does
/// as well. The compiler tells where: it reads the headers that a compilation read, in their order,
/// and none of the submission's files, while the submission's macros are errors when expanded.
class HeaderMacros {
 public:
  HeaderMacros(const std::vector<SolutionSource::File>& files, const std::string& contract,
               BuildFolder& folder, BuildSteps& steps)
      : all_(own_macros(files)), contract_(contract), folder_(folder), steps_(steps) {}

  /// Looks into what the compilation of this file read (-H), with the compiler and its flags.
  void look(const std::string& file, const std::vector<Included>& read,
            const std::vector<std::string>& compiler_and_flags);

  const std::vector<Diagnostic>& found() const { return found_; }

 private:
  CompilerOutput search(const std::string& text, std::vector<std::string> compiler_and_flags);

  std::vector<OwnMacro> all_;
  const std::string& contract_;
  BuildFolder& folder_;
  BuildSteps& steps_;
  std::vector<Diagnostic> found_;
};

}  // namespace gauntlet
