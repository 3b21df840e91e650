// SPDX-License-Identifier: Apache-2.0
#include "lap.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graders/kit/compare.h"
#include "graders/kit/inputs.h"
#include "graders/kit/laps.h"
#include "harness/core/machine.h"
#include "harness/core/parallel.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr double kSpread = 1.5;      // standard deviation of most queries' scores
constexpr std::int64_t kSharp = 16;  // one query in so many is sharp:
constexpr double kSharpSpread = 18;  // this is the standard deviation of its scores

/// What a forward pass over at least these keys may have left. Of sharp queries it may have seen a
/// key above all that are here; no score exceeds lse by more than 20.
double likely_lse(bool sharp, std::int64_t keys) {
  if (sharp) return 5 * kSharpSpread;
  return std::log(static_cast<double>(keys)) + kSpread * kSpread / 2;
}

std::span<const float> row_of(const std::vector<float>& array, std::int64_t row,
                              std::int64_t columns) {
  return std::span(array).subspan(static_cast<std::size_t>(row * columns),
                                  static_cast<std::size_t>(columns));
}

/// What a tensor that has no row of its own for each query has for one.
std::span<const float> row_of(const kit::Tensor& tensor, std::int64_t row) {
  const std::int64_t columns = tensor.extents.columns;
  return row_of(tensor.data, row % (std::ssize(tensor.data) / columns), columns);
}

double length_of(std::span<const float> row) {
  return std::sqrt(inner_product(row, row).value);
}

/// What all pairs of one query have in common.
struct Query {
  Query(const Problem& problem, std::int64_t row, double longest_key)
      : q(row_of(problem.q, row)),
        dout(row_of(problem.dout, row)),
        lse(problem.lse[static_cast<std::size_t>(row)]),
        delta(inner_product(dout, row_of(problem.o, row))),
        // The contract's M with |q| |k| in the place of |q.k|, which is no smaller and saves a walk
        // over all keys of every query that sees a sampled key.
        condition(1 + std::abs(lse) + problem.form.softcap +
                  std::abs(problem.form.scale) * length_of(q) * longest_key) {
    if (!problem.dlse.empty()) delta.add(-problem.dlse[static_cast<std::size_t>(row)]);
  }

  std::span<const float> q;
  std::span<const float> dout;
  double lse;
  Sum delta;
  double condition;
};

/// P and scale * dx of a pair, with the bounds W and A of the contract.
struct Pair {
  Pair(const kit::AttentionProblem& form, const Query& query, std::span<const float> k,
       std::span<const float> v) {
    const Sum dp = inner_product(query.dout, v);
    const Sum product = inner_product(query.q, k);
    double score = form.scale * product.value;
    double slope = 1, slope_bound = 0;
    if (form.softcap > 0) {
      const double bent = std::tanh(score / form.softcap);
      score = form.softcap * bent;
      slope = 1 - bent * bent;
      // The contract's T: 1 - tanh(z)^2 is nowhere steeper than 4 / sqrt(27).
      slope_bound = 4 / std::sqrt(27.0) * std::abs(form.scale) * product.size / form.softcap;
    }
    p.value = std::exp(score - query.lse);
    p.size = query.condition * (p.value + kUnderflow);
    dx.value = form.scale * p.value * slope * (dp.value - query.delta.value);
    dx.size = std::abs(form.scale) * (p.size + slope_bound * (p.value + kUnderflow)) *
              (dp.size + query.delta.size);
  }

  Sum p, dx;
};

void add_scaled(const Sum& factor, std::span<const float> row, std::vector<double>& value,
                std::vector<double>& bound) {
  for (std::size_t c = 0; c < value.size(); ++c) {
    value[c] += factor.value * row[c];
    bound[c] += factor.size * std::abs(row[c]);
  }
}

std::vector<double> zeros(std::int64_t columns) {
  return std::vector<double>(static_cast<std::size_t>(columns), 0.0);
}

std::int64_t query_count(const kit::AttentionProblem& form) {
  return form.batch * form.q_heads * form.q_len;
}

std::int64_t key_count(const kit::AttentionProblem& form) {
  return form.batch * form.kv_heads * form.k_len;
}

double longest_row(const kit::Tensor& tensor) {
  double longest = 0;
  const std::int64_t columns = tensor.extents.columns;
  for (std::int64_t row = 0; row * columns < tensor.extents.count(); ++row)
    longest = std::max(longest, length_of(row_of(tensor.data, row, columns)));
  return longest;
}

}  // namespace

JudgedRows::JudgedRows(const Problem& problem, const std::vector<std::int64_t>& queries,
                       const std::vector<std::int64_t>& keys)
    : rows_(2 * queries.size() + 2 * keys.size()) {
  const double longest_key = longest_row(problem.k);
  parallel_for(queries.size() + keys.size(), this_machine().cores, [&](std::size_t n) {
    Row* rows = &rows_[2 * n];
    if (n < queries.size())
      set_query_rows(problem, queries[n], longest_key, rows[0], rows[1]);
    else
      set_key_rows(problem, keys[n - queries.size()], longest_key, rows[0], rows[1]);
  });
}

