#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "ask.h"
#include "cases.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// Lengths of the flash-attention library's own tests, all of which leave partial tiles somewhere,
// and lengths around multiples of common tiles. One shape comes twice with different numbers.
void all_elements(Probe& probe) {
  struct Lengths {
    std::int64_t q, k;
  };
  constexpr Lengths kKnown[] = {{113, 203}, {108, 256}, {127, 513}, {3, 799}, {239, 1}, {384, 256}};
  for (int n = 0; n < 6; ++n) {
    Rng rng = probe.begin_case(fmt::format("random {}", n));
    Lengths lengths = kKnown[rng.integer(0, 5)];
    if (n >= 3) lengths = {near_tile_edge(rng, 65, 260), near_tile_edge(rng, 65, 260)};
    const Sizes sizes = drawn_sizes(rng, lengths.q, lengths.k);
    const bool causal = n % 2 == 1;  // drawn, it was the same six times in one run of 32
    for (int again = 0; again < (n == 3 ? 2 : 1); ++again) {
      Problem problem = random_problem(rng, sizes);
      problem.form.causal = causal;
      attend(problem);
      require_right(probe, problem);
    }
  }
}

void head_dims(Probe& probe) {
  constexpr std::int64_t kDims[] = {1,  2,  3,  7,  8,   15,  16,  17,  24,  31,  33,  47,  59,
                                    64, 65, 80, 96, 111, 127, 128, 129, 160, 192, 224, 255, 256};
  const auto any = [&](Rng& rng) {
    return rng.chance(0.3) ? rng.integer(1, 256) : kDims[rng.integer(0, std::size(kDims) - 1)];
  };
  for (int n = 0; n < 8; ++n) {
    Rng rng = probe.begin_case(fmt::format("dims {}", n));
    Sizes sizes;
    sizes.q_heads = 2;
    sizes.q_len = rng.integer(20, 90);
    sizes.k_len = rng.integer(20, 90);
    sizes.dim = n == 0 ? 256 : any(rng);
    sizes.value_dim = n == 0 ? 255 : n % 2 == 1 ? sizes.dim : any(rng);
    // And once surely much less than value_dim.
    if (n == 2) sizes.value_dim = rng.integer(64, 256), sizes.dim = sizes.value_dim / 2;
    Problem problem = random_problem(rng, sizes);
    problem.form.causal = rng.chance(0.3);
    attend(problem);
    require_right(probe, problem);
  }
}

/// All scores far below zero: a key that fills up a tile with zeros would outweigh every real one.
void make_scores_negative(Problem& problem) {
  for (float& q : problem.q) q = std::abs(q) + 0.5f;
  for (float& k : problem.k) k = -std::abs(k) - 0.5f;
}

// Scores three and five times as sharp, also far below zero, and the rest of a tile left over.
void short_sequences(Probe& probe) {
  for (const std::int64_t k_len : {1, 2, 5, 17, 127}) {
    Rng rng = probe.begin_case(fmt::format("{} keys", k_len));
    std::int64_t keys = k_len + rng.integer(0, 2);
    for (const bool negative : {false, true}) {
      // An even number of keys and an odd one.
      Sizes sizes = drawn_sizes(rng, kit::one_of<std::int64_t>(rng, {1, 2, 17, 76, 110}), keys++);
      if (negative) sizes.dim = 64;
      Problem problem =
          random_problem(rng, sizes, negative ? 20 : kit::one_of(rng, {3.0, 9.0, 15.0}));
      problem.form.causal = rng.chance(0.3);
      if (negative) make_scores_negative(problem);
      attend(problem);
      require_right(probe, problem);
    }
  }
}

void negative_scores(Probe& probe) {
  for (int n = 0; n < 2; ++n) {
    Rng rng = probe.begin_case(fmt::format("lse below -100 {}", n));
    Sizes sizes = drawn_sizes(rng, rng.integer(70, 140), rng.integer(129, 159));
    sizes.dim = 64;
    Problem problem = random_problem(rng, sizes, 20);
    problem.form.causal = n == 1;
    make_scores_negative(problem);
    attend(problem);
    require_right(probe, problem);
  }
}

// With all weight on one key dS is a difference of equal numbers: what is left must be rounding.
void single_key(Probe& probe) {
  Rng one = probe.begin_case("one key");
  Problem problem = random_problem(one, drawn_sizes(one, one.integer(1, 130), 1));
  attend(problem);
  require_right(probe, problem);

  Rng rng = probe.begin_case("one key has all the weight");
  Problem sharp =
      random_problem(rng, drawn_sizes(rng, rng.integer(100, 140), rng.integer(100, 140)));
  for (float& q : sharp.q) q *= 60;
  sharp.form.causal = rng.chance(0.5);
  attend(sharp);
  require_right(probe, sharp);
}

