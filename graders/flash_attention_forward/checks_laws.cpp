// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <string_view>

#include "graders/kit/inputs.h"
#include "graders/kit/tolerance.h"
#include "harness/grading/grader.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// The two calls of a law may err in opposite directions.
constexpr double kTwoCalls = 2;

/// Row n of the result is row order[n]; likewise for heads.
kit::Tensor reordered(const kit::Tensor& tensor, const std::vector<std::int64_t>& heads,
                      const std::vector<std::int64_t>& rows) {
  kit::Tensor result = tensor;
  kit::for_each_row(result, [&](std::span<float> row, auto b, auto h, auto n) {
    const float* from =
        tensor.row(b, heads[static_cast<std::size_t>(h)], rows[static_cast<std::size_t>(n)]);
    std::copy_n(from, row.size(), row.begin());
  });
  return result;
}

/// A first answer as the wanted numbers for a second, with the oracle's bounds. It is itself held
/// against the oracle before: a law between two wrong answers (NaN and NaN) says nothing.
Expected as_expected(const Answer& answer, Expected bounds) {
  bounds.o.assign(answer.o.begin(), answer.o.end());
  bounds.lse.assign(answer.lse.begin(), answer.lse.end());
  return bounds;
}

Sizes law_sizes(Rng& rng) {
  Sizes sizes{1, 3, 3};
  sizes.q_len = rng.integer(20, 70);
  sizes.k_len = sizes.q_len + rng.integer(30, 120);
  sizes.dim = 24;
  sizes.value_dim = 20;
  return sizes;
}

// A column of ones comes back as ones, at sizes where an oracle would take too long.
void row_sums(Probe& probe) {
  for (const bool causal : {false, true, false}) {
    const int number = probe.observation().cases;
    Rng rng = probe.begin_case(fmt::format("{}_{}", causal ? "causal" : "full", number));
    const std::int64_t length = number == 0 ? rng.integer(300, 420) : rng.integer(500, 700);
    Problem problem({2, 4, 2, length, length, 16, 4});
    problem.form.causal = causal;
    fill_scores(problem, rng, 1.5);
    const auto ones = static_cast<std::size_t>(rng.integer(0, 3));
    const double rest = rng.uniform(2, 3);
    kit::for_each_row(problem.v, [&](std::span<float> row, auto, auto, auto) {
      for (float& v : row) v = static_cast<float>(rng.normal());
      row[ones] = 1;
      row[(ones + 1) % 4] = static_cast<float>(rest);
    });
    const Answer answer = ask(probe, problem, in_layout(kRowsOutside));
    // |scale q k|, summed over the dimensions, reaches 12 to 15 among a million pairs of these.
    const double allowed = allowance(problem) * 16;
    for (std::size_t at = 0; at < answer.o.size(); at += 4) {
      const double sum = answer.o[at + ones];
      const double other = answer.o[at + (ones + 1) % 4] / rest;
      for (const double weight : {sum, other})
        if (!(std::abs(weight - 1) <= allowed))
          probe.fail(Miss{fmt::format("sum of weights of row {}", at / 4), weight, 1, allowed},
                     {kit::describe(problem.form)});
      kit::note_share(probe, std::max(std::abs(sum - 1), std::abs(other - 1)) / allowed);
    }
  }
}

void shift_laws(Probe& probe) {
  Rng shape = probe.begin_case("shape");
  Sizes sizes = law_sizes(shape);
  for (const bool causal : {false, true}) {
    if (causal) sizes.q_len = sizes.k_len;
    Rng rng = probe.begin_case(causal ? "causal" : "full");
    Problem problem(sizes);
    problem.form.causal = causal;
    fill_sharp(problem, rng);
    const Answer before = require_right(probe, problem);
    Problem shifted = problem;
    // Multiples of 1/4 up to 4: most sums with a key round, which the bounds include.
    std::vector<float> c(static_cast<std::size_t>(sizes.dim));
    for (float& value : c) value = static_cast<float>(rng.integer(-16, 16)) / 4;
    const float value_shift = static_cast<float>(rng.integer(1, 8));
    kit::for_each_row(shifted.k, [&](std::span<float> row, auto, auto, auto) {
      for (std::size_t d = 0; d < c.size(); ++d) row[d] += c[d];
    });
    for (float& value : shifted.v.data) value += value_shift;
    // An output that is near 0 in one problem is a difference of larger numbers in the other.
    const Expected unshifted = expect(problem);
    Expected expected = as_expected(before, expect(shifted));
    for (std::size_t n = 0; n < expected.o.size(); ++n) expected.o_bound[n] += unshifted.o_bound[n];
    for (std::size_t n = 0; n < expected.lse.size(); ++n)
      expected.lse_bound[n] += unshifted.lse_bound[n];
    for (double& o : expected.o) o += value_shift;
    std::size_t at = 0;
    kit::for_each_row(problem.q, [&](std::span<float> row, auto, auto, auto) {
      double shift = 0;
      for (std::size_t d = 0; d < c.size(); ++d) shift += static_cast<double>(row[d]) * c[d];
      expected.lse[at++] += problem.form.scale * shift;
    });
    require_close(probe, shifted, ask(probe, shifted), expected);
  }
}

