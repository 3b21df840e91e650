// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fmt/format.h>

#include "directed.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Settings under which hypotheses of several lengths meet.
Settings mixed_lengths(Rng& rng, std::int32_t policy) {
  Settings settings = random_settings(rng, policy);
  settings.stop = BEAM_STOP_BOUND;
  draw_sizes(rng, settings, {2, 4}, {4, 9}, {3, 7});
  return settings;
}

// What counts as length, and which formula: on each of these, five wrong rules change the winner.
void length_bookkeeping(Probe& probe) {
  for (const char* name :
       {"six_length_separate", "six_length_pooled", "six_none_separate", "six_none_pooled",
        "six_gnmt_separate", "six_gnmt_pooled", "six_gnmt2_separate", "six_gnmt2_pooled",
        "eos_counts", "prompt_does_not_count", "own_length_counts", "length_not_gnmt",
        "gnmt_matters", "divide", "sum_stays_raw"})
    require_right_directed(probe, name);
  for (const std::int32_t policy : kPolicies)
    for (const std::int32_t penalty : {BEAM_PENALTY_LENGTH, BEAM_PENALTY_GNMT}) {
      Rng rng = probe.begin_case(fmt::format("policy_{}_penalty_{}", policy, penalty));
      Settings settings = mixed_lengths(rng, policy);
      settings.penalty = penalty;
      settings.alpha = rng.chance(0.25) ? rng.uniform(-1, -0.3) : rng.uniform(0.5, 2.5);
      Settings flat = settings;
      flat.penalty = BEAM_PENALTY_NONE;
      const auto matters = [&](const Language& language, const Expected& want) {
        const Expected without = decode(flat, language, 0);
        return !want.best.empty() && without.best[0].tokens != want.best[0].tokens;
      };
      require_right(probe, rng, random_problem(rng, settings, 10, draw_language, matters));
    }
  // Penalties that are numbers where powers of 6, or of 5 + n, are none.
  for (const std::int32_t policy : kPolicies)
    for (const std::int32_t sign : {1, -1}) {
      Rng rng = probe.begin_case(fmt::format("policy_{}_alpha_of_hundreds_{}", policy, sign));
      Settings settings = mixed_lengths(rng, policy);
      settings.penalty = BEAM_PENALTY_GNMT;
      settings.alpha = sign * rng.uniform(400, 600);
      settings.max_new = 4;
      require_right(probe, rng, random_problem(rng, settings, 4));
    }
  // More steps than a byte, nine or ten bits count, with EOS tokens in the last of them only, and
  // there often; at once again with the other penalty.
  const auto eager = [](Rng& item_rng) {
    RandomLanguage drawn = draw_language(item_rng);
    drawn.eos_favour = static_cast<int>(item_rng.integer(3, 6));
    drawn.forbidden = 0;
    return drawn;
  };
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("policy_{}_hundreds_of_steps", policy));
    Settings settings = mixed_lengths(rng, policy);
    settings.alpha = rng.uniform(0.5, 2);
    settings.max_new = policy == BEAM_POOLED ? rng.integer(580, 620) : rng.integer(1090, 1130);
    settings.min_new = settings.max_new - rng.integer(30, 60);
    for (const std::int32_t penalty : {BEAM_PENALTY_LENGTH, BEAM_PENALTY_GNMT}) {
      settings.penalty = penalty;
      require_right(probe, rng, random_problem(rng, settings, 1, eager));
    }
  }
  // Powers of lengths that no integer holds, of which some are 0 in 64 bits.
  for (const std::int32_t policy : kPolicies)
    for (const double alpha : {20, 64, -20, -64}) {
      Rng rng = probe.begin_case(fmt::format("policy_{}_whole_alpha_{}", policy, alpha));
      Settings settings = mixed_lengths(rng, policy);
      settings.penalty = rng.chance(0.7) ? BEAM_PENALTY_LENGTH : BEAM_PENALTY_GNMT;
      settings.alpha = alpha;
      settings.max_new = rng.integer(11, 16);
      require_right(probe, rng, random_problem(rng, settings, 4));
    }
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("policy_{}_vast_scores", policy));
    require_right(probe, rng, vast_scores_problem(rng, policy));
  }
  // Scores rank, also where they are equal and the sums are not.
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("policy_{}_equal_scores", policy));
    require_right(probe, rng, equal_scores_problem(rng, policy, false));
  }
}

