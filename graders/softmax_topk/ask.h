#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cases.h"
#include "contract.h"
#include "harness/grading/probe.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What a solution wrote. lse and row_max are empty where they were not asked for.
struct Answer {
  std::vector<std::int32_t> indices;
  std::vector<float> probs, lse, row_max;
};

/// The scalar arguments of a problem, every pointer null.
SoftmaxTopkArgs scalars_of(const Problem& problem);

/// A call with everything named, ready to run, and what it will write.
struct Asked {
  /// `without` names an array whose pointer stays null though it has to be there.
  explicit Asked(const Problem& problem, std::string_view without = {});
  Answer answer() const;

  Call<SoftmaxTopkArgs> call;
  std::optional<Output<std::int32_t>> indices;
  std::optional<Output<float>> probs, lse, row_max;
};

/// Runs the call, which must succeed.
Answer ask(Probe& probe, const Problem& problem);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
