// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/check.h"

namespace gauntlet {

/// What is asked: challenges/<id>/, as its challenge.yaml describes it. The same folder holds
/// contract.h, which a solution is compiled with, and PROMPT.md, which a model is given; for CUDA
/// that is PROMPT.cuda.md, and behind it what challenges/cuda.md says to all of them.
struct Challenge {
  std::string id;
  std::string size;  // empty: the standard one; else one that challenge.yaml names under `sizes`
  std::filesystem::path folder;
  std::string title;
  std::string difficulty;            // "medium", "hard", "extra hard", "research"
  int round = 0;                     // 1..5, the order in which models meet the challenges
  std::vector<std::string> exports;  // functions that a solution must define, extern "C"
  double call_seconds = 10;          // wall-clock limit of one call
  // Of all calls together: see TimeBudget. Of the references, textbook solutions and drafts that we
  // have, the slowest check took 5 s (a race, mostly ours), the slowest of the others 0.8 s, all
  // checks together 8 s. A solution a hundred times slower than a reference needs 43 s and 260 s.
  double check_seconds = 120;
  double cell_seconds = 600;
  std::int64_t memory_mib = 2048;  // private memory of the solution, without the grader's buffers
  std::int64_t arena_mib = 1024;   // address space for one call's inputs, and as much for outputs

  std::vector<std::string> sizes;            // that exist besides the standard one
  std::vector<Device> devices{Device::cpu};  // whose solutions are graded

  std::string entry() const;  // "ID", or "ID.SIZE": see CellKey::column
  bool is_graded_on(Device device) const;
  std::string why_not_on(Device device) const;  // in a sentence; empty where it is graded there

  std::string prompt(Device device) const;
  std::string prompt_digest(Device device) const;  // of prompt and contract.h together
  std::string contract_digest() const;
};

/// Reads challenges/<id>/challenge.yaml under `root` for "ID" or "ID.SIZE"; another size may have
/// other limits. Throws UserError (file, line, key) for bad YAML, and for an unknown challenge or
/// size one with the nearest known name.
Challenge load_challenge(const std::filesystem::path& root, const std::string& entry);

/// Ids of all challenges under `root`, sorted.
std::vector<std::string> challenge_ids(const std::filesystem::path& root);

}  // namespace gauntlet
