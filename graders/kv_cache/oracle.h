#pragma once

#include <functional>
#include <vector>

#include "cases.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Results of attention or of a merge, row by row, and how far off they may be.
struct Expected {
  std::vector<double> out;  // [rows][value_dim]
  std::vector<double> out_allowed;
  std::vector<double> lse;  // [rows]
  std::vector<double> lse_allowed;
};

/// Attention in float64, all keys of a row at once, over what is stored: sequence s holds
/// stored[s], or the first lengths[s] of it. Rows for which `wanted` says no are left out: any
/// finite result is allowed there.
Expected expect_attention(const Setup& setup, const std::vector<Tokens>& stored,
                          const Question& question, const std::function<bool()>& wanted = {},
                          const Ids& lengths = {});

/// Partial results to be joined: out is [parts][rows][dim], lse [parts][rows].
struct Parts {
  std::int64_t parts = 0;
  std::int64_t rows = 0;
  std::int64_t dim = 1;
  std::vector<float> out;
  std::vector<float> lse;
};
Expected expect_merge(const Parts& parts);

/// How far what is stored may be from what was appended, number by number; 0 for KV_F32.
/// `numbers` are vectors of `dim`, one after the other.
std::vector<double> storage_allowed(const Setup& setup, const std::vector<float>& numbers,
                                    std::int64_t dim);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
