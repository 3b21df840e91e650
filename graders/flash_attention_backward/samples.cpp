#include "samples.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graders/kit/compare.h"
#include "tolerance.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// A sum and the sum of the sizes of its terms.
struct Sum {
  double value = 0;
  double size = 0;
};

Sum dot(const float* a, const float* b, std::int64_t columns) {
  Sum sum;
  for (std::int64_t c = 0; c < columns; ++c) {
    const double term = static_cast<double>(a[c]) * b[c];
    sum.value += term;
    sum.size += std::abs(term);
  }
  return sum;
}

double length_of(const float* row, std::int64_t columns) {
  return std::sqrt(dot(row, row, columns).value);
}

const float* row_of(const std::vector<float>& array, std::int64_t row, std::int64_t columns) {
  return array.data() + row * columns;
}

/// What all pairs of one query have in common.
struct Query {
  Query(const Problem& problem, std::int64_t row, double longest_key)
      : q(row_of(problem.q, row, problem.form.dim)),
        dout(row_of(problem.dout, row, problem.form.value_dim)),
        lse(problem.lse[static_cast<std::size_t>(row)]),
        delta(dot(dout, row_of(problem.o, row, problem.form.value_dim), problem.form.value_dim)),
        // The contract's M with |q| |k| in the place of |q.k|, which is no smaller and saves a walk
        // over all keys of every query that sees a sampled key.
        condition(1 + std::abs(lse) +
                  std::abs(problem.form.scale) * length_of(q, problem.form.dim) * longest_key) {}

  const float* q;
  const float* dout;
  double lse;
  Sum delta;
  double condition;
};

/// P and scale * dx of a pair, with the bounds W and A of the contract.
struct Pair {
  Pair(const Problem& problem, const Query& query, const float* k, const float* v) {
    const kit::AttentionProblem& form = problem.form;
    const Sum dp = dot(query.dout, v, form.value_dim);
    p.value = std::exp(form.scale * dot(query.q, k, form.dim).value - query.lse);
    p.size = query.condition * (p.value + kUnderflow);
    dx.value = form.scale * p.value * (dp.value - query.delta.value);
    dx.size = std::abs(form.scale) * p.size * (dp.size + query.delta.size);
  }

  Sum p, dx;
};

void add_scaled(const Sum& factor, const float* row, std::vector<double>& value,
                std::vector<double>& bound) {
  for (std::size_t c = 0; c < value.size(); ++c) {
    value[c] += factor.value * row[c];
    bound[c] += factor.size * std::abs(row[c]);
  }
}

std::vector<double> zeros(std::int64_t columns) {
  return std::vector<double>(static_cast<std::size_t>(columns), 0.0);
}

double longest_row(const std::vector<float>& array, std::int64_t columns) {
  double longest = 0;
  for (std::size_t at = 0; at < array.size(); at += static_cast<std::size_t>(columns))
    longest = std::max(longest, length_of(array.data() + at, columns));
  return longest;
}

}  // namespace

Samples::Samples(const Problem& problem, Rng& rng, int rows) {
  const double longest_key = longest_row(problem.k, problem.form.dim);
  for (int n = 0; n < rows; ++n) {
    add_query(problem, rng, longest_key);
    add_key(problem, rng, longest_key);
  }
}

void Samples::add_query(const Problem& problem, Rng& rng, double longest_key) {
  const kit::AttentionProblem& form = problem.form;
  const std::int64_t batch = rng.integer(0, form.batch - 1);
  const std::int64_t head = rng.integer(0, form.q_heads - 1);
  const std::int64_t i = rng.integer(0, form.q_len - 1);
  const std::int64_t index = (batch * form.q_heads + head) * form.q_len + i;
  Row dq{"dq", &Answer::dq, index, zeros(form.dim), zeros(form.dim)};
  const Query query(problem, index, longest_key);
  const kit::KeyRange keys = form.visible_keys(batch, i);
  const std::int64_t first_key = (batch * form.kv_heads + form.kv_head(head)) * form.k_len;
  for (std::int64_t j = keys.first; j < keys.last; ++j) {
    const float* k = row_of(problem.k, first_key + j, form.dim);
    const Pair pair(problem, query, k, row_of(problem.v, first_key + j, form.value_dim));
    add_scaled(pair.dx, k, dq.value, dq.bound);
  }
  rows_.push_back(std::move(dq));
}

void Samples::add_key(const Problem& problem, Rng& rng, double longest_key) {
  const kit::AttentionProblem& form = problem.form;
  const std::int64_t batch = rng.integer(0, form.batch - 1);
  const std::int64_t kv_head = rng.integer(0, form.kv_heads - 1);
  const std::int64_t j = rng.integer(0, form.k_len - 1);
  const std::int64_t index = (batch * form.kv_heads + kv_head) * form.k_len + j;
  Row dk{"dk", &Answer::dk, index, zeros(form.dim), zeros(form.dim)};
  Row dv{"dv", &Answer::dv, index, zeros(form.value_dim), zeros(form.value_dim)};
  const float* k = row_of(problem.k, index, form.dim);
  const float* v = row_of(problem.v, index, form.value_dim);
  const std::int64_t group = form.q_heads / form.kv_heads;
  for (std::int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head)
    for (std::int64_t i = 0; i < form.q_len; ++i) {
      const kit::KeyRange keys = form.visible_keys(batch, i);
      if (j < keys.first || j >= keys.last) continue;
      const Query query(problem, (batch * form.q_heads + head) * form.q_len + i, longest_key);
      const Pair pair(problem, query, k, v);
      add_scaled(pair.dx, query.q, dk.value, dk.bound);
      add_scaled(pair.p, query.dout, dv.value, dv.bound);
    }
  rows_.push_back(std::move(dk));
  rows_.push_back(std::move(dv));
}

std::optional<Miss> Samples::miss(const Answer& got) const {
  for (const Row& row : rows_) {
    const auto columns = row.value.size();
    const auto part =
        std::span(got.*row.part).subspan(static_cast<std::size_t>(row.index) * columns, columns);
    const auto name = kit::index_namer(fmt::format("{} row {}", row.name, row.index),
                                       {static_cast<std::int64_t>(columns)});
    if (auto miss = kit::worst_miss(part, row.value, allowed_for(row.bound), name)) return miss;
  }
  return std::nullopt;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
