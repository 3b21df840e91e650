// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "directed.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Models that like to end: EOS tokens are mostly among the best.
RandomLanguage eager_language(Rng& rng) {
  RandomLanguage drawn = draw_language(rng);
  drawn.eos_favour = static_cast<int>(rng.integer(6, 30));
  return drawn;
}

// EOS extensions take places among the best; as many others must come up behind them.
void eos_takes_places(Probe& probe) {
  require_right_directed(probe, "eos_takes_a_place");
  require_right_directed(probe, "starving");
  for (int turn = 0; turn < 8; ++turn) {
    Rng rng = probe.begin_case(fmt::format("eager_{}", turn));
    Settings settings = random_settings(rng, BEAM_SEPARATE);
    settings.beam = settings.n_return = rng.integer(2, 6);
    settings.vocab = rng.integer(8, 14);
    settings.max_new = rng.integer(3, 6);
    settings.min_new = 0;
    const std::int64_t ids = turn < 3 ? rng.integer(1, 2) : turn < 6 ? 3 : rng.integer(40, 60);
    if (turn >= 6) settings.vocab += ids;
    settings.eos = distinct_tokens(rng, ids, settings.vocab);
    if (turn >= 3) {  // what starves would have won in the end
      settings.penalty = BEAM_PENALTY_LENGTH;
      settings.alpha = rng.uniform(1.5, 3);
      settings.stop = BEAM_STOP_BOUND;
    }
    require_right(probe, rng, random_problem(rng, settings, 10, eager_language));
  }
}

// Under SEPARATE only what is among the first `beam` may finish.
void finishing_rank(Probe& probe) {
  require_right_directed(probe, "eos_below_beam");
  require_right_directed(probe, "low_eos");
  for (int turn = 0; turn < 6; ++turn) {
    Rng rng = probe.begin_case(fmt::format("random_{}", turn));
    Settings settings = random_settings(rng, BEAM_SEPARATE);
    settings.beam = settings.n_return = rng.integer(1, 4);
    settings.vocab = rng.integer(3, 8);
    settings.max_new = rng.integer(2, 6);
    settings.min_new = 0;
    settings.eos = distinct_tokens(rng, 1, settings.vocab);
    settings.stop = BEAM_STOP_BOUND;
    settings.penalty = BEAM_PENALTY_LENGTH;
    settings.alpha = rng.uniform(-0.5, 0.5);
    require_right(probe, rng, random_problem(rng, settings, 16));
  }
}

// Every EOS id beats every other token, for every beam, for several steps.
void eos_everywhere(Probe& probe) {
  const auto eager = [](Rng& item_rng) {
    RandomLanguage drawn = draw_language(item_rng);
    drawn.unit = 1.0F / 1024;
    drawn.levels = 4096;
    drawn.forbidden = 0;
    drawn.slump = 0;
    drawn.eos_favour = 64;
    return drawn;
  };
  for (const std::int32_t policy : kPolicies)
    for (const std::int64_t ids : {1, 2, 3, 4, 12, 33, 48, 64}) {
      Rng rng = probe.begin_case(fmt::format("policy_{}_{}_ids", policy, ids));
      Settings settings = random_settings(rng, policy);
      settings.beam = settings.n_return = rng.integer(2, 5);
      settings.vocab = ids + rng.integer(settings.beam, 9);
      settings.max_new = rng.integer(4, 7);
      settings.min_new = rng.integer(0, 1);
      settings.penalty = BEAM_PENALTY_LENGTH;
      settings.alpha = rng.uniform(1.5, 3);  // long hypotheses still win: beams must live on
      settings.stop = BEAM_STOP_BOUND;
      settings.eos = distinct_tokens(rng, ids, settings.vocab);
      require_right(probe, rng, random_problem(rng, settings, 8, eager));
    }
  // Forbidden for some steps, in which there are as many rows as beams.
  for (const std::int64_t ids : {31, 32, 33, 63, 64})
    for (const std::int64_t beam : {1, 3}) {
      Rng rng = probe.begin_case(fmt::format("{}_ids_forbidden_at_first_beam_{}", ids, beam));
      Settings settings = random_settings(rng, BEAM_POOLED);
      settings.beam = settings.n_return = beam;
      settings.vocab = ids + rng.integer(beam, 9);
      settings.min_new = rng.integer(2, 3);
      settings.max_new = settings.min_new + 2;
      settings.eos = distinct_tokens(rng, ids, settings.vocab);
      require_right(probe, rng, random_problem(rng, settings, 4, eager));
    }
  // Several of them at the bounds of blocks, or with one or no token between them, forbidden at
  // first.
  for (const std::int32_t policy : kPolicies)
    for (const bool ends : {false, true}) {
      Rng rng =
          probe.begin_case(fmt::format("policy_{}_block_{}", policy, ends ? "ends" : "starts"));
      const auto vocab = static_cast<std::int32_t>(rng.integer(2050, 2559));
      const std::vector<std::int32_t> eos =
          ends ? std::vector{511, 1024, vocab - 1} : std::vector{512, 1535, 1537, 1538};
      require_right(probe, rng, blocks_problem(rng, policy, vocab, eos));
    }
  // In one part of a wide row, with all that is open and good.
  for (const std::int64_t ids : {3, 16}) {
    Rng rng = probe.begin_case(fmt::format("{}_ids_in_one_stretch", ids));
    require_right(probe, rng, stretch_problem(rng, BEAM_SEPARATE, ids));
  }
}

