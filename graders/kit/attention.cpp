// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/attention.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace gauntlet::kit {
namespace {

// The loops below are most of a grader's time; the library itself is built for any machine.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
#define GAUNTLET_WIDE_CLONES __attribute__((target_clones("default", "avx2,fma", "avx512f")))
#else
#define GAUNTLET_WIDE_CLONES
#endif

constexpr int kLanes = 8;  // independent sums: what lets a compiler use vector registers

struct Dot {
  double sum = 0;
  double absolute = 0;  // sum of |a_d b_d|
};

GAUNTLET_WIDE_CLONES Dot dot(const float* a, const float* b, std::int64_t dim) {
  double sums[kLanes] = {};
  double absolutes[kLanes] = {};
  std::int64_t d = 0;
  for (; d + kLanes <= dim; d += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) {
      const double product = static_cast<double>(a[d + lane]) * b[d + lane];
      sums[lane] += product;
      absolutes[lane] += std::abs(product);
    }
  Dot dot;
  for (; d < dim; ++d) {
    const double product = static_cast<double>(a[d]) * b[d];
    dot.sum += product;
    dot.absolute += std::abs(product);
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    dot.sum += sums[lane];
    dot.absolute += absolutes[lane];
  }
  return dot;
}

// `condition` is what the rounding of the scores adds to each weight's own rounding.
GAUNTLET_WIDE_CLONES void add_value(const float* value, std::int64_t dim, double weight,
                                    double condition, double* o, double* bound) {
  constexpr double kUnderflow = 1e-30;
  const double bound_weight = weight * (1 + condition) + kUnderflow;
  for (std::int64_t d = 0; d < dim; ++d) {
    const double v = value[d];
    o[d] += weight * v;
    bound[d] += bound_weight * std::abs(v);
  }
}

double capped(double score, double softcap) {
  return softcap > 0 ? softcap * std::tanh(score / softcap) : score;
}

std::int64_t per_batch(const std::vector<std::int32_t>& list, std::int64_t entry,
                       std::int64_t otherwise) {
  return list.empty() ? otherwise : list.at(static_cast<std::size_t>(entry));
}

void normalise(AttentionRow& row) {
  row.lse = -std::numeric_limits<double>::infinity();
  row.weights.resize(row.scores.size());
  if (row.scores.empty()) return;
  const double largest = *std::max_element(row.scores.begin(), row.scores.end());
  double sum = 0;
  for (std::size_t n = 0; n < row.scores.size(); ++n)
    sum += row.weights[n] = std::exp(row.scores[n] - largest);
  for (double& weight : row.weights) weight /= sum;
  row.lse = largest + std::log(sum);
}

}  // namespace

KeyRange AttentionProblem::existing_keys(std::int64_t batch_entry) const {
  const std::int64_t first = per_batch(kv_start, batch_entry, 0);
  return {first, first + per_batch(kv_len, batch_entry, k_len - first)};
}

KeyRange AttentionProblem::visible_keys(std::int64_t batch_entry, std::int64_t query) const {
  KeyRange keys = existing_keys(batch_entry);
  const std::int64_t position = query + keys.last - q_len;
  if (causal) keys.last = std::min(keys.last, position + 1);
  if (window_right >= 0) keys.last = std::min(keys.last, position + window_right + 1);
  if (window_left >= 0) keys.first = std::max(keys.first, position - window_left);
  return keys;
}

AttentionProblem with_sizes(const AttentionSizes& sizes) {
  AttentionProblem problem;
  problem.batch = sizes.batch;
  problem.q_heads = sizes.q_heads;
  problem.kv_heads = sizes.kv_heads;
  problem.q_len = sizes.q_len;
  problem.k_len = sizes.k_len;
  problem.dim = sizes.dim;
  problem.value_dim = sizes.value_dim;
  problem.scale = 1 / std::sqrt(static_cast<float>(sizes.dim));
  return problem;
}

