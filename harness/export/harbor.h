// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/build/challenge.h"
#include "harness/build/solution.h"

namespace gauntlet {

/// A file of a task, by its path in the task's folder.
struct TaskFile {
  std::filesystem::path path;
  std::string content;
  bool program = false;  // may be executed
};

/// What an export lets one choose.
struct HarborTerms {
  std::string image;                       // that has Gauntlet, for the verifier
  std::string program;                     // where Gauntlet is in that image
  bool speed = true;                       // race the solution
  bool weaker_sandbox = false;             // be content with the walls that the container leaves
  int agent_seconds = 0;                   // how long an agent may work
  std::string version;                     // of Gauntlet
  std::string grader_digest;               // of the grader that the exporting program has
  std::string token;                       // that tells the verifier's container from the agent's
  const SolutionSource* oracle = nullptr;  // what Harbor's oracle hands in; null: there is none
};

/// A challenge as a task of Harbor (harborframework.com): the agent's container with the compiler
/// and the contract, and a verifier in a container of its own that runs Gauntlet. A pure function.
std::vector<TaskFile> harbor_task(const Challenge& challenge, const HarborTerms& terms);

/// Why an image's name or a program's path could not be written into a Dockerfile or a script;
/// empty when it can.
std::string why_no_image(std::string_view name);
std::string why_no_program(std::string_view path);

}  // namespace gauntlet