// Bits may differ: blocks that share a maximum, or a lazy rescaling that one row of a block decides
// for all, may round a row differently in another place.
void permutations(Probe& probe) {
  Rng shape = probe.begin_case("shape");
  const Sizes sizes = law_sizes(shape);
  const CallOptions options = in_layout(kRowsOutside);
  for (const std::string_view what : {"keys", "queries", "heads"}) {
    Rng rng = probe.begin_case(std::string(what));
    Problem problem(sizes);
    fill_sharp(problem, rng);
    const auto order = [&](std::string_view of, std::int64_t count) {
      std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
      std::iota(rows.begin(), rows.end(), 0);
      return what == of ? kit::random_order(rng, count) : rows;
    };
    const std::vector<std::int64_t> keys = order("keys", sizes.k_len);
    const std::vector<std::int64_t> queries = order("queries", sizes.q_len);
    const std::vector<std::int64_t> heads =
        what == "heads" ? std::vector<std::int64_t>{1, 2, 0} : std::vector<std::int64_t>{0, 1, 2};
    const Answer before = require_right(probe, problem, options);
    Problem moved = problem;
    moved.q = reordered(problem.q, heads, queries);
    moved.k = reordered(problem.k, heads, keys);
    moved.v = reordered(problem.v, heads, keys);
    Expected expected = expect(moved);
    const auto columns = static_cast<std::size_t>(sizes.value_dim);
    std::size_t to = 0;
    for (const std::int64_t head : heads)
      for (const std::int64_t query : queries) {
        const auto from = static_cast<std::size_t>(head * sizes.q_len + query);
        expected.lse[to] = before.lse[from];
        std::copy_n(before.o.begin() + static_cast<std::ptrdiff_t>(from * columns), columns,
                    expected.o.begin() + static_cast<std::ptrdiff_t>(to * columns));
        ++to;
      }
    require_close(probe, moved, ask(probe, moved, options), expected, kTwoCalls);
  }
}

// Two halves of the keys, merged by their lse, are the whole. One half may be empty.
void split_and_merge(Probe& probe) {
  Rng shape = probe.begin_case("shape");
  const Sizes sizes = law_sizes(shape);
  for (const std::int64_t cut :
       {shape.integer(1, sizes.k_len - 1), shape.integer(1, 20), std::int64_t{0}}) {
    Rng rng = probe.begin_case(fmt::format("cut_{}", probe.observation().cases));
    Problem whole(sizes);
    fill_sharp(whole, rng);
    Expected merged = expect(whole);
    Problem part = whole;
    part.form.kv_start = {0};
    part.form.kv_len = {static_cast<std::int32_t>(cut)};
    const Answer low = ask(probe, part);
    part.form.kv_start = {static_cast<std::int32_t>(cut)};
    part.form.kv_len = {static_cast<std::int32_t>(sizes.k_len - cut)};
    const Answer high = ask(probe, part);
    Answer sum;
    const auto dim = static_cast<std::size_t>(sizes.value_dim);
    for (std::size_t at = 0; at < low.o.size(); ++at) {
      const double a = low.lse[at / dim];
      const double b = high.lse[at / dim];
      const double top = std::max(a, b);
      const double lse = top + std::log(std::exp(a - top) + std::exp(b - top));
      if (at % dim == 0) sum.lse.push_back(static_cast<float>(lse));
      sum.o.push_back(
          static_cast<float>(low.o[at] * std::exp(a - lse) + high.o[at] * std::exp(b - lse)));
    }
    // exp(lse) of a part carries the error of its lse, which may be as large as M + |lse|.
    for (std::size_t at = 0; at < merged.o_bound.size(); ++at)
      merged.o_bound[at] *= 1 + std::abs(merged.lse[at / dim]) / 4;
    require_close(probe, whole, sum, merged, kTwoCalls);
  }
}

// What lies in the future of a query may change without changing its row.
void causal_prefix(Probe& probe) {
  Rng shape = probe.begin_case("shape");
  Sizes sizes = law_sizes(shape);
  sizes.q_len = sizes.k_len;
  for (int number = 0; number < 3; ++number) {
    Rng rng = probe.begin_case(fmt::format("future_{}", number));
    Problem problem(sizes);
    problem.form.causal = true;
    fill_sharp(problem, rng);
    const Expected expected = as_expected(require_right(probe, problem), expect(problem));
    const std::int64_t now = rng.integer(1, sizes.k_len - 2);
    for (kit::Tensor* tensor : {&problem.k, &problem.v})
      kit::for_each_row(*tensor, [&](std::span<float> row, auto, auto, auto j) {
        if (j <= now) return;
        for (float& x : row) x = static_cast<float>(rng.normal() * (number == 0 ? 1 : 1e3));
      });
    Answer after = ask(probe, problem);
    const auto dim = static_cast<std::size_t>(sizes.value_dim);
    for (std::size_t row = 0; row < expected.lse.size(); ++row) {
      if (static_cast<std::int64_t>(row) % sizes.q_len <= now) continue;
      after.lse[row] = static_cast<float>(expected.lse[row]);  // these rows may change
      for (std::size_t d = 0; d < dim; ++d)
        after.o[row * dim + d] = static_cast<float>(expected.o[row * dim + d]);
    }
    require_close(probe, problem, after, expected, kTwoCalls);
  }
}

}  // namespace

std::vector<Check> laws_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"row_sums", "weights that do not add up to 1", correctness, 2, critical}, row_sums},
      {{"shift_laws", "hidden biases in scores and values", correctness, 1, major}, shift_laws},
      {{"permutations", "rows, keys or heads that leak into each other", correctness, 2, critical},
       permutations},
      {{"split_and_merge", "a wrong log-sum-exp: base, maximum, empty parts", correctness, 2,
        critical},
       split_and_merge},
      {{"causal_prefix", "the future of a query changing its row", correctness, 2, critical},
       causal_prefix},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
