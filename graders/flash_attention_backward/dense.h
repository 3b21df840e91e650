// SPDX-License-Identifier: Apache-2.0
#pragma once

// GCC 12 finds its own AVX-512 intrinsics uninitialised wherever Eigen's reductions are inlined
// (GCC bug 105593), so this holds for the rest of a file that includes Eigen.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include <span>

#include <Eigen/Core>

#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Whole heads as float64 matrices: no tiles, nothing shared with how a solution works.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Column = Eigen::Matrix<double, Eigen::Dynamic, 1>;

/// The matrix of head `index` of a dense array (counted over batch entries).
Matrix head_matrix(std::span<const float> array, std::int64_t index, std::int64_t rows,
                   std::int64_t columns);

/// The inputs of one query head, with those of the kv head that it reads. Keys that do not exist
/// are zeros.
struct Head {
  Head(const Problem& problem, std::int64_t batch, std::int64_t q_head);

  std::int64_t batch;
  Matrix q, k, v;
};

struct HeadForward {
  Matrix o;
  Column lse;  // -infinity where no key is seen
};
HeadForward attend_head(const kit::AttentionProblem& form, const Head& head);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
