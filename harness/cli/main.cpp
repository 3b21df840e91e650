// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <unistd.h>

#include "harness/cli/app.h"
#include "harness/cli/installation.h"
#include "harness/sandbox/harden.h"

int main(int argc, char** argv) {
  gauntlet::harden_this_process();
  const auto environment = [](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return std::string(value ? value : "");
  };
  const auto found =
      gauntlet::find_installation(std::filesystem::read_symlink("/proc/self/exe").parent_path(),
                                  GAUNTLET_DATA_FROM_BIN, GAUNTLET_PROGRAMS_FROM_BIN);
  const gauntlet::Program program{
      found.data,      found.programs, GAUNTLET_VERSION,           environment,
      std::cout,       std::cerr,      isatty(STDOUT_FILENO) != 0, isatty(STDERR_FILENO) != 0,
      found.installed, GAUNTLET_BUILD, GAUNTLET_RELEASED};
  return gauntlet::run_program(program, {argv + 1, argv + argc});
}
