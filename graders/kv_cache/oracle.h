// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Results of attention or of a merge, row by row, and how far off they may be.
struct Expected {
  Expected(std::vector<std::int64_t> row_extents, std::int64_t dim);

  std::vector<std::int64_t> row_extents;  // [queries][q_heads] or [rows]
  std::int64_t dim;
  std::vector<double> out;  // [rows][dim]
  std::vector<double> out_allowed;
  std::vector<double> lse;  // [rows]
  std::vector<double> lse_allowed;
};

/// Attention in float64, all keys of a row at once, over what is stored: sequence s holds
/// stored[s], or the first lengths[s] of it. Rows for which `wanted` says no are left out: any
/// finite result is allowed there.
Expected expect(const Setup& setup, const std::vector<Tokens>& stored, const Problem& problem,
                const std::function<bool()>& wanted = {}, const Ids& lengths = {});

/// The merge of all parts in float64.
Expected expect(const Parts& parts);

/// How far what is stored may be from what was appended, number by number: 0 for KV_F32, and
/// infinity for what a NaN or an infinity may spoil.
/// `numbers` are vectors of `dim`, one after the other.
std::vector<double> storage_allowed(const Setup& setup, const std::vector<float>& numbers,
                                    std::int64_t dim);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
