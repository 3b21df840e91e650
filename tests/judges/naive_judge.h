// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace gauntlet::test {

/// A judge as people write them in an afternoon: it loads a solution to layernorm_backward into a
/// child process, shares memory with it, asks a few questions and compares. Careful in everything
/// but in the one thing that it is told to trust; "" is careful in everything.
class NaiveJudge {
 public:
  explicit NaiveJudge(std::string trust) : trust_(std::move(trust)) {}

  /// Whether it takes the solution for a correct one, or is brought down by it.
  bool fooled_by(const std::filesystem::path& library) const;

  static std::vector<std::string> known_trusts();

 private:
  std::string trust_;
};

}  // namespace gauntlet::test