// The same items after prompts of 3 and of 3000 tokens.
void prompt_lengths(Probe& probe) {
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("policy_{}", policy));
    Settings settings = mixed_lengths(rng, policy);
    settings.penalty = BEAM_PENALTY_LENGTH;
    settings.alpha = rng.uniform(0.7, 1.5);
    SolvedProblem solved = random_problem(rng, settings, 8);
    solved.problem.prompts.assign(8, 3);
    const Answer after_short = require_right(probe, rng, solved);
    solved.problem.prompts.assign(8, 3000);
    solved.problem.prompts[static_cast<std::size_t>(rng.integer(0, 7))] = 7;
    const Answer after_long = require_right(probe, rng, solved);
    for (std::size_t item = 0; item < 8; ++item)
      require_same_bits(probe, solved.problem, after_short, item, after_long, item,
                        fmt::format("item {}, prompts of 3 and of 3000 tokens", item));
  }
}

// One beam and no penalty: the most likely token, again and again, until EOS. Of two values only,
// the first of many equals, which one who looks for nothing but the best may miss.
void greedy_path(Probe& probe) {
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("policy_{}", policy));
    Settings settings = random_settings(rng, policy);
    settings.beam = settings.n_return = 1;
    settings.alpha = 0;
    settings.vocab = rng.integer(20, 300);
    settings.max_new = rng.integer(12, 40);
    settings.min_new = 0;
    settings.eos = spread_tokens(rng, 1, settings.vocab);
    require_right(probe, rng, random_problem(rng, settings, 6));
    const auto two_values = [](Rng& item_rng) {
      RandomLanguage drawn = draw_language(item_rng);
      drawn.levels = 2;
      drawn.slump = 0;
      return drawn;
    };
    for (const bool ends : {false, true}) {
      rng = probe.begin_case(fmt::format("policy_{}_equals{}", policy, ends ? "" : "_without_eos"));
      if (!ends) settings.eos.clear();
      if (ends) settings.eos = spread_tokens(rng, 1, settings.vocab);
      require_right(probe, rng, random_problem(rng, settings, 6, two_values));
    }
  }
}

// Rows that do not sum to 1: what is given is what counts. Every row is lower by a constant of its
// own, which a second log-softmax would take out.
void given_log_probs(Probe& probe) {
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("policy_{}", policy));
    const Settings settings = mixed_lengths(rng, policy);
    const auto slumped = [](Rng& item_rng) {
      RandomLanguage drawn = draw_language(item_rng);
      drawn.slump = drawn.levels / 2;
      return drawn;
    };
    require_right(probe, rng, random_problem(rng, settings, 12, slumped));
  }
}

