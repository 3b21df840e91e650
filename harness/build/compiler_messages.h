// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

/// True for a file below /usr, where the compiler's own headers are, whatever links its path goes
/// through. A path through /proc or /dev leads anywhere, a submission's folder among others.
bool is_system_file(std::string_view path);

/// One thing that the compiler says, and where.
struct Diagnostic {
  std::string kind;     // "error", "fatal error", "warning", "note"
  std::string file;     // as the compiler names it: "solution.cpp", "/usr/include/c++/12/vector"
  int line = 0;         // 0: nowhere
  int column = 0;       // in bytes, from 1
  std::string message;  // without the option
  std::string option;   // "-Wunused-variable"; empty for most errors

  /// Its place is not in a header of the system. What has no place counts as the submission's.
  bool is_own() const { return !is_system_file(file); }
  bool is_error() const { return kind != "warning" && kind != "note"; }
};

/// A file that the compiler reads, as -H tells it.
struct Included {
  int depth;  // 1: included by the file that is compiled; by the one before it with a depth less
  std::string file;
};

/// What a step of a build printed, taken apart.
struct CompilerOutput {
  std::vector<Diagnostic> diagnostics = {};  // in their order; notes follow what they explain
  std::vector<Included> included = {};       // in their order
  std::string plain = {};                    // all else: of the driver, the assembler, the linker
  bool garbled = false;                      // structured output is not there, or cannot be read
};

/// Takes apart what g++ -H -fdiagnostics-format=json printed.
CompilerOutput read_output(std::string_view output);

/// Warnings that are the submission's own.
std::vector<Diagnostic> own_warnings(const CompilerOutput& output);

/// The name that `#pragma GCC poison` forbids and that this error complains of; empty for others.
std::string poisoned_word(const std::string& message);

/// What was said, for a report: errors first, then the submission's warnings, then the rest, each
/// in its order; safe to print, cut.
std::string tidy_messages(const CompilerOutput& output);

/// The limit that a part of the compiler ran into, from the way g++ words it ("memory", "CPU time",
/// "file size"), or a shortage that may be the machine's. It is read in the plain part, where a
/// source can put words as well: so it decides what is kept, and no verdict.
std::optional<std::string> limit_in(std::string_view plain);

}  // namespace gauntlet
