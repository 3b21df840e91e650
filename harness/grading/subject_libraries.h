// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/build/solution.h"
#include "harness/core/files.h"

namespace gauntlet {

using Subjects = std::vector<std::pair<std::string, const SolutionSource*>>;

/// The assembly text of each, compiled on all cores where the cache does not have it. `busy` is
/// told what is being compiled. Throws Broken for a subject that does not build.
std::vector<std::string> assemblies_of(const Subjects& subjects, const Challenge& challenge,
                                       const std::filesystem::path& cache,
                                       const std::function<void(const std::string&)>& busy);

/// Solutions that strange tests are linked with, as libraries in which the tests cannot know them
/// again. Each library holds the code and the constants of all of them, and the libraries differ in
/// nothing but where the contract's functions lead. What they hold in common is drawn anew for each
/// object of this class: names, order, and the bytes of every function (see Disguise), so that
/// neither what is public nor what an earlier grade told says which one it is.
///
/// The tests share an address space with the solution, and this has a bound: who disassembles what
/// the contract's functions reach, or steps through it, can compare instructions.
class SubjectLibraries {
 public:
  /// Compiles each to assembly, which is kept under `cache`; then assembles and links, which is
  /// not. `busy` is told what is being compiled. Throws Broken for a subject that does not build.
  SubjectLibraries(const Subjects& subjects, const Challenge& challenge,
                   const std::filesystem::path& cache,
                   const std::function<void(const std::string&)>& busy);

  std::filesystem::path library(std::size_t subject) const;

 private:
  ScratchFolder folder_{"subjects"};
};

}  // namespace gauntlet