// There is one hypothesis at first, not `beam` equal ones.
void first_step(Probe& probe) {
  require_right_directed(probe, "one_root");
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("policy_{}", policy));
    Settings settings = random_settings(rng, policy);
    settings.beam = settings.n_return = rng.integer(3, 8);
    settings.vocab = rng.integer(settings.beam, 30);
    settings.max_new = rng.integer(1, 4);
    settings.min_new = rng.integer(0, settings.max_new);
    settings.eos = distinct_tokens(rng, rng.integer(0, 2), settings.vocab);
    const SolvedProblem solved = random_problem(rng, settings, 8);
    const Answer answer = require_right(probe, rng, solved);
    if (answer.tally.repeated_rows > 0)
      probe.fail(fmt::format("{} rows were asked twice", answer.tally.repeated_rows),
                 {describe(settings)});
  }
}

// Fewer extensions than beams: two tokens, nearly everything forbidden, also of many tokens, or no
// token possible at all. At first, that is: among a hundred beams there are enough in the end.
void few_candidates(Probe& probe) {
  for (int turn = 0; turn < 14; ++turn) {
    const std::int32_t policy = turn % 2 == 0 ? BEAM_POOLED : BEAM_SEPARATE;
    Rng rng = probe.begin_case(fmt::format("policy_{}_{}", policy, turn / 2));
    Settings settings = random_settings(rng, policy);
    settings.vocab = rng.integer(1, 3);
    settings.beam = rng.integer(5, 40);
    settings.n_return = rng.integer(1, settings.beam);
    settings.max_new = rng.integer(1, 5);
    settings.min_new = rng.chance(0.3) ? 1 : 0;
    if (turn >= 10 && turn < 12) {
      settings.vocab = 3;
      settings.max_new = 6;
      settings.beam = settings.n_return = rng.integer(70, 150);
      settings.alpha = rng.uniform(0.3, 1.7);  // scores of different lengths are never equal
    }
    const bool long_row = turn >= 12;
    if (long_row) {
      settings.vocab = rng.integer(6'000, 20'000);
      settings.beam = settings.n_return = rng.integer(20, 40);
      settings.max_new = rng.integer(1, 2);
    }
    settings.eos = distinct_tokens(rng, rng.integer(0, 1), settings.vocab);
    const auto sparse = [&](Rng& item_rng) {
      RandomLanguage drawn = draw_language(item_rng);
      drawn.forbidden = item_rng.chance(0.2) ? 1 : item_rng.uniform(0, 0.9);
      if (turn >= 10) drawn.forbidden = long_row ? 0.9998 : 0;
      return drawn;
    };
    require_right(probe, rng, random_problem(rng, settings, 8, sparse));
  }
}

