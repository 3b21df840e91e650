#pragma once

#include <string>
#include <vector>

#include "harness/build/build_folder.h"
#include "harness/build/build_steps.h"
#include "harness/build/compiler_messages.h"
#include "harness/build/solution.h"

namespace gauntlet {

/// A macro that a file of a submission's defines or undefines, as far as the text tells: perhaps in
/// a comment or behind a condition that does not hold.
struct OwnMacro {
  std::string name;
  std::string file;
  int line = 0;
  bool takes_arguments = false;
  std::string setting = {};      // when it is a number or nothing: "1", " "
  bool include_follows = false;  // in this file

  /// By its settings a program chooses among the texts of a header; it brings none of its own. The
  /// names that are reserved for the system are no settings, but for the documented ones.
  bool is_setting() const { return !setting.empty(); }
};

/// All of them, but for those of the submission's own names that are only undefined.
std::vector<OwnMacro> own_macros(const std::vector<SolutionSource::File>& files);

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
