#pragma once

#include <cstdint>
#include <vector>

#include "graders/kit/attention.h"
#include "harness/core/rng.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// One input. All arrays are dense: [batch][heads][rows][columns], lse and dlse
/// [batch][heads][rows].
struct Problem {
  kit::AttentionProblem form;  // sizes, scale, softcap and mask; its views stay empty
  std::vector<float> q, k, v, dout;
  std::vector<float> o, lse;  // what the forward pass left: see attend()
  std::vector<float> dlse;    // empty: none

  std::int64_t q_rows() const { return form.batch * form.q_heads * form.q_len; }
  std::int64_t k_rows() const { return form.batch * form.kv_heads * form.k_len; }

  float* q_row(std::int64_t batch, std::int64_t head, std::int64_t i);
  float* k_row(std::int64_t batch, std::int64_t head, std::int64_t j);
  float* v_row(std::int64_t batch, std::int64_t head, std::int64_t j);
  float* dout_row(std::int64_t batch, std::int64_t head, std::int64_t i);
};

struct Sizes {
  std::int64_t batch = 1, q_heads = 1, kv_heads = 1, q_len = 1, k_len = 1, dim = 64, value_dim = 64;
};

/// Normal numbers in q, k, v and dout; scores have about this standard deviation, which decides how
/// few keys share most of a row's weight. scale is near 1 / sqrt(dim).
Problem random_problem(Rng& rng, const Sizes& sizes, double score_deviation = 3);

/// Fills o and lse from the rest, in float64, rounded to float32.
void attend(Problem& problem);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