void grouped_heads(Probe& probe) {
  for (const std::int64_t group : {2, 4, 7, 8}) {
    Rng rng = probe.begin_case(fmt::format("groups of {}", group));
    Sizes sizes;
    sizes.batch = rng.integer(1, 2);
    sizes.kv_heads = group >= 7 ? 1 : rng.integer(2, 3);
    sizes.q_heads = group * sizes.kv_heads;
    sizes.q_len = rng.integer(66, 100);
    sizes.k_len = rng.integer(66, 140);
    sizes.dim = 16;
    sizes.value_dim = 24;
    Problem problem = random_problem(rng, sizes);
    problem.form.causal = rng.chance(0.5);
    attend(problem);
    require_right(probe, problem);
  }
}

// Heads and rows of very different size: an error is measured against its own element, so that a
// quiet head cannot hide behind a loud one.
void loud_heads(Probe& probe) {
  for (int n = 0; n < 2; ++n) {
    Rng rng = probe.begin_case(fmt::format("loud and quiet {}", n));
    Sizes sizes = drawn_sizes(rng, rng.integer(90, 150), rng.integer(90, 150));
    sizes.q_heads = 4;
    sizes.kv_heads = n == 0 ? 4 : 2;
    Problem problem = random_problem(rng, sizes);
    kit::AttentionProblem& form = problem.form;
    for (std::int64_t b = 0; b < form.batch; ++b) {
      for (std::int64_t h = 0; h < form.q_heads; ++h)
        for (std::int64_t i = 0; i < form.q_len; ++i) {
          const double size = std::pow(10.0, static_cast<double>(rng.integer(-8, 4)));
          for (std::int64_t c = 0; c < form.value_dim; ++c)
            problem.dout_row(b, h, i)[c] *= static_cast<float>(size);
          if (!rng.chance(0.2)) continue;  // and scores from nearly equal to very sharp
          for (std::int64_t c = 0; c < form.dim; ++c)
            problem.q_row(b, h, i)[c] *= static_cast<float>(std::min(size, 10.0));
        }
      for (std::int64_t h = 0; h < form.kv_heads; ++h)
        for (std::int64_t j = 0; j < form.k_len; ++j)
          for (std::int64_t c = 0; c < form.value_dim; ++c)
            problem.v_row(b, h, j)[c] *= static_cast<float>(std::pow(10.0, 2.0 * (double(h) - 1)));
    }
    form.causal = rng.chance(0.5);
    attend(problem);
    require_right(probe, problem);
  }
}

// Many keys of nearly equal weight: sums of thousands of small terms.
void long_uniform(Probe& probe) {
  Rng rng = probe.begin_case("long and nearly uniform");
  Sizes sizes;
  const std::int64_t length = rng.integer(2000, 2400);
  const bool many_keys = rng.chance(0.5);
  sizes.q_len = many_keys ? 150 : length;
  sizes.k_len = many_keys ? length : 150;
  sizes.dim = 8;
  sizes.value_dim = 8;
  Problem problem = random_problem(rng, sizes, 0.05);
  for (float& dout : problem.dout) dout = 1 + 0.1f * dout;  // so that rounding cannot average out
  for (float& v : problem.v) v = 1 + 0.5f * v;
  attend(problem);
  require_right(probe, problem);
}

}  // namespace

std::vector<Check> values_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"all_elements", "any wrong element of dq, dk or dv", correctness, 4, critical},
       all_elements},
      {{"short_sequences", "the unmasked rest of a tile", correctness, 2, critical},
       short_sequences},
      {{"negative_scores", "keys that only fill up a tile, with a score of 0 above all real ones",
        correctness, 1, major},
       negative_scores},
      {{"grouped_heads", "query heads of a group that do not add up", correctness, 2, critical},
       grouped_heads},
      {{"loud_heads", "errors that hide behind larger heads or rows", correctness, 2, critical},
       loud_heads},
      {{"single_key", "gradients where there can be none", correctness, 1, major}, single_key},
      {{"head_dims", "columns that fill no vector, value_dim taken for head_dim", correctness, 1,
        major},
       head_dims},
      {{"long_uniform", "sums of thousands of small terms in low precision", correctness, 1, major},
       long_uniform},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