// Hundreds of log-probs of about -1e4 that are no short binary fractions: float sums lose digits
// long before the end, and floats of exact sums are no order.
void wide_sums(Probe& probe) {
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("policy_{}", policy));
    Settings settings = random_settings(rng, policy);
    settings.beam = settings.n_return = rng.integer(2, 4);
    settings.vocab = rng.integer(3, 6);
    settings.max_new = rng.integer(200, 300);
    settings.min_new = 0;
    settings.penalty = policy == BEAM_POOLED ? BEAM_PENALTY_LENGTH : BEAM_PENALTY_GNMT;
    settings.alpha = rng.uniform(0.5, 1.5);
    settings.eos = {0};
    const Seed seed = rng.seed();
    const SolvedProblem solved = solved_problem(
        settings, random_prompts(rng, 9), [seed](const Context& at, std::span<float> row) {
          Rng own = numbers_at(seed, at);
          for (float& value : row) value = static_cast<float>(-own.uniform(9e3, 1.1e4));
          row[0] *= 3;  // EOS comes, but rarely
        });
    require_right(probe, rng, solved);
  }
  // After a first token of -2^24 a float does not see fractions, in rows of any length; where few
  // tokens are possible, the order of parents decides.
  for (const std::int32_t policy : kPolicies) {
    for (const bool long_rows : {false, true}) {
      Rng rng =
          probe.begin_case(fmt::format("policy_{}_far_down{}", policy, long_rows ? "_long" : ""));
      Settings settings = mixed_lengths(rng, policy);
      if (long_rows) settings.vocab = rng.integer(1024, 1500);
      const Problem problem = random_problem(rng, settings, 8).problem;
      require_right(probe, rng,
                    solved_problem(settings, problem.prompts, far_down(problem.language, 0x1p24F)));
    }
    Rng rng = probe.begin_case(fmt::format("policy_{}_near_sums", policy));
    require_right(probe, rng, near_sums_problem(rng, policy, rng.integer(1024, 1500)));
    require_right(probe, rng, half_steps_problem(rng, policy, rng.integer(200, 1500)));
  }
}

// Possible tokens whose log-probs are lower than any number that might stand for "impossible".
void vast_log_probs(Probe& probe) {
  for (const std::int32_t policy : kPolicies)
    for (const int exponent : {22, 60, 90}) {
      Rng rng = probe.begin_case(fmt::format("policy_{}_around_2^{}", policy, exponent + 9));
      Settings settings = mixed_lengths(rng, policy);
      settings.penalty = BEAM_PENALTY_LENGTH;
      settings.beam = settings.n_return = rng.integer(3, 6);
      const auto vast = [&](Rng& item_rng) {
        RandomLanguage drawn = draw_language(item_rng);
        drawn.unit = std::ldexp(1.0F, exponent);
        drawn.levels = 1000;
        drawn.slump = item_rng.integer(0, 5000);
        drawn.forbidden = item_rng.uniform(0.3, 0.7);
        return drawn;
      };
      require_right(probe, rng, random_problem(rng, settings, 8, vast));
    }
  // Nor are scores, which a division makes as low as float64 goes.
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("policy_{}_vast_scores", policy));
    require_right(probe, rng, vast_scores_problem(rng, policy));
  }
  // The lowest float is as possible as any other, where it is all that there is as well, of rows of
  // any length.
  for (const std::int32_t policy : kPolicies)
    for (const bool long_rows : {false, true}) {
      Rng rng = probe.begin_case(
          fmt::format("policy_{}_lowest_float{}", policy, long_rows ? "_long" : ""));
      Settings settings = mixed_lengths(rng, policy);
      settings.penalty = BEAM_PENALTY_NONE;  // equal sums of different lengths are equals
      settings.beam = settings.n_return = rng.integer(3, 6);
      if (long_rows) settings.vocab = rng.integer(2000, 4000);
      const Problem drawn = random_problem(rng, settings, 8).problem;
      require_right(probe, rng,
                    solved_problem(settings, drawn.prompts, mostly_lowest(drawn.language)));
    }
}

}  // namespace

std::vector<Check> score_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"length_bookkeeping", "lengths without the EOS or with the prompt; another penalty",
        correctness, 3, critical},
       length_bookkeeping},
      {{"prompt_lengths", "prompts that count", correctness, 1, critical}, prompt_lengths},
      {{"greedy_path", "one beam that is not greedy", correctness, 1, critical}, greedy_path},
      {{"given_log_probs", "log-probs that are normalised once more", correctness, 2, critical},
       given_log_probs},
      {{"wide_sums", "sums in float32", robustness, 1, major}, wide_sums},
      {{"vast_log_probs", "a finite number that stands for -infinity", robustness, 1, minor},
       vast_log_probs},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
