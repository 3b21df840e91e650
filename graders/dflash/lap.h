// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "harness/core/rng.h"
#include "harness/grading/probe.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A batch of big trees over a big vocabulary for timed laps, with its answers. Nothing here goes
/// through a Language: the target's choices are drawn row by row, and logits are made to have them.
class LapTrees {
 public:
  struct Sizes {
    std::int64_t trees;
    std::int64_t nodes;    // of each tree
    std::int64_t correct;  // nodes of each tree that are accepted, in chains: on the average
    std::int64_t vocab;
    bool chains = false;
  };

  explicit LapTrees(const Sizes& sizes);

  /// Draws new trees, choices and logits. A row's largest logit stands anywhere and ends a ladder
  /// of logits that are one float apart, of which drafted tokens may be one: no part of a row can
  /// be skipped. Chains come in pairs that have 2 * correct accepted nodes together, however many
  /// of these are one's: of one pair, all in one and none in the other. What is left to presume is
  /// nothing, and the work is always the same.
  void renew(Rng& rng);

  /// Verifies all trees and compares every token and node.
  Lap run(Session& session) const;

  const std::vector<std::int64_t>& node_start() const { return node_start_; }
  const std::vector<std::int32_t>& parent() const { return parent_; }
  const std::vector<std::int32_t>& token() const { return token_; }
  const std::vector<float>& logits() const { return logits_; }
  const std::vector<Walk>& walks() const { return walks_; }

 private:
  std::vector<std::int32_t> draw_ladder(Rng& rng) const;
  std::vector<std::int64_t> draw_ends(Rng& rng) const;
  std::vector<std::int64_t> draw_path(Rng& rng, std::int64_t correct) const;
  void draw_tree(Rng& rng, std::int64_t correct);
  void write_row(std::size_t row, Rng& rng);

  Sizes sizes_;
  std::vector<std::int64_t> node_start_{0};
  std::vector<std::int32_t> parent_;
  std::vector<std::int32_t> token_;
  std::vector<std::vector<std::int32_t>> ladders_;  // of each row; the last place wins
  std::vector<float> logits_;
  std::vector<Walk> walks_;
};

/// Trees for timed building, and what their masks and positions are.
class LapMasks {
 public:
  static constexpr std::int64_t kTrees = 1024;
  static constexpr std::int64_t kNodes = 255;
  static constexpr std::int64_t kWords = 4;

  explicit LapMasks(Rng& rng);

  /// Builds all masks and compares every word and position.
  Lap run(Session& session) const;

 private:
  void add_row(std::int64_t t, std::int64_t node);

  std::vector<std::int64_t> node_start_{0};
  std::vector<std::int64_t> context_length_;
  std::vector<std::int32_t> parent_;
  std::vector<std::uint64_t> mask_;
  std::vector<std::int64_t> position_;
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
