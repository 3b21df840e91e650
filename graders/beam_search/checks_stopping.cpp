// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "directed.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

Settings stopping_settings(Rng& rng, std::int32_t policy) {
  Settings settings = random_settings(rng, policy);
  draw_sizes(rng, settings, {2, 4}, {4, 9}, {4, 7});
  return settings;
}

/// A path that starts well below what finishes early, and is free from then on.
Table comeback(std::int64_t max_new, const std::vector<std::int32_t>& early_eos_at) {
  constexpr std::int32_t kEos = 0;
  constexpr std::int32_t kOn = 2;
  Table table;
  table.otherwise = {-20, -21, -22, -23};
  std::vector<std::int32_t> path;
  for (std::int32_t t = 1; t <= max_new; ++t) {
    std::vector<float> row{-24, -25, 0, -26};
    row[kOn] = t == 1 ? -6.0F : 0.0F;
    if (std::find(early_eos_at.begin(), early_eos_at.end(), t) != early_eos_at.end())
      row[kEos] = -static_cast<float>(t);
    if (t == max_new) row[kEos] = -0.125F, row[kOn] = -9;
    table.rows[path] = row;
    path.push_back(kOn);
  }
  return table;
}

/// One hypothesis, and an EOS that is as good as what goes on, at the first step that allows one.
SolvedProblem equal_end_problem(Rng& rng, std::int32_t penalty, std::int32_t stop) {
  Settings settings;
  settings.beam = settings.n_return = 1;
  settings.vocab = 3;
  settings.min_new = rng.integer(1, 9);
  settings.max_new = settings.min_new + 3;
  settings.penalty = penalty;
  settings.stop = stop;
  settings.alpha = stop == BEAM_STOP_BOUND ? rng.uniform(-1.5, -0.3) : rng.uniform(0.3, 1.5);
  const auto language = [seed = rng()](const Context& at, std::span<float> row) {
    const std::uint64_t place = mixed(at.path ^ seed, static_cast<std::uint64_t>(at.item));
    row[0] = row[1] = -static_cast<float>(place % 4096 + 1) / 1024;
    row[2] = row[0] - 1;
  };
  return solved_problem(settings, random_prompts(rng, 12), language);
}

// The list is full, and its worst is as good as what may still come, to the last bit. Of some lp
// all products with 1 / lp are on the harmless side.
void ask_equal_ends(Probe& probe, std::int32_t stop) {
  for (const std::int32_t penalty : {BEAM_PENALTY_LENGTH, BEAM_PENALTY_GNMT})
    for (int turn = 0; turn < 6; ++turn) {
      Rng rng = probe.begin_case(fmt::format("penalty_{}_equal_ends_{}", penalty, turn));
      require_right(probe, rng, equal_end_problem(rng, penalty, stop));
    }
}

// When the list is full, each rule has its own idea of whether better can still come.
void stop_rules(Probe& probe) {
  require_right_directed(probe, "bound_is_not_full");
  require_right_directed(probe, "worst_not_best");
  require_right_directed(probe, "bound_to_the_end");
  constexpr std::array kPairs{std::array{BEAM_STOP_ESTIMATE, BEAM_STOP_FULL},
                              std::array{BEAM_STOP_BOUND, BEAM_STOP_ESTIMATE},
                              std::array{BEAM_STOP_FULL, BEAM_STOP_ESTIMATE},
                              std::array{BEAM_STOP_ESTIMATE, BEAM_STOP_BOUND},
                              std::array{BEAM_STOP_BOUND, BEAM_STOP_FULL}};
  for (const auto [stop, other_stop] : kPairs) {
    Rng rng = probe.begin_case(
        fmt::format("rule_{}_unlike_{}", static_cast<int>(stop), static_cast<int>(other_stop)));
    Settings settings = stopping_settings(rng, BEAM_SEPARATE);
    settings.penalty =
        static_cast<std::int32_t>(rng.integer(BEAM_PENALTY_LENGTH, BEAM_PENALTY_GNMT));
    settings.alpha = rng.uniform(1, 3);
    settings.stop = stop;
    Settings other = settings;
    other.stop = other_stop;
    require_right(probe, rng, random_problem(rng, settings, 10, draw_language, unlike(other)));
  }
  // With alpha < 0 later is worse, and the bound is that of the current length.
  for (const std::int32_t stop : {BEAM_STOP_BOUND, BEAM_STOP_ESTIMATE}) {
    Rng rng = probe.begin_case(fmt::format("rule_{}_negative_alpha", stop));
    Settings settings = stopping_settings(rng, BEAM_SEPARATE);
    settings.penalty = BEAM_PENALTY_LENGTH;
    settings.alpha = rng.uniform(-1.5, -0.4);
    settings.stop = stop;
    Settings other = settings;
    other.stop = BEAM_STOP_FULL;
    require_right(probe, rng, random_problem(rng, settings, 12, draw_language, unlike(other)));
  }
  ask_equal_ends(probe, BEAM_STOP_ESTIMATE);
}

