// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/check.h"

namespace gauntlet {

/// The C++ compiler of this machine.
struct Compiler {
  std::string path;     // "/usr/bin/g++"
  std::string version;  // "g++ (Debian 12.2.0-14+deb12u1) 12.2.0"
  std::string machine;  // what -march=native means here: the CPU's name and features
  std::vector<std::filesystem::path> folders =
      {};  // its own, where it lies in none of the system's
};

/// Found and asked once a process. Throws Broken when there is no g++.
const Compiler& compiler();

/// The clang that compiles both halves of a CUDA solution. The same.
const Compiler& cuda_compiler();

/// How solutions for one device become libraries: which of their files are code, what compiles
/// them, and with which fixed flags.
struct Toolchain {
  Device device;
  const Compiler& (*compiler)();
  std::string_view language;                // as the compiler's -x has it
  std::string_view first_file;              // where a solution starts; each has one
  std::vector<std::string_view> compiled;   // endings of files that are compiled one by one
  std::vector<std::string_view> included;   // endings of files that those include
  std::vector<std::string> solution_flags;  // of every solution of every challenge
  std::vector<std::string> test_flags;     // its own tests leave the contract's functions undefined
  std::vector<std::string> subject_flags;  // of solutions of ours that are put to tests

  /// What those include of the system's, from small to large: the first set that has all which a
  /// subject includes of the last one stands before it. To read the last one takes 90 ms, the one
  /// before it 30 ms, and most subjects take 100 to 300 ms.
  std::vector<std::vector<std::string_view>> subject_headers;

  /// What a solution is built with, in words: for its record, and for the keys by which builds and
  /// grades are used again.
  std::string (*flags_in_words)(const Toolchain& tools);

  bool compiles(std::string_view file) const;
  bool is_code(std::string_view file) const;
};

const Toolchain& toolchain(Device device);

}  // namespace gauntlet
