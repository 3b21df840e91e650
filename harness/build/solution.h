// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/build/challenge.h"
#include "harness/core/check.h"
#include "harness/sandbox/limits.h"
#include "harness/sandbox/walls.h"
#include "harness/store/observation.h"

namespace gauntlet {

/// A solution's files as they were handed in, held in memory so that nothing can change between
/// hashing and compiling. Names are kept for messages only; the build uses names of its own.
struct SolutionSource {
  // Its own tests, which are no part of the library.
  static constexpr std::string_view kTests = "tests.cpp";
  // What it says of itself, to be measured.
  static constexpr std::string_view kClaims = "claims.yaml";

  struct File {
    std::string name;  // relative, "solution.cpp", "detail/tiles.h"
    std::string content;
  };
  std::vector<File> files;
  Device device = Device::cpu;
  std::optional<std::string> claims;  // the text of its claims.yaml, which is not compiled

  std::string digest() const;
  std::vector<FileDigest> file_digests() const;  // claims.yaml too
  bool has_tests() const;
};

/// For which device the solution in a folder is, by the file that it starts with: solution.cpp or
/// solution.cu; the CPU where there is neither. Throws UserError (exit code 3) for a folder with
/// both.
Device device_of(const std::filesystem::path& folder);

/// Reads every C++ or CUDA file of submissions/<model>/<id>/, and its claims.yaml as text. It is a
/// solution for the device whose first file is there: solution.cpp or solution.cu. Throws UserError
/// (exit code 3), naming file and rule, for a folder with neither or both, a symbolic link, a
/// foreign file type or too much text.
SolutionSource read_solution(const std::filesystem::path& folder);

/// A solution compiled to a shared object, or the compiler's reasons why not.
struct BuiltSolution {
  BuildRecord record;
  std::filesystem::path library;       // empty unless record.ok
  std::filesystem::path kernels = {};  // of a CUDA solution: its device's half, PTX; else empty

  /// Of all that runs: the library's SHA-256; where there are kernels, one over both. Empty where
  /// nothing was built.
  std::string digest() const;
};

/// What a compilation may use, and the walls around it. It is the processor's time that counts: at
/// a load of ten, a compiler that needs six seconds of it takes a minute of the clock.
struct BuildTerms {
  Limits limits = {.wall_seconds = 240, .cpu_seconds = 50};
  Walls walls = {};
};

/// Compiles inside the sandbox with a fixed command line, against the challenge's contract.h and
/// nothing else of ours, but for the CUDA runtime of a CUDA solution. Results
/// are kept under `cache`, by digest of everything they depend on.
BuiltSolution build_solution(const SolutionSource& source, const Challenge& challenge,
                             const std::filesystem::path& cache, const BuildTerms& terms = {});

/// Whether a build of it is kept, of which build_solution would make use.
bool is_built(const SolutionSource& source, const Challenge& challenge,
              const std::filesystem::path& cache);

/// Compiles the solution's tests.cpp alone, with its headers, in the same way. The contract's
/// functions stay undefined: whoever loads the library decides which solution they are of.
BuiltSolution build_tests(const SolutionSource& source, const Challenge& challenge,
                          const std::filesystem::path& cache);

/// Subjects are solutions of ours that are known to be right or wrong, and that nobody times. They
/// are compiled lightly, and once for all purposes: to assembly text, of which `library` is a file
/// with one part for each .cpp file, ended by kPartEnd; these have different names.
inline constexpr char kPartEnd = '\f';
BuiltSolution build_assembly(const SolutionSource& subject, const Challenge& challenge,
                             const std::filesystem::path& cache);

/// The library that is made of that text.
BuiltSolution build_subject(const SolutionSource& subject, const Challenge& challenge,
                            const std::filesystem::path& cache);

}  // namespace gauntlet
