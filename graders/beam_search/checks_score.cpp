#include <array>
#include <cmath>
#include <fmt/format.h>

#include "cases.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judging.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Settings under which hypotheses of several lengths meet.
Settings mixed_lengths(Rng& rng, std::int32_t policy) {
  Settings settings = random_settings(rng, policy);
  settings.stop = BEAM_STOP_BOUND;
  settings.beam = settings.n_return = rng.integer(2, 4);
  settings.vocab = rng.integer(4, 9);
  settings.max_new = rng.integer(3, 7);
  settings.min_new = 0;
  settings.eos = {static_cast<std::int32_t>(rng.integer(0, settings.vocab - 1))};
  return settings;
}

// What counts as length, and which formula: on each of these, five wrong rules change the winner.
void length_bookkeeping(Probe& probe) {
  for (const char* name :
       {"six_length_separate", "six_length_pooled", "six_none_separate", "six_none_pooled",
        "six_gnmt_separate", "six_gnmt_pooled", "six_gnmt2_separate", "six_gnmt2_pooled",
        "eos_counts", "prompt_does_not_count", "own_length_counts", "length_not_gnmt",
        "gnmt_matters", "divide", "sum_stays_raw"}) {
    Rng rng = probe.begin_case(name);
    const Posed posed = pose_directed(rng, directed(name), rng.integer(2, 4));
    expect_right(probe, rng, posed.problem, posed.want);
  }
  for (const std::int32_t policy : kPolicies)
    for (const std::int32_t penalty : {BEAM_PENALTY_LENGTH, BEAM_PENALTY_GNMT}) {
      Rng rng = probe.begin_case(fmt::format("policy_{}_penalty_{}", policy, penalty));
      Settings settings = mixed_lengths(rng, policy);
      settings.penalty = penalty;
      settings.alpha = rng.chance(0.25) ? rng.uniform(-1, -0.3) : rng.uniform(0.5, 2.5);
      Settings flat = settings;
      flat.penalty = BEAM_PENALTY_NONE;
      const auto matters = [&](const Language& language, const Decoded& want) {
        const Decoded without = decode(flat, language, 0);
        return !want.best.empty() && without.best[0].tokens != want.best[0].tokens;
      };
      const Posed posed = pose_random(rng, settings, 10, draw_dice, matters);
      expect_right(probe, rng, posed.problem, posed.want);
    }
}

// The same items after prompts of 3 and of 3000 tokens.
void prompt_lengths(Probe& probe) {
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("policy_{}", policy));
    Settings settings = mixed_lengths(rng, policy);
    settings.penalty = BEAM_PENALTY_LENGTH;
    settings.alpha = rng.uniform(0.7, 1.5);
    Posed posed = pose_random(rng, settings, 8);
    posed.problem.prompts.assign(8, 3);
    const Answer after_short = expect_right(probe, rng, posed.problem, posed.want);
    posed.problem.prompts.assign(8, 3000);
    posed.problem.prompts[static_cast<std::size_t>(rng.integer(0, 7))] = 7;
    const Answer after_long = expect_right(probe, rng, posed.problem, posed.want);
    for (std::size_t item = 0; item < 8; ++item)
      expect_same_bits(probe, posed.problem, after_short, item, after_long, item,
                       fmt::format("item {}, prompts of 3 and of 3000 tokens", item));
  }
}

// One beam and no penalty: the most likely token, again and again, until EOS.
void greedy_path(Probe& probe) {
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("policy_{}", policy));
    Settings settings = random_settings(rng, policy);
    settings.beam = settings.n_return = 1;
    settings.alpha = 0;
    settings.vocab = rng.integer(20, 300);
    settings.max_new = rng.integer(12, 40);
    settings.min_new = 0;
    settings.eos = {static_cast<std::int32_t>(rng.integer(0, settings.vocab - 1))};
    const Posed posed = pose_random(rng, settings, 6);
    expect_right(probe, rng, posed.problem, posed.want);
  }
}

// Rows that do not sum to 1: what is given is what counts. Every row is lower by a constant of its
// own, which a second log-softmax would take out.
void given_log_probs(Probe& probe) {
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("policy_{}", policy));
    const Settings settings = mixed_lengths(rng, policy);
    const auto slumped = [](Rng& dice_rng) {
      Dice dice = draw_dice(dice_rng);
      dice.slump = dice.levels / 2;
      return dice;
    };
    const Posed posed = pose_random(rng, settings, 12, slumped);
    expect_right(probe, rng, posed.problem, posed.want);
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
    settings.penalty = BEAM_PENALTY_LENGTH;
    settings.alpha = rng.uniform(0.5, 1.5);
    settings.eos = {0};
    const Seed seed = rng.seed();
    const Posed posed =
        pose(settings, random_prompts(rng, 9), [seed](const Context& at, std::span<float> row) {
          Rng own = numbers_at(seed, at);
          for (float& value : row) value = static_cast<float>(-own.uniform(9e3, 1.1e4));
          row[0] *= 3;  // EOS comes, but rarely
        });
    expect_right(probe, rng, posed.problem, posed.want);
  }
  // After a first token of -2^24 a float does not see fractions.
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("policy_{}_far_down", policy));
    const Settings settings = mixed_lengths(rng, policy);
    Problem problem = pose_random(rng, settings, 8).problem;
    const Posed posed = pose(settings, problem.prompts, far_down(problem.language, 0x1p24F));
    expect_right(probe, rng, posed.problem, posed.want);
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
      const auto vast = [&](Rng& dice_rng) {
        Dice dice = draw_dice(dice_rng);
        dice.unit = std::ldexp(1.0F, exponent);
        dice.levels = 1000;
        dice.slump = dice_rng.integer(0, 5000);
        dice.forbidden = dice_rng.uniform(0.3, 0.7);
        return dice;
      };
      const Posed posed = pose_random(rng, settings, 8, vast);
      expect_right(probe, rng, posed.problem, posed.want);
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
