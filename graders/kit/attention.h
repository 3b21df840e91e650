// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gauntlet::kit {

/// Rows of adjacent floats, addressed [batch][head][row]. Strides are in elements; a stride of 0
/// repeats the same rows.
struct RowsView {
  const float* data = nullptr;
  std::int64_t batch_stride = 0;
  std::int64_t head_stride = 0;
  std::int64_t row_stride = 0;

  const float* row(std::int64_t batch, std::int64_t head, std::int64_t index) const {
    return data + batch * batch_stride + head * head_stride + index * row_stride;
  }
};

/// Keys first <= j < last.
struct KeyRange {
  std::int64_t first = 0;
  std::int64_t last = 0;

  bool empty() const { return first >= last; }
  std::int64_t size() const { return empty() ? 0 : last - first; }
};

/// What a generator of attention inputs is asked for.
struct AttentionSizes {
  std::int64_t batch = 1, q_heads = 1, kv_heads = 1, q_len = 1, k_len = 1, dim = 64, value_dim = 64;
};

/// Masked attention, as every attention challenge understands it:
///   s_ij = cap(scale * q_i . k_j),  cap(x) = softcap tanh(x / softcap), or x when softcap is 0
///   o_i = sum_j softmax_j(s_ij) v_j,  lse_i = ln sum_j exp(s_ij)
/// Keys kv_start <= j < kv_start + kv_len exist. The last query stands at the last existing key
/// (bottom-right): query i stands at p = i + kv_start + kv_len - q_len. It sees the existing keys
/// with p - window_left <= j <= p + window_right, -1 meaning no limit; causal adds j <= p.
struct AttentionProblem {
  std::int64_t batch = 1;
  std::int64_t q_heads = 1;
  std::int64_t kv_heads = 1;  // divides q_heads; query head h reads head h / (q_heads / kv_heads)
  std::int64_t q_len = 0;
  std::int64_t k_len = 0;
  std::int64_t dim = 1;        // of q and k
  std::int64_t value_dim = 1;  // of v and o
  RowsView q, k, v;
  double scale = 1;
  double softcap = 0;
  bool causal = false;
  std::int64_t window_left = -1;
  std::int64_t window_right = -1;
  std::vector<std::int32_t> kv_start;  // per batch entry; empty: 0
  std::vector<std::int32_t> kv_len;    // per batch entry; empty: k_len - kv_start

  std::int64_t kv_head(std::int64_t q_head) const { return q_head / (q_heads / kv_heads); }
  KeyRange existing_keys(std::int64_t batch_entry) const;
  KeyRange visible_keys(std::int64_t batch_entry, std::int64_t query) const;
};

/// These sizes, no mask, scale 1 / sqrt(dim) as a float: contracts have it so, and the oracle must
/// use the same number.
AttentionProblem with_sizes(const AttentionSizes& sizes);

/// How many pairs of a query and a key count, over all query heads.
double visible_pairs(const AttentionProblem& problem);

/// Sizes, scale and mask in one line, for the evidence of a finding.
std::string describe(const AttentionProblem& problem);

/// Sets what the argument structs of attention contracts have in common but strides and pointers.
template <class Args>
void set_attention(Args& args, const AttentionProblem& problem) {
  args.batch = problem.batch;
  args.q_heads = problem.q_heads;
  args.kv_heads = problem.kv_heads;
  args.q_len = problem.q_len;
  args.k_len = problem.k_len;
  args.head_dim = problem.dim;
  args.value_dim = problem.value_dim;
  args.causal = problem.causal ? 1 : 0;
  args.window_left = problem.window_left;
  args.window_right = problem.window_right;
  args.scale = static_cast<float>(problem.scale);
  args.softcap = static_cast<float>(problem.softcap);
}

/// One query row against its visible keys, in float64. Entry n of a vector is key keys.first + n.
struct AttentionRow {
  KeyRange keys;
  std::vector<double> scores;    // s
  std::vector<double> uncapped;  // scale q . k; equals scores when there is no softcap
  std::vector<double> weights;   // softmax of the scores
  double lse = 0;                // -infinity when no key is visible
  double condition = 0;  // max_j |scale| sum_d |q_d k_d|: how far rounding can move a score, in u
};

/// Fills `row`, reusing its memory.
void attention_row(const AttentionProblem& problem, std::int64_t batch_entry, std::int64_t q_head,
                   std::int64_t query, AttentionRow& row);

/// The row's output and the size of an honest rounding error of it, each value_dim numbers:
///   bound = (1 + condition) sum_j P_j |v_j| + 1e-30 sum_j |v_j|
/// An error of C * 2^-24 * bound is what C roundings cost; the last term forgives weights that
/// underflow in float32. Without visible keys both are 0.
void attention_output(const AttentionProblem& problem, std::int64_t batch_entry,
                      std::int64_t q_head, const AttentionRow& row, std::span<double> o,
                      std::span<double> bound);

/// The same for the row's lse: 1 + condition + |lse|; 0 when no key is visible.
double lse_bound(const AttentionRow& row);

/// All rows: o and o_bound are [batch][q_heads][q_len][value_dim], lse and lse_bound
/// [batch][q_heads][q_len].
struct AttentionForward {
  std::vector<double> o, o_bound, lse, lse_bound;
};
AttentionForward attention_forward(const AttentionProblem& problem);

}  // namespace gauntlet::kit
