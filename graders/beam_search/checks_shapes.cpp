// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "directed.h"
#include "graders/kit/refusals.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// An alpha under which scores of different lengths are never equal: among so many hypotheses there
/// would always be some, and what hangs on rounding is not graded.
double uneven_alpha(Rng& rng) {
  return rng.uniform(0.3, 1.7);
}

/// What a row of tens of thousands of tokens may look like besides many numbers.
enum class Row { ends, ties, sparse };

/// Log-probs that are fine enough to differ, of which the EOS tokens' are among the best; or coarse
/// ones, many of them equal; or all but a few impossible.
DrawLanguage long_language(Row row, std::int64_t vocab) {
  return [row, vocab](Rng& rng) {
    RandomLanguage drawn;
    drawn.seed = rng.seed();
    drawn.unit = row == Row::ties ? 1 : 1.0F / 65536;
    drawn.levels = row == Row::ties ? rng.integer(2, 5000) : 1 << 20;
    drawn.eos_favour = row == Row::ties ? static_cast<int>(rng.integer(1, 3)) : 1 << 15;
    drawn.forbidden = row == Row::sparse ? 1 - rng.uniform(0, 2.5) / static_cast<double>(vocab)
                                         : rng.uniform(0, 0.3);
    return drawn;
  };
}

// Rows for which it pays to look at a few tokens only: EOS tokens, equals and impossible tokens are
// found there as in short ones, and sums are float64 all the same.
void long_rows(Probe& probe) {
  for (const std::int32_t policy : kPolicies)
    for (const Row row : {Row::ends, Row::ties, Row::sparse})
      for (const std::int64_t around : {6'000, 70'000}) {
        Rng rng = probe.begin_case(
            fmt::format("policy_{}_{}_tokens_{}", policy, around, static_cast<int>(row)));
        Settings settings = random_settings(rng, policy);
        settings.beam = settings.n_return = rng.integer(2, 6);
        settings.vocab = around + rng.integer(-999, 999);
        settings.max_new = 3;
        settings.min_new = rng.integer(row == Row::ends ? 1 : 0, 2);
        settings.stop = BEAM_STOP_BOUND;
        settings.alpha = uneven_alpha(rng);
        settings.eos = spread_tokens(rng, rng.integer(1, 3), settings.vocab);
        if (row == Row::ties) settings.penalty = BEAM_PENALTY_NONE;  // rounding parts no equals
        Settings any_length = settings;
        any_length.min_new = 0;
        const Accept least_length_decides = row == Row::ends ? unlike(any_length) : Accept();
        require_right(probe, rng,
                      random_problem(rng, settings, 2, long_language(row, settings.vocab),
                                     least_length_decides));
      }
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("policy_{}_near_sums", policy));
    require_right(probe, rng, near_sums_problem(rng, policy, rng.integer(1100, 2000)));
    require_right(probe, rng, half_steps_problem(rng, policy, rng.integer(1100, 2000)));
  }
  // Any rule may be another one where a row is long.
  for (const Directed& one : directed_searches()) require_right_directed(probe, one.name, true);
}

