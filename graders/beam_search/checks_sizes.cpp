#include <array>
#include <fmt/format.h>

#include "cases.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judging.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// `count` EOS ids, one in each part of the vocabulary.
std::vector<std::int32_t> spread_eos(Rng& rng, std::int64_t count, std::int64_t vocab) {
  std::vector<std::int32_t> eos;
  for (std::int64_t i = 0; i < count; ++i)
    eos.push_back(
        static_cast<std::int32_t>(rng.integer(i * vocab / count, (i + 1) * vocab / count - 1)));
  return eos;
}

/// An alpha under which scores of different lengths are never equal: among so many hypotheses there
/// would always be some, and what hangs on rounding is not graded.
double uneven_alpha(Rng& rng) {
  return rng.uniform(0.3, 1.7);
}

/// What a row of tens of thousands of tokens may look like besides many numbers.
enum class Row { ends, ties, sparse };

/// Log-probs that are fine enough to differ, of which the EOS tokens' are among the best; or coarse
/// ones, many of them equal; or all but a few impossible.
DrawDice long_dice(Row row, std::int64_t vocab) {
  return [row, vocab](Rng& rng) {
    Dice dice;
    dice.seed = rng.seed();
    dice.unit = row == Row::ties ? 1 : 1.0F / 65536;
    dice.levels = row == Row::ties ? rng.integer(2, 5000) : 1 << 20;
    dice.eos_favour = row == Row::ties ? static_cast<int>(rng.integer(1, 3)) : 1 << 15;
    dice.forbidden = row == Row::sparse ? 1 - rng.uniform(0, 2.5) / static_cast<double>(vocab)
                                        : rng.uniform(0, 0.3);
    return dice;
  };
}

// Rows for which it pays to look at a few tokens only: EOS tokens, equals and impossible tokens are
// found there as in short ones.
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
        settings.eos = spread_eos(rng, rng.integer(1, 3), settings.vocab);
        if (row == Row::ties) settings.penalty = BEAM_PENALTY_NONE;  // rounding parts no equals
        const auto least_length_decides = [&](const Language& alone, const Decoded& want) {
          Settings any_length = settings;
          any_length.min_new = 0;
          return row != Row::ends || !same_result(decode(any_length, alone, 0), want);
        };
        const Posed posed =
            pose_random(rng, settings, 2, long_dice(row, settings.vocab), least_length_decides);
        expect_right(probe, rng, posed.problem, posed.want);
      }
}

// As many beams and EOS ids as the contract allows, or some of them. Many ids in the pool only:
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
      settings.eos = spread_eos(rng, policy == BEAM_POOLED ? ids : 1, settings.vocab);
      const Posed posed = pose_random(rng, settings, 2);
      expect_right(probe, rng, posed.problem, posed.want);
    }
}

}  // namespace

std::vector<Check> sizes_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"long_rows",
        "shortcuts for large vocabularies: EOS, equals and impossible tokens forgotten",
        correctness, 2, major},
       long_rows},
      {{"wide_beams", "arrays for so many beams or EOS ids and no more", robustness, 1, major},
       wide_beams},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
