#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gauntlet {

/// What is asked: challenges/<id>/, as its challenge.yaml describes it. The same folder holds
/// contract.h, which a solution is compiled with, and PROMPT.md, which a model is given.
struct Challenge {
  std::string id;
  std::filesystem::path folder;
  std::string title;
  std::string difficulty;            // "medium", "hard", "extra hard", "research"
  int round = 0;                     // 1..5, the order in which models meet the challenges
  std::vector<std::string> exports;  // functions that a solution must define, extern "C"
  double call_seconds = 10;          // wall-clock limit of one call
  std::int64_t memory_mib = 2048;    // private memory of the solution, without the grader's buffers
  std::int64_t arena_mib = 1024;     // address space for one call's inputs, and as much for outputs

  std::string prompt_digest() const;  // of PROMPT.md and contract.h together
};

/// Reads challenges/<id>/challenge.yaml under `root`. Throws UserError (file, line, key) for bad
/// YAML, and for an unknown id one with the nearest known name.
Challenge load_challenge(const std::filesystem::path& root, const std::string& id);

/// Ids of all challenges under `root`, sorted.
std::vector<std::string> challenge_ids(const std::filesystem::path& root);

}  // namespace gauntlet