/// Log-probs that differ, of which float64 makes equal sums, and some that it still tells apart:
/// without a penalty, since scores of sums that are neighbours would hang on rounding.
void ask_equal_sums(Probe& probe, std::int32_t policy, bool long_rows, Lost lost) {
  Rng rng = probe.begin_case(fmt::format("policy_{}_equal_sums{}{}", policy,
                                         long_rows ? "_of_long_rows" : "",
                                         lost == Lost::most ? "_and_others" : ""));
  Settings settings = random_settings(rng, policy);
  draw_sizes(rng, settings, {2, 4}, long_rows ? Range{2000, 4000} : Range{20, 40}, {3, 5});
  settings.penalty = long_rows && lost == Lost::all ? BEAM_PENALTY_LENGTH : BEAM_PENALTY_NONE;
  settings.alpha = rng.uniform(0.5, 1.5);
  const Problem drawn = random_problem(rng, settings, 4).problem;
  require_right(probe, rng,
                solved_problem(settings, drawn.prompts, lost_in_the_sum(drawn.language, lost)));
}

// Whole numbers from 0 to -2: equal candidates at every rank, and equal finished hypotheses of
// different length. Equals that rounding makes, and such whose tokens lie far apart.
void ties(Probe& probe) {
  for (int turn = 0; turn < 12; ++turn) {
    const std::int32_t policy = turn % 2 == 0 ? BEAM_POOLED : BEAM_SEPARATE;
    Rng rng = probe.begin_case(fmt::format("policy_{}_{}", policy, turn / 2));
    Settings settings = random_settings(rng, policy);
    settings.penalty = BEAM_PENALTY_NONE;
    settings.beam = settings.n_return = rng.integer(1, 6);
    settings.vocab = turn < 8    ? rng.integer(3, 8)
                     : turn < 10 ? rng.integer(600, 1400)
                                 : rng.integer(9'000, 20'000);
    settings.eos = distinct_tokens(rng, rng.integer(1, 2), settings.vocab);
    if (turn < 2) {  // nothing but the best is needed: the first of many
      settings.beam = settings.n_return = 1;
      settings.vocab = rng.integer(20, 40);
      settings.eos.clear();
    }
    const auto coarse = [](Rng& item_rng) {
      RandomLanguage drawn = draw_language(item_rng);
      drawn.unit = 1;
      drawn.levels = item_rng.integer(1, 3);
      drawn.slump = 0;
      return drawn;
    };
    require_right(probe, rng, random_problem(rng, settings, 6, coarse));
  }
  for (const bool long_rows : {false, true}) {
    for (const std::int32_t policy : kPolicies) {
      for (const Lost lost : {Lost::all, Lost::most})
        ask_equal_sums(probe, policy, long_rows, lost);
      Rng rng = probe.begin_case(
          fmt::format("policy_{}_equal_scores{}", policy, long_rows ? "_of_long_rows" : ""));
      require_right(probe, rng, equal_scores_problem(rng, policy, long_rows));
    }
  }
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("policy_{}_far_apart", policy));
    require_right(probe, rng, far_equals_problem(rng, policy, rng.integer(263'000, 264'000)));
  }
}

}  // namespace

std::vector<Check> expansion_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"eos_takes_places", "beams that starve behind EOS candidates", correctness, 2, critical},
       eos_takes_places},
      {{"finishing_rank", "EOS accepted at any rank", correctness, 2, major}, finishing_rank},
      {{"eos_everywhere", "too few candidates when all EOS ids are ahead", correctness, 2,
        critical},
       eos_everywhere},
      {{"first_step", "equal hypotheses in the first step", correctness, 2, critical}, first_step},
      {{"ties", "an order of equals that is left to chance", correctness, 1, minor}, ties},
      {{"few_candidates", "beams that find no extension", robustness, 2, major}, few_candidates},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
