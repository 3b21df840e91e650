#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <string>

#include "ask.h"
#include "generate.h"
#include "graders/kit/inputs.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// The two calls of a law may err in opposite directions.
constexpr double kTwoCalls = 2;

/// Row n of the result is row order[n]; likewise for heads.
Tensor reordered(const Tensor& tensor, const std::vector<std::int64_t>& heads,
                 const std::vector<std::int64_t>& rows) {
  Tensor result = tensor;
  for_each_row(result, [&](float* row, auto b, auto h, auto n) {
    const float* from =
        tensor.row(b, heads[static_cast<std::size_t>(h)], rows[static_cast<std::size_t>(n)]);
    std::copy_n(from, tensor.dim, row);
  });
  return result;
}

/// Asks and compares with the oracle: a law between two wrong answers (NaN and NaN) says nothing.
Answer ask_first(Probe& probe, const Problem& problem) {
  Answer answer = ask(probe, problem);
  check_answer(probe, problem, answer);
  return answer;
}

/// A first answer as the wanted numbers for a second, with the oracle's bounds.
kit::AttentionForward as_wanted(const Answer& answer, kit::AttentionForward bounds) {
  bounds.o.assign(answer.o.begin(), answer.o.end());
  bounds.lse.assign(answer.lse.begin(), answer.lse.end());
  return bounds;
}

Sizes law_sizes(Rng& rng) {
  Sizes sizes;
  sizes.q_heads = sizes.kv_heads = 3;
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
    Sizes sizes;
    sizes.batch = 2;
    sizes.q_heads = 4;
    sizes.kv_heads = 2;
    sizes.q_len = number == 0 ? rng.integer(300, 420) : rng.integer(500, 700);
    sizes.k_len = sizes.q_len;
    sizes.dim = 16;
    sizes.value_dim = 4;
    Problem problem(sizes, rng, Layout::rows_first);
    problem.causal = causal;
    fill_scores(problem, rng, 1.5);
    const std::int64_t ones = rng.integer(0, 3);
    const double rest = rng.uniform(2, 3);
    for_each_row(problem.v, [&](float* row, auto, auto, auto) {
      for (std::int64_t d = 0; d < sizes.value_dim; ++d)
        row[d] = static_cast<float>(d == ones ? 1.0 : d == (ones + 1) % 4 ? rest : rng.normal());
    });
    const Answer answer = ask(probe, problem);
    // |scale q k|, summed over the dimensions, reaches 12 to 15 among a million pairs of these.
    const double allowed = allowance(problem) * 16;
    for (std::size_t at = 0; at < answer.o.size(); at += 4) {
      const double sum = answer.o[at + static_cast<std::size_t>(ones)];
      const double other = answer.o[at + static_cast<std::size_t>((ones + 1) % 4)];
      const double misses[] = {std::abs(sum - 1), std::abs(other / rest - 1)};
      if (misses[0] <= allowed && misses[1] <= allowed) {
        note_share(probe, std::max(misses[0], misses[1]) / allowed);
        continue;
      }
      const std::size_t row = at / 4;
      probe.fail(Miss{fmt::format("sum of weights of row {}", row), sum, 1, allowed},
                 {problem.describe()});
    }
  }
}

void shift_laws(Probe& probe) {
  Rng shape = probe.begin_case("shape");
  Sizes sizes = law_sizes(shape);
  for (const bool causal : {false, true}) {
    if (causal) sizes.q_len = sizes.k_len;
    Rng rng = probe.begin_case(causal ? "causal" : "full");
    Problem problem(sizes, rng);
    problem.causal = causal;
    fill_sharp(problem, rng);
    const Answer before = ask_first(probe, problem);
    Problem shifted = problem;
    // Multiples of 1/4 up to 4: most sums with a key round, which the bounds include.
    std::vector<float> c(static_cast<std::size_t>(sizes.dim));
    for (float& value : c) value = static_cast<float>(rng.integer(-16, 16)) / 4;
    const float value_shift = static_cast<float>(rng.integer(1, 8));
    for_each_row(shifted.k, [&](float* row, auto, auto, auto) {
      for (std::size_t d = 0; d < c.size(); ++d) row[d] += c[d];
    });
    for_each_row(shifted.v, [&](float* row, auto, auto, auto) {
      for (std::int64_t d = 0; d < sizes.value_dim; ++d) row[d] += value_shift;
    });
    // An output that is near 0 in one problem is a difference of larger numbers in the other.
    const kit::AttentionForward unshifted = kit::attention_forward(problem.oracle_view());
    kit::AttentionForward wanted = as_wanted(before, kit::attention_forward(shifted.oracle_view()));
    for (std::size_t n = 0; n < wanted.o.size(); ++n) wanted.o_bound[n] += unshifted.o_bound[n];
    for (std::size_t n = 0; n < wanted.lse.size(); ++n)
      wanted.lse_bound[n] += unshifted.lse_bound[n];
    for (double& o : wanted.o) o += value_shift;
    std::size_t at = 0;
    for_each_row(problem.q, [&](float* row, auto, auto, auto) {
      double shift = 0;
      for (std::size_t d = 0; d < c.size(); ++d) shift += static_cast<double>(row[d]) * c[d];
      wanted.lse[at++] += shift * static_cast<double>(problem.scale);
    });
    check_against(probe, shifted, ask(probe, shifted), wanted);
  }
}

