#pragma once

#include <optional>
#include <vector>

#include "ask.h"
#include "harness/core/finding.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

inline constexpr int kSampledRows = 10;  // of dq, and of dk with dv

/// Some rows of dq, and of dk with dv, computed pair by pair in float64: for inputs that are too
/// large to compute as a whole. Only problems without softcap and dlse.
class Samples {
 public:
  /// Draws `rows` rows of each. The problem's tensors are read here and not kept.
  Samples(const Problem& problem, Rng& rng, int rows);

  std::optional<Miss> miss(const Answer& got) const;

 private:
  struct Row {
    const char* name;
    std::vector<float> Answer::*part;
    std::int64_t index;
    std::vector<double> value, bound;
  };

  void add_query(const Problem& problem, Rng& rng, double longest_key);
  void add_key(const Problem& problem, Rng& rng, double longest_key);

  std::vector<Row> rows_;
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
