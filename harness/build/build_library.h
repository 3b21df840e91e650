// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/build/build_folder.h"
#include "harness/build/build_steps.h"
#include "harness/build/compiler_messages.h"
#include "harness/build/solution.h"
#include "harness/build/toolchain.h"

namespace gauntlet {

/// What is included before each file, and the same as the compiler keeps what it has read; both may
/// be nothing.
struct FirstHeader {
  std::string text = {};
  std::filesystem::path precompiled = {};
};

/// What a solution's files can be made into.
struct Recipe {
  std::string_view name;  // in the cache's keys
  std::vector<std::string> Toolchain::*flags;
  bool (*compiles)(std::string_view file);  // of the files that the toolchain compiles
  bool warnings_count;
  bool links;  // else the compiler leaves assembly, file by file
};

// Raised when the steps change in what they make or tell.
inline constexpr std::string_view kSteps =
    "6: compiler and assembler apart, searched with the compiler's own command, headers too";

/// The way from a solution's files to its library. Our own faults, and the machine's, are these and
/// no others; each is seen by us, not read in what the compiler says, and none is kept:
///   - the temporary folder has too little room when the build begins, or later has less than the
///     build may still use; a file of ours meets a quota or an input/output error there;
///   - a process of ours cannot be started (`Unstarted`);
///   - the compiler fails on an empty source as well;
///   - what was built cannot be read, the cache cannot be written.
/// All else that ends a build is the source's doing: limits, bombs, and whatever words it prints.
class LibraryBuild {
 public:
  LibraryBuild(const Recipe& recipe, const SolutionSource& source, std::string contract,
               const BuildTerms& terms, FirstHeader first_header = {});

  void run();

  const BuildRecord& record() const { return record_; }
  const std::string& library() const { return library_; }

 private:
  /// One compiled file on its way.
  struct Part {
    std::string file;
    std::string assembly;
    std::string object;
    std::vector<Included> read = {};  // by its compilation
  };

  std::vector<std::string> command(const std::vector<std::string>& more) const;
  std::vector<std::string> compile_command(const Part& part) const;
  bool compile(Part& part);
  bool assemble(const Part& part);
  bool link();
  void take_product();
  void look_for_silencers();

  const Recipe& recipe_;
  const Toolchain& tools_;
  const SolutionSource& source_;
  std::string contract_;
  FirstHeader first_header_;
  BuildFolder folder_;
  BuildSteps steps_;
  const std::string first_name_ = folder_.new_name("first.h");
  const std::string library_name_ = folder_.new_name("library.so");
  std::vector<Part> parts_;
  CompilerOutput said_;
  BuildRecord record_;
  std::string library_;
};

}  // namespace gauntlet