void permutations(Probe& probe) {
  Rng shape = probe.begin_case("shape");
  const Sizes sizes = law_sizes(shape);
  for (const char* what : {"keys", "queries", "heads"}) {
    Rng rng = probe.begin_case(what);
    Problem problem(sizes, rng, Layout::rows_first);
    fill_sharp(problem, rng);
    std::vector<std::int64_t> keys(static_cast<std::size_t>(sizes.k_len));
    std::vector<std::int64_t> queries(static_cast<std::size_t>(sizes.q_len));
    std::vector<std::int64_t> heads{0, 1, 2};
    std::iota(keys.begin(), keys.end(), 0);
    std::iota(queries.begin(), queries.end(), 0);
    if (what == std::string("keys")) keys = kit::random_order(rng, sizes.k_len);
    if (what == std::string("queries")) queries = kit::random_order(rng, sizes.q_len);
    if (what == std::string("heads")) heads = {1, 2, 0};
    const Answer before = ask_first(probe, problem);
    Problem moved = problem;
    moved.q = reordered(problem.q, heads, queries);
    moved.k = reordered(problem.k, heads, keys);
    moved.v = reordered(problem.v, heads, keys);
    kit::AttentionForward wanted = kit::attention_forward(moved.oracle_view());
    const auto dim = static_cast<std::size_t>(sizes.value_dim);
    std::size_t to = 0;
    for (const std::int64_t head : heads)
      for (const std::int64_t query : queries) {
        const auto from = static_cast<std::size_t>(head * sizes.q_len + query);
        wanted.lse[to] = before.lse[from];
        for (std::size_t d = 0; d < dim; ++d) wanted.o[to * dim + d] = before.o[from * dim + d];
        ++to;
      }
    check_against(probe, moved, ask(probe, moved), wanted, kTwoCalls);
  }
}

// Two halves of the keys, merged by their lse, are the whole. One half may be empty.
void split_and_merge(Probe& probe) {
  Rng shape = probe.begin_case("shape");
  const Sizes sizes = law_sizes(shape);
  for (const std::int64_t cut :
       {shape.integer(1, sizes.k_len - 1), shape.integer(1, 20), std::int64_t{0}}) {
    Rng rng = probe.begin_case(fmt::format("cut_{}", probe.observation().cases));
    Problem whole(sizes, rng);
    fill_sharp(whole, rng);
    kit::AttentionForward merged = kit::attention_forward(whole.oracle_view());
    Problem part = whole;
    part.kv_start = {0};
    part.kv_len = {static_cast<std::int32_t>(cut)};
    const Answer low = ask(probe, part);
    part.kv_start = {static_cast<std::int32_t>(cut)};
    part.kv_len = {static_cast<std::int32_t>(sizes.k_len - cut)};
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
    check_against(probe, whole, sum, merged, kTwoCalls);
  }
}

// What lies in the future of a query may change without changing its row.
void causal_prefix(Probe& probe) {
  Rng shape = probe.begin_case("shape");
  Sizes sizes = law_sizes(shape);
  sizes.q_len = sizes.k_len;
  for (int number = 0; number < 3; ++number) {
    Rng rng = probe.begin_case(fmt::format("future_{}", number));
    Problem problem(sizes, rng);
    problem.causal = true;
    fill_sharp(problem, rng);
    kit::AttentionForward wanted =
        as_wanted(ask_first(probe, problem), kit::attention_forward(problem.oracle_view()));
    const std::int64_t now = rng.integer(1, sizes.k_len - 2);
    for (Tensor* tensor : {&problem.k, &problem.v})
      for_each_row(*tensor, [&](float* row, auto, auto, auto j) {
        if (j <= now) return;
        for (std::int64_t d = 0; d < tensor->dim; ++d)
          row[d] = static_cast<float>(rng.normal() * (number == 0 ? 1 : 1e3));
      });
    Answer after = ask(probe, problem);
    const auto dim = static_cast<std::size_t>(sizes.value_dim);
    for (std::size_t row = 0; row < wanted.lse.size(); ++row) {
      if (static_cast<std::int64_t>(row) % sizes.q_len <= now) continue;
      after.lse[row] = static_cast<float>(wanted.lse[row]);  // these rows may change
      for (std::size_t d = 0; d < dim; ++d)
        after.o[row * dim + d] = static_cast<float>(wanted.o[row * dim + d]);
    }
    check_against(probe, problem, after, wanted, kTwoCalls);
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