// As many beams and EOS ids as the contract allows, or some of them. Some ids in the pool only:
// what they ask of a separate list is asked by eos_everywhere.
void wide_beams(Probe& probe) {
  for (const std::int32_t policy : kPolicies)
    for (const bool most : {false, true}) {
      Rng rng = probe.begin_case(fmt::format("policy_{}_{}", policy, most ? "most" : "many"));
      Settings settings = random_settings(rng, policy);
      settings.beam = most ? 1024 : rng.integer(65, 200);
      settings.n_return = rng.integer(settings.beam / 2, settings.beam);
      settings.vocab = rng.integer(70, 90);
      settings.max_new = most ? 2 : 3;
      settings.min_new = rng.integer(0, 1);
      settings.stop = BEAM_STOP_BOUND;
      settings.alpha = uneven_alpha(rng);
      const std::int64_t ids = most ? 64 : rng.integer(9, 32);
      settings.eos = spread_tokens(rng, policy == BEAM_POOLED ? ids : 1, settings.vocab);
      require_right(probe, rng, random_problem(rng, settings, 2));
    }
  // As many candidates as may matter beside a list, which 16 bits do not count: all EOS ids of all
  // rows are ahead of what lives on, and wins in the end.
  Rng rng = probe.begin_case("1024_beams_behind_all_ids");
  Settings settings = random_settings(rng, BEAM_SEPARATE);
  settings.beam = settings.n_return = 1024;
  const std::int64_t ids = rng.integer(63, 64);
  settings.vocab = ids + rng.integer(26, 28);
  settings.max_new = 3;
  settings.min_new = 0;
  settings.stop = BEAM_STOP_BOUND;
  settings.penalty = BEAM_PENALTY_LENGTH;
  settings.alpha = rng.uniform(4, 5);  // scores of different lengths are far apart
  settings.eos = spread_tokens(rng, ids, settings.vocab);
  const auto language = [seed = rng(), eos = settings.eos](const Context& at,
                                                           std::span<float> row) {
    const std::uint64_t place = mixed(at.path ^ seed, static_cast<std::uint64_t>(at.item));
    for (std::size_t token = 0; token < row.size(); ++token)
      row[token] = -6 - static_cast<float>(mixed(place, token) >> 47) * 0x1p-20F;
    for (const std::int32_t id : eos) row[static_cast<std::size_t>(id)] += 4;
  };
  require_right(probe, rng, solved_problem(settings, random_prompts(rng, 1), language));
}

// No step, and one step, which needs no model.
void short_horizons(Probe& probe) {
  for (const std::int32_t policy : kPolicies)
    for (const std::int64_t max_new : {0, 1}) {
      Rng rng = probe.begin_case(fmt::format("policy_{}_max_new_{}", policy, max_new));
      Settings settings = random_settings(rng, policy);
      draw_sizes(rng, settings, {2, 4}, {4, 9}, {4, 7});
      settings.max_new = max_new;
      settings.n_return = rng.integer(1, settings.beam);
      const SolvedProblem solved = random_problem(rng, settings, 5);
      const Answer answer = require_right(probe, rng, solved);
      if (answer.tally.requests > 0)
        probe.fail(fmt::format("the model was asked {} times, want 0", answer.tally.requests),
                   {describe(settings)});
    }
}

// Two thousand steps: more than fits into an array or a recursion for short outputs, and what a
// float loses adds up; powers of so many that integers do not hold. Copies of all tokens in every
// step are still cheap here.
void long_horizon(Probe& probe) {
  struct Long {
    std::int32_t policy, penalty;
    double alpha;
    std::int64_t most;  // steps
  };
  // Such powers go beyond 64 and 32 bits. The last alpha comes once more, with the other penalty.
  constexpr Long kLong[] = {{BEAM_POOLED, BEAM_PENALTY_LENGTH, 7, 2000},
                            {BEAM_SEPARATE, BEAM_PENALTY_LENGTH, 4, 2000},
                            {BEAM_SEPARATE, BEAM_PENALTY_LENGTH, 3, 2000},
                            {BEAM_SEPARATE, BEAM_PENALTY_GNMT, 3, 400}};
  for (const auto& [policy, penalty, alpha, most] : kLong) {
    Rng rng =
        probe.begin_case(fmt::format("policy_{}_penalty_{}_alpha_{}", policy, penalty, alpha));
    Settings settings = random_settings(rng, policy);
    settings.beam = settings.n_return = 3;
    settings.vocab = 4;
    settings.max_new = rng.integer(most * 17 / 20, most);
    settings.min_new = settings.max_new - rng.integer(1, 100);
    settings.penalty = penalty;
    settings.alpha = alpha;
    settings.eos = {0};
    const auto fine = [](Rng& item_rng) {
      RandomLanguage drawn = draw_language(item_rng);
      drawn.unit = 1.0F / 65536;
      drawn.levels = 1 << 18;
      drawn.forbidden = 0;
      return drawn;
    };
    const Problem problem = random_problem(rng, settings, 1, fine).problem;
    require_right(probe, rng,
                  solved_problem(settings, problem.prompts, far_down(problem.language, 0x1p20F)));
  }
}