// With alpha < 0 longer is worse.
void negative_alpha(Probe& probe) {
  for (const bool long_rows : {false, true})
    require_right_directed(probe, "early_eos_below_a_lost_one", long_rows);
  for (int turn = 0; turn < 8; ++turn) {
    const std::int32_t policy = turn % 4 == 0 ? BEAM_POOLED : BEAM_SEPARATE;
    Rng rng = probe.begin_case(fmt::format("policy_{}_{}", policy, turn));
    Settings settings = stopping_settings(rng, policy);
    settings.penalty = turn < 4 ? BEAM_PENALTY_LENGTH : BEAM_PENALTY_GNMT;
    settings.alpha = rng.uniform(-2, -0.5);
    settings.stop = BEAM_STOP_BOUND;
    Settings other = settings;
    other.stop = BEAM_STOP_FULL;
    other.penalty = policy == BEAM_POOLED ? BEAM_PENALTY_NONE : settings.penalty;
    require_right(probe, rng, random_problem(rng, settings, 8, draw_language, unlike(other)));
  }
  ask_equal_ends(probe, BEAM_STOP_BOUND);
}

// A beam that looks lost and ends best; a list that is full of poor ones when a good one comes.
void late_better(Probe& probe) {
  for (const std::int32_t policy : kPolicies)
    for (const bool several : {false, true}) {
      Rng rng = probe.begin_case(fmt::format("policy_{}_{}", policy, several ? "full" : "dip"));
      Directed late;
      late.settings.policy = policy;
      late.settings.stop = BEAM_STOP_BOUND;
      late.settings.penalty = BEAM_PENALTY_LENGTH;
      late.settings.alpha = rng.uniform(1.75, 2.25);
      late.settings.max_new = rng.integer(5, 9);
      late.settings.beam = late.settings.n_return = 2;
      late.table = several ? comeback(late.settings.max_new, {1, 2, 3})
                           : comeback(late.settings.max_new, {1});
      require_right(probe, rng, directed_problem(rng, late, 4));
    }
}

// No EOS before min_new other tokens.
void min_length(Probe& probe) {
  require_right_directed(probe, "eos_too_early");
  for (int turn = 0; turn < 6; ++turn) {
    const std::int32_t policy = turn % 2 == 0 ? BEAM_POOLED : BEAM_SEPARATE;
    Rng rng = probe.begin_case(fmt::format("policy_{}_{}", policy, turn / 2));
    Settings settings = stopping_settings(rng, policy);
    settings.min_new = rng.integer(1, settings.max_new);
    if (turn >= 4) settings.vocab = rng.integer(1000, 1500);
    Settings shorter = settings;
    --shorter.min_new;
    const auto eager = [](Rng& item_rng) {
      RandomLanguage drawn = draw_language(item_rng);
      drawn.eos_favour = static_cast<int>(item_rng.integer(3, 9));
      drawn.forbidden = 0;
      return drawn;
    };
    require_right(probe, rng,
                  random_problem(rng, settings, 8, eager, turn < 4 ? unlike(shorter) : Accept()));
  }
  // Of a row that is read by blocks, at the bounds of a block, within one, where one token parts it
  // from another, and all that there is of the last one.
  for (const std::int32_t policy : kPolicies)
    for (const std::int32_t eos : {0, 511, 512, 800, 1023, 1024, 2048}) {
      Rng rng = probe.begin_case(fmt::format("policy_{}_eos_{}", policy, eos));
      const std::int64_t vocab = eos == 2048 ? 2049 : rng.integer(2049, 2559);
      const std::vector<std::int32_t> ids = eos == 800 ? std::vector{800, 802} : std::vector{eos};
      require_right(probe, rng, blocks_problem(rng, policy, vocab, ids));
    }
  // Of rows that threads share.
  Rng rng = probe.begin_case("rows_cut_in_the_middle");
  require_right(probe, rng, cut_rows_problem(rng, BEAM_POOLED));
}

// What is open at the end counts as well, and by its score.
void nothing_finishes(Probe& probe) {
  require_right_directed(probe, "open_ones_stay");
  require_right_directed(probe, "open_ones_are_ranked");
  for (const std::int32_t policy : kPolicies)
    for (const char* why : {"no_eos", "eos_forbidden", "min_new"}) {
      Rng rng = probe.begin_case(fmt::format("policy_{}_{}", policy, why));
      Settings settings = stopping_settings(rng, policy);
      settings.penalty = BEAM_PENALTY_LENGTH;
      settings.alpha = rng.uniform(0.5, 1.5);
      if (why == std::string_view("no_eos")) settings.eos.clear();
      if (why == std::string_view("min_new")) settings.min_new = settings.max_new;
      const SolvedProblem solved = random_problem(rng, settings, 6);
      Problem problem = solved.problem;
      if (why == std::string_view("eos_forbidden"))
        problem.language = [language = solved.problem.language, eos = settings.eos](
                               const Context& at, std::span<float> row) {
          language(at, row);
          for (const std::int32_t token : eos) row[static_cast<std::size_t>(token)] = kForbidden;
        };
      require_right(probe, rng, problem);
    }
}

}  // namespace

std::vector<Check> stopping_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"stop_rules", "a stop rule with the wrong bound", correctness, 2, major}, stop_rules},
      {{"negative_alpha", "a bound that takes longer to be better", correctness, 1, minor},
       negative_alpha},
      {{"late_better", "stopping, or dropping a beam, before the best has come", correctness, 1,
        major},
       late_better},
      {{"min_length", "an EOS before its time", correctness, 1, major}, min_length},
      {{"nothing_finishes", "open hypotheses that are lost, or ranked by their sum, at the end",
        correctness, 2, major},
       nothing_finishes},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
