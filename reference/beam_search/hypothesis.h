// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a search keeps of each item. Hypotheses are back-pointers into a list of (parent, token)
// that only grows.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "contract.h"

struct Node {
  std::int64_t parent;
  std::int32_t token;
};

struct Hypothesis {
  std::int64_t node = -1;  // -1: no token yet
  std::int64_t length = 0;
  double log_prob = 0;
  double score = 0;
  std::uint64_t state = 0;
  bool finished = false;
};

struct Extension {
  double key;  // what extensions are ordered by
  double log_prob;
  std::int64_t rank;
  std::int32_t token;  // -1: a finished slot as it is
};

inline bool before(const Extension& a, const Extension& b) {
  if (a.key != b.key) return a.key > b.key;
  return a.rank != b.rank ? a.rank < b.rank : a.token < b.token;
}

/// An open hypothesis and the log-probs of its extensions.
struct Row {
  double base;
  std::int64_t rank;
  const float* log_probs;
  float* maxima;  // of its blocks
};

struct Item {
  std::vector<Node> nodes;
  std::vector<Hypothesis> open;      // POOLED: the slots, finished ones as well
  std::vector<Hypothesis> finished;  // SEPARATE
  std::vector<Row> rows;
  std::int64_t steps = 0;
  bool done = false;
};

inline double penalty(const BeamArgs& args, std::int64_t length) {
  const auto n = static_cast<double>(length);
  if (args.penalty == BEAM_PENALTY_LENGTH) return std::pow(n, args.alpha);
  if (args.penalty == BEAM_PENALTY_GNMT) return std::pow((5 + n) / 6, args.alpha);
  return 1;
}

inline bool is_eos(const BeamArgs& args, std::int32_t token) {
  return std::find(args.eos, args.eos + args.eos_count, token) != args.eos + args.eos_count;
}
