// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>
#include <string>

#include "harness/core/files.h"
#include "harness/sandbox/run_command.h"
#include "tests/support/text.h"

namespace gauntlet::test {

/// Programs of this machine, run as a compiler would be.
struct Box {
  ScratchFolder folder{"sandbox-test"};
  Limits limits;

  Box() { limits.wall_seconds = 20; }

  CommandResult run(std::vector<std::string> argv) const {
    return run_command({std::move(argv), folder.path()}, limits);
  }
  CommandResult shell(const std::string& script) const { return run({"/bin/sh", "-c", script}); }
  CommandResult perl(const std::string& script) const {
    return run({"/usr/bin/perl", "-e", script});
  }
};

inline int exit_code(const CommandResult& result) {
  const auto* end = std::get_if<Exited>(&result.outcome);
  INFO(describe(result.outcome), " ", result.output);
  REQUIRE(end != nullptr);
  return end->code;
}

}  // namespace gauntlet::test
