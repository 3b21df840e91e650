// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/attention.h"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

using namespace gauntlet::kit;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Four keys of dimension 1 with scores ln 1 .. ln 4 for a query of 1, and values 1, 10, 100, 1000.
struct Ladder {
  std::vector<float> q{1, 1, 1, 1};
  std::vector<float> k{0, std::log(2.0f), std::log(3.0f), std::log(4.0f)};
  std::vector<float> v{1, 10, 100, 1000};
  AttentionProblem problem;

  explicit Ladder(std::int64_t queries) {
    problem.q_len = queries;
    problem.k_len = 4;
    problem.q = {q.data(), 0, 0, 1};
    problem.k = {k.data(), 0, 0, 1};
    problem.v = {v.data(), 0, 0, 1};
  }
};

std::vector<KeyRange> ranges(const AttentionProblem& problem) {
  std::vector<KeyRange> all;
  for (std::int64_t i = 0; i < problem.q_len; ++i) all.push_back(problem.visible_keys(0, i));
  return all;
}

}  // namespace

TEST_CASE("a row is the softmax-weighted mean of the values, with a natural log-sum-exp") {
  const Ladder ladder(1);
  const AttentionForward forward = attention_forward(ladder.problem);
  CHECK(forward.o.at(0) == doctest::Approx(432.1));  // (1 + 20 + 300 + 4000) / 10
  CHECK(forward.lse.at(0) == doctest::Approx(std::log(10.0)));
}

TEST_CASE("the bounds are those of the component-wise condition") {
  const Ladder ladder(1);
  const AttentionForward forward = attention_forward(ladder.problem);
  const double condition = std::log(4.0);
  CHECK(forward.o_bound.at(0) == doctest::Approx((1 + condition) * 432.1));
  CHECK(forward.lse_bound.at(0) == doctest::Approx(1 + condition + std::log(10.0)));
}

TEST_CASE("scale and softcap act on the score in this order") {
  Ladder ladder(1);
  ladder.problem.scale = -2;
  ladder.problem.softcap = 1.5;
  AttentionRow row;
  attention_row(ladder.problem, 0, 0, 0, row);
  CHECK(row.uncapped.at(3) == doctest::Approx(-2 * std::log(4.0)));
  CHECK(row.scores.at(3) == doctest::Approx(1.5 * std::tanh(-2 * std::log(4.0) / 1.5)));
  CHECK(row.condition == doctest::Approx(2 * std::log(4.0)));
}

TEST_CASE("causal masks are aligned at the bottom right") {
  Ladder more_keys(2);
  more_keys.problem.causal = true;
  auto seen = ranges(more_keys.problem);
  CHECK(seen[0].last == 3);
  CHECK(seen[1].last == 4);

  Ladder more_queries(4);
  more_queries.problem.causal = true;
  more_queries.problem.k_len = 2;
  seen = ranges(more_queries.problem);
  CHECK(seen[0].empty());
  CHECK(seen[1].empty());
  CHECK(seen[2].size() == 1);
  CHECK(seen[3].size() == 2);
}

TEST_CASE("a row without visible keys is 0 with lse -infinity, and exact") {
  Ladder ladder(4);
  ladder.problem.causal = true;
  ladder.problem.k_len = 2;
  const AttentionForward forward = attention_forward(ladder.problem);
  CHECK(forward.o.at(0) == 0);
  CHECK(forward.o_bound.at(0) == 0);
  CHECK(forward.lse.at(0) == -kInfinity);
  CHECK(forward.lse_bound.at(0) == 0);
}

TEST_CASE("both ends of a window are included, and causal cuts its right side") {
  Ladder ladder(4);
  ladder.problem.window_left = 1;
  ladder.problem.window_right = 1;
  auto seen = ranges(ladder.problem);
  CHECK(seen[0].first == 0);
  CHECK(seen[0].last == 2);
  CHECK(seen[2].first == 1);
  CHECK(seen[2].last == 4);
  ladder.problem.causal = true;
  CHECK(ranges(ladder.problem)[2].last == 3);
}

TEST_CASE("missing keys move the end that queries are aligned to") {
  Ladder ladder(2);
  ladder.problem.causal = true;
  ladder.problem.kv_start = {1};
  ladder.problem.kv_len = {2};
  const auto seen = ranges(ladder.problem);
  CHECK(seen[0].first == 1);
  CHECK(seen[0].last == 2);
  CHECK(seen[1].last == 3);
  ladder.problem.kv_len = {};
  CHECK(ladder.problem.existing_keys(0).last == 4);
  ladder.problem.kv_len = {0};
  CHECK(ladder.problem.visible_keys(0, 1).empty());
}

TEST_CASE("query heads share key heads in consecutive groups, not in turns") {
  AttentionProblem problem;
  problem.q_heads = 6;
  problem.kv_heads = 2;
  CHECK(problem.kv_head(2) == 0);
  CHECK(problem.kv_head(3) == 1);
}

TEST_CASE("sums do not depend on where a dimension falls among the vector lanes") {
  for (const std::int64_t dim : {1, 7, 8, 9, 31, 64}) {
    std::vector<float> q(static_cast<std::size_t>(dim), 0.5f);
    std::vector<float> k(static_cast<std::size_t>(dim), -2.0f);
    AttentionProblem problem;
    problem.q_len = problem.k_len = 1;
    problem.dim = problem.value_dim = dim;
    problem.q = problem.v = {q.data(), 0, 0, dim};
    problem.k = {k.data(), 0, 0, dim};
    const AttentionForward forward = attention_forward(problem);
    CHECK(forward.lse.at(0) == -static_cast<double>(dim));
    CHECK(forward.o.back() == 0.5);
    CHECK(forward.lse_bound.at(0) == 1 + 2 * static_cast<double>(dim));
  }
}

TEST_CASE("scores far below zero keep their differences") {
  Ladder ladder(1);
  for (float& key : ladder.k) key -= 3e4f;
  const AttentionForward forward = attention_forward(ladder.problem);
  CHECK(forward.lse.at(0) == doctest::Approx(-3e4).epsilon(1e-3));
  CHECK(forward.o.at(0) == doctest::Approx(432.1).epsilon(0.01));
}

TEST_CASE("pairs are counted over all query heads and batch entries") {
  AttentionProblem problem = with_sizes({2, 4, 2, 3, 5, 16, 8});
  CHECK(problem.scale == 0.25);
  CHECK(problem.value_dim == 8);
  CHECK(visible_pairs(problem) == 2 * 4 * 15);
  problem.causal = true;
  problem.kv_len = {5, 2};
  CHECK(visible_pairs(problem) == 4 * (3 + 4 + 5) + 4 * (0 + 1 + 2));
}

TEST_CASE("a problem is described with its mask") {
  AttentionProblem problem = with_sizes({1, 4, 2, 3, 5, 16, 8});
  CHECK(describe(problem) ==
        "3 queries, 5 keys, batch 1, heads 4/2, head_dim 16, value_dim 8, scale 0.25");
  problem.causal = true;
  problem.window_left = 0;
  problem.softcap = 1.5;
  problem.kv_len = {4};
  CHECK(describe(problem).ends_with("scale 0.25, causal, window_left 0, softcap 1.5, kv_len 4"));
}