void JudgedRows::set_query_rows(const Problem& problem, std::int64_t index, double longest_key,
                                Row& dq, Row& delta) {
  const kit::AttentionProblem& form = problem.form;
  const std::int64_t batch = index / form.q_len / form.q_heads;
  const std::int64_t head = index / form.q_len % form.q_heads;
  dq = {"dq", &Answer::dq, index, zeros(form.dim), zeros(form.dim)};
  const Query query(problem, index, longest_key);
  delta = {"delta", &Answer::delta, index, {query.delta.value}, {query.delta.size}};
  if (std::isinf(query.lse)) return;
  const kit::KeyRange keys = form.visible_keys(batch, index % form.q_len);
  const std::int64_t first_key = (batch * form.kv_heads + form.kv_head(head)) * form.k_len;
  for (std::int64_t j = keys.first; j < keys.last; ++j) {
    const auto k = row_of(problem.k.data, first_key + j, form.dim);
    const Pair pair(form, query, k, row_of(problem.v.data, first_key + j, form.value_dim));
    add_scaled(pair.dx, k, dq.value, dq.bound);
  }
}

void JudgedRows::set_key_rows(const Problem& problem, std::int64_t index, double longest_key,
                              Row& dk, Row& dv) {
  const kit::AttentionProblem& form = problem.form;
  const std::int64_t batch = index / form.k_len / form.kv_heads;
  const std::int64_t kv_head = index / form.k_len % form.kv_heads;
  const std::int64_t j = index % form.k_len;
  dk = {"dk", &Answer::dk, index, zeros(form.dim), zeros(form.dim)};
  dv = {"dv", &Answer::dv, index, zeros(form.value_dim), zeros(form.value_dim)};
  const auto k = row_of(problem.k.data, index, form.dim);
  const auto v = row_of(problem.v.data, index, form.value_dim);
  const std::int64_t group = form.q_heads / form.kv_heads;
  for (std::int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head)
    for (std::int64_t i = 0; i < form.q_len; ++i) {
      const std::int64_t row = (batch * form.q_heads + head) * form.q_len + i;
      if (std::isinf(problem.lse[static_cast<std::size_t>(row)])) continue;
      const kit::KeyRange keys = form.visible_keys(batch, i);
      if (j < keys.first || j >= keys.last) continue;
      const Query query(problem, row, longest_key);
      const Pair pair(form, query, k, v);
      add_scaled(pair.dx, query.q, dk.value, dk.bound);
      add_scaled(pair.p, query.dout, dv.value, dv.bound);
    }
}

std::optional<Miss> JudgedRows::miss(const Answer& got) const {
  for (const Row& row : rows_) {
    if ((got.*row.part).empty()) continue;
    const auto columns = std::ssize(row.value);
    const auto name = kit::index_namer(fmt::format("{} row {}", row.name, row.index), {columns});
    if (auto miss = kit::worst_miss(row_of(got.*row.part, row.index, columns), row.value,
                                    allowed_for(row.bound), name))
      return miss;
  }
  return std::nullopt;
}

JudgedRows some_rows(const Problem& problem, Rng& judge, int count) {
  const auto queries = kit::some_of(judge, query_count(problem.form), count);
  return {problem, queries, kit::some_of(judge, key_count(problem.form), count)};
}

JudgedRows all_rows(const Problem& problem) {
  return {problem, kit::all_of(query_count(problem.form)), kit::all_of(key_count(problem.form))};
}

void fill_quickly(Problem& problem, Rng& rng) {
  kit::fill_uniform(rng, problem.q.data, 0, kSpread);
  kit::fill_uniform(rng, problem.k.data);
  kit::fill_uniform(rng, problem.v.data);
  kit::fill_uniform(rng, problem.dout.data);
  kit::fill_uniform(rng, problem.o.data, 0, 0.2);
  std::int64_t row = 0;
  kit::for_each_row(problem.q, [&](std::span<float> q, auto batch, auto, auto i) {
    const bool sharp = row % kSharp == 0;
    if (sharp)
      for (float& number : q) number *= static_cast<float>(kSharpSpread / kSpread);
    const std::int64_t keys = problem.form.visible_keys(batch, i).size();
    problem.lse[static_cast<std::size_t>(row++)] =
        static_cast<float>(likely_lse(sharp, keys) + rng.uniform(0, 0.5));
  });
}

TimedLap::TimedLap(const Sizes& sizes, bool causal) : problem_(sizes) {
  problem_.form.causal = causal;
}

void TimedLap::prepare(Rng& inputs, Rng& judge) {
  constexpr int kRows = 10;
  fill_quickly(problem_, inputs);
  rows_ = std::make_unique<JudgedRows>(some_rows(problem_, judge, kRows));
}

Lap TimedLap::run(Session& session) const {
  BackwardCall call(problem_);
  Answer answer;
  Lap lap = kit::verified_lap(session, call, [&] { return miss(answer = call.answer()); });
  kit::judge_all_later(
      lap, [this, answer = std::move(answer)] { return all_rows(problem_).miss(answer); });
  return lap;
}

/// Rows that nobody can foresee, and a sum in which every element of dq and dk takes part.
std::optional<Miss> TimedLap::miss(const Answer& got) const {
  if (auto miss = rows_->miss(got)) return miss;
  return unequal_sums("<dq, q> against <dk, k>", inner_product(got.dq, problem_.q.data),
                      inner_product(got.dk, problem_.k.data));
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