constexpr std::int64_t kLarge = (1 << 16) + 1000;

// Tokens that do not go into 32 bits beside the rank of one of 1024 hypotheses; rows for three of
// these are 48 MiB, of the 64 that a request may have.
constexpr std::int64_t kVast = (1 << 22) + 1000;

/// Settings of a search that is large in one size, and has lp = 1: nothing hangs on rounding.
Settings large_settings(Rng& rng, std::int32_t policy) {
  Settings settings;
  settings.policy = policy;
  settings.penalty = BEAM_PENALTY_NONE;
  settings.stop = BEAM_STOP_BOUND;
  settings.threads = static_cast<std::int32_t>(rng.integer(1, 5));
  settings.pad = -1;
  return settings;
}

/// Numbers that a hash of the hypothesis gives, multiples of 1/1024 below 4: quickly drawn.
Language hashed_language(Rng& rng) {
  return [seed = rng()](const Context& at, std::span<float> row) {
    const std::uint64_t place = mixed(at.path ^ seed, static_cast<std::uint64_t>(at.item));
    for (std::size_t token = 0; token < row.size(); ++token)
      row[token] = -static_cast<float>(mixed(place, token) % 4096) / 1024;
  };
}

/// However large a request is, it is one for a step.
void require_one_request_a_step(Probe& probe, Rng& rng, const SolvedProblem& solved) {
  const Answer answer = require_right(probe, rng, solved);
  std::int64_t needed = 0;
  for (const Expected& want : solved.want) needed = std::max(needed, want.steps - 1);
  if (answer.tally.requests > needed)
    probe.fail(fmt::format("the model was asked {} times, want {}", answer.tally.requests, needed),
               {describe(solved.problem.settings)});
}

// So many items, and rows in one request.
void many_items(Probe& probe, std::int32_t policy) {
  Rng rng = probe.begin_case(fmt::format("{}_items", kLarge));
  Settings settings = large_settings(rng, policy);
  settings.vocab = 3;
  settings.max_new = 2;
  settings.eos = {static_cast<std::int32_t>(rng.integer(0, 2))};
  require_one_request_a_step(
      probe, rng, solved_problem(settings, random_prompts(rng, kLarge), hashed_language(rng)));
}

// A beam as wide as the contract allows, every hypothesis of which is extended; beside a list with
// so many EOS ids that 16 bits do not count what has to be kept, which is 2^16.
void full_beam(Probe& probe, std::int32_t policy) {
  Rng rng = probe.begin_case("1024_beams_extended");
  Settings settings = large_settings(rng, policy);
  settings.beam = settings.n_return = 1024;
  const std::int64_t ids = policy == BEAM_POOLED ? 1 : 63;
  settings.vocab = ids + rng.integer(35, 39);
  settings.max_new = 4;
  settings.eos = spread_tokens(rng, ids, settings.vocab);
  require_one_request_a_step(probe, rng, solved_problem(settings, {7}, hashed_language(rng)));
}

// Hypotheses of all steps together, whose tokens may lie in one tree.
void many_hypotheses(Probe& probe, std::int32_t policy) {
  Rng rng = probe.begin_case("300_beams_of_240_steps");
  Settings settings = large_settings(rng, policy);
  settings.beam = 300;
  settings.n_return = rng.integer(1, 3);
  settings.vocab = 2;
  settings.max_new = kLarge / settings.beam + rng.integer(15, 25);
  settings.eos.clear();
  require_right(probe, rng, solved_problem(settings, {7}, hashed_language(rng)));
}

// Room for so many tokens, of which a few are used.
void far_horizon(Probe& probe, std::int32_t policy) {
  Rng rng = probe.begin_case(fmt::format("room_for_{}_tokens", 2 * kLarge));
  Settings settings = large_settings(rng, policy);
  settings.max_new = 2 * kLarge;
  settings.eos = spread_tokens(rng, 2, settings.vocab);
  settings.stop = BEAM_STOP_FULL;
  require_right(probe, rng, solved_problem(settings, {7, 9, 3}, hashed_language(rng)));
}

