// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "harness/cli/environment.h"

namespace gauntlet {

/// What the program knows about itself, and the streams it talks to.
struct Program {
  std::filesystem::path root;    // the checkout it was built from, or its installed data
  std::filesystem::path folder;  // that gauntlet-worker lies in
  std::string version;
  Environment environment;
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool installed = false;
  std::string build = {};     // how it was built, a phrase
  std::string released = {};  // "November 24, 2026", as mdoc writes a date
};

/// Runs one command line, without the program's name, and returns the exit code. The answer goes to
/// `out`, all else to `err`; with --json, `out` gets exactly one document, also on failure.
int run_program(const Program& program, const std::vector<std::string>& arguments);

}  // namespace gauntlet