double visible_pairs(const AttentionProblem& problem) {
  std::int64_t pairs = 0;
  for (std::int64_t batch = 0; batch < problem.batch; ++batch)
    for (std::int64_t i = 0; i < problem.q_len; ++i) pairs += problem.visible_keys(batch, i).size();
  return static_cast<double>(pairs * problem.q_heads);
}

std::string describe(const AttentionProblem& problem) {
  std::string text = fmt::format(
      "{} queries, {} keys, batch {}, heads {}/{}, head_dim {}, value_dim {}, scale {:.6g}",
      problem.q_len, problem.k_len, problem.batch, problem.q_heads, problem.kv_heads, problem.dim,
      problem.value_dim, problem.scale);
  if (problem.causal) text += ", causal";
  if (problem.window_left >= 0) text += fmt::format(", window_left {}", problem.window_left);
  if (problem.window_right >= 0) text += fmt::format(", window_right {}", problem.window_right);
  if (problem.softcap > 0) text += fmt::format(", softcap {:.6g}", problem.softcap);
  if (!problem.kv_start.empty())
    text += fmt::format(", kv_start {}", fmt::join(problem.kv_start, " "));
  if (!problem.kv_len.empty()) text += fmt::format(", kv_len {}", fmt::join(problem.kv_len, " "));
  return text;
}

void attention_row(const AttentionProblem& problem, std::int64_t batch_entry, std::int64_t q_head,
                   std::int64_t query, AttentionRow& row) {
  row.keys = problem.visible_keys(batch_entry, query);
  row.scores.resize(static_cast<std::size_t>(row.keys.size()));
  row.uncapped.resize(row.scores.size());
  row.condition = 0;
  const float* q = problem.q.row(batch_entry, q_head, query);
  const std::int64_t kv_head = problem.kv_head(q_head);
  for (std::size_t n = 0; n < row.scores.size(); ++n) {
    const std::int64_t key = row.keys.first + static_cast<std::int64_t>(n);
    const Dot product = dot(q, problem.k.row(batch_entry, kv_head, key), problem.dim);
    row.uncapped[n] = problem.scale * product.sum;
    row.scores[n] = capped(row.uncapped[n], problem.softcap);
    row.condition = std::max(row.condition, std::abs(problem.scale) * product.absolute);
  }
  normalise(row);
}

void attention_output(const AttentionProblem& problem, std::int64_t batch_entry,
                      std::int64_t q_head, const AttentionRow& row, std::span<double> o,
                      std::span<double> bound) {
  std::fill(o.begin(), o.end(), 0.0);
  std::fill(bound.begin(), bound.end(), 0.0);
  const std::int64_t kv_head = problem.kv_head(q_head);
  for (std::size_t n = 0; n < row.weights.size(); ++n) {
    const std::int64_t key = row.keys.first + static_cast<std::int64_t>(n);
    add_value(problem.v.row(batch_entry, kv_head, key), problem.value_dim, row.weights[n],
              row.condition, o.data(), bound.data());
  }
}

double lse_bound(const AttentionRow& row) {
  return row.keys.empty() ? 0 : 1 + row.condition + std::abs(row.lse);
}

AttentionForward attention_forward(const AttentionProblem& problem) {
  const std::int64_t rows = problem.batch * problem.q_heads * problem.q_len;
  AttentionForward forward;
  forward.o.resize(static_cast<std::size_t>(rows * problem.value_dim));
  forward.o_bound.resize(forward.o.size());
  AttentionRow row;
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t batch_and_head = r / problem.q_len;
    const std::int64_t batch_entry = batch_and_head / problem.q_heads;
    const std::int64_t head = batch_and_head % problem.q_heads;
    attention_row(problem, batch_entry, head, r % problem.q_len, row);
    const auto dim = static_cast<std::size_t>(problem.value_dim);
    const std::size_t at = static_cast<std::size_t>(r) * dim;
    attention_output(problem, batch_entry, head, row, std::span(forward.o).subspan(at, dim),
                     std::span(forward.o_bound).subspan(at, dim));
    forward.lse.push_back(row.lse);
    forward.lse_bound.push_back(lse_bound(row));
  }
  return forward;
}

}  // namespace gauntlet::kit