// Tokens that 17 bits do not hold, EOS among them; nearly all others are impossible.
void many_tokens(Probe& probe, std::int32_t policy) {
  Rng rng = probe.begin_case(fmt::format("{}_tokens_in_a_row", 2 * kLarge));
  Settings settings = large_settings(rng, policy);
  settings.beam = settings.n_return = 3;
  settings.vocab = (2 * kLarge + rng.integer(0, 99)) | 1;  // no vector is so long
  const auto last = static_cast<std::int32_t>(settings.vocab - 1);
  settings.eos = {last - 1};
  const Language numbers = hashed_language(rng);
  require_right(
      probe, rng,
      solved_problem(settings, {3}, [numbers, last](const Context& at, std::span<float> row) {
        std::vector<float> possible(6);
        numbers(at, possible);
        std::ranges::fill(row, kForbidden);
        for (std::size_t i = 0; i < possible.size(); ++i)
          row[static_cast<std::size_t>(last) - (i % 2 == 0 ? 0 : (1 << 17)) - i / 2] = possible[i];
      }));
}

// Sizes of which 32 bits leave a negative number or next to nothing, for no items: that takes no
// memory, and every EOS id is one of the vocabulary.
void vast_sizes_of_nothing(Probe& probe, std::int32_t policy) {
  for (const int bits : {31, 32}) {
    const std::int64_t vast = std::int64_t{1} << bits;
    Rng rng = probe.begin_case(fmt::format("empty_batch_of_2^{}_tokens", bits));
    Settings settings = large_settings(rng, policy);
    settings.vocab = vast + rng.integer(1, 4);
    settings.eos = {5, std::numeric_limits<std::int32_t>::max(), 1 << 16};
    require_right(probe, rng, solved_problem(settings, {}, {}));
    settings.eos[0] = -1;  // no more than all others, where a sign is lost
    const Problem misplaced{settings, {}, {}};
    SearchCall refused(misplaced, Rng(rng.seed()));
    kit::require_refused(probe, refused, BEAM_BAD_ARGUMENT);
    rng = probe.begin_case(fmt::format("2^{}_items_without_arrays", bits));
    require_refused_without_arrays(probe, rng, large_settings(rng, policy),
                                   vast + rng.integer(1, 4));
    rng = probe.begin_case(fmt::format("empty_batch_of_2^{}_steps", bits));
    settings = large_settings(rng, policy);
    settings.max_new = vast + rng.integer(1, 4);
    settings.min_new = rng.integer(5, vast);
    require_right(probe, rng, solved_problem(settings, {}, {}));
  }
}

/// Each size beyond 2^16 by itself, or as far as it goes.
void ask_large_sizes(Probe& probe, std::int32_t policy) {
  many_items(probe, policy);
  full_beam(probe, policy);
  many_hypotheses(probe, policy);
  far_horizon(probe, policy);
  many_tokens(probe, policy);
  vast_sizes_of_nothing(probe, policy);
  Rng rng = probe.begin_case("equals_far_apart");
  require_one_request_a_step(probe, rng, far_equals_problem(rng, policy, kVast));
}

void large_sizes_pooled(Probe& probe) {
  ask_large_sizes(probe, BEAM_POOLED);
}

void large_sizes_separate(Probe& probe) {
  ask_large_sizes(probe, BEAM_SEPARATE);
}

}  // namespace

std::vector<Check> shapes_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"long_rows",
        "shortcuts for large vocabularies: EOS, equals and impossible tokens forgotten",
        correctness, 2, major},
       long_rows},
      {{"short_horizons", "max_new of 0 and 1", correctness, 0.5, minor}, short_horizons},
      {{"wide_beams", "arrays for so many beams or EOS ids and no more", robustness, 1, major},
       wide_beams},
      {{"long_horizon", "arrays and recursion for short outputs; small errors that add up",
        robustness, 1, minor},
       long_horizon},
      {{"large_sizes_pooled",
        "numbers of items, rows, hypotheses or tokens cut to 8, 16 or 32 bits", robustness, 0.5,
        major},
       large_sizes_pooled},
      {{"large_sizes_separate", "the same with a list beside the open hypotheses", robustness, 0.5,
        major},
       large_sizes_separate},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
