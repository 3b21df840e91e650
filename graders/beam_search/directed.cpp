#include "directed.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/error.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// EOS is token 0 everywhere.
Settings settings(std::int64_t beam, std::int64_t vocab, std::int64_t max_new, std::int64_t min_new,
                  double alpha, std::int32_t penalty, std::int32_t policy, std::int32_t stop) {
  Settings made;
  made.beam = beam;
  made.vocab = vocab;
  made.max_new = max_new;
  made.min_new = min_new;
  made.n_return = beam;
  made.alpha = alpha;
  made.penalty = penalty;
  made.policy = policy;
  made.stop = stop;
  return made;
}

std::vector<Directed> all_searches() {
  return {
      // Against: a finished hypothesis that no longer competes.
      {"eos_outranks_longer",
       settings(1, 3, 2, 0, 0.6, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_FULL),
       {{{{}, {-4.625F, -3.5F, -3.25F}}, {{2}, {-1.25F, -1.625F, -6}}}, {-7, -7.125F, -7.25F}},
       {{-2.968892799239, {2, 0}}},
       2},
      // Against: expansion by `beam` candidates only.
      {"eos_takes_a_place",
       settings(1, 3, 2, 0, 2, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_BOUND),
       {{{{}, {-2, -5.5F, -5.875F}}, {{1}, {-0.5F, -5.75F, -4.125F}}}, {-7, -7.125F, -7.25F}},
       {{-1.5, {1, 0}}},
       2},
      // Against: EOS accepted at any rank.
      {"eos_below_beam",
       settings(1, 3, 2, 0, 0, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_FULL),
       {{{{}, {-4.125F, -4.75F, -2.625F}}, {{2}, {-4.75F, -5.75F, -2.375F}}},
        {-7, -7.125F, -7.25F}},
       {{-5, {2, 2}}},
       2},
      // Against: length without the EOS.
      {"eos_counts",
       settings(1, 3, 2, 0, 2, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_ESTIMATE),
       {{{{}, {-2.375F, -2.125F, -4.625F}}, {{1}, {-0.375F, -1.5F, -4.25F}}},
        {-7, -7.125F, -7.25F}},
       {{-0.625, {1, 0}}},
       2},
      // Against: length with the prompt.
      {"prompt_does_not_count",
       settings(1, 3, 2, 0, 2, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_BOUND),
       {{{{}, {-1.5F, -1.5F, -5.5F}}, {{1}, {-0.25F, -4.25F, -5.75F}}}, {-7, -7.125F, -7.25F}},
       {{-0.4375, {1, 0}}},
       2},
      // Against: max_new in place of the length.
      {"own_length_counts",
       settings(1, 3, 2, 0, 1, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_BOUND),
       {{{{}, {-0.75F, -1, -4.375F}}, {{1}, {-3.75F, -0.125F, -4.25F}}}, {-7, -7.125F, -7.25F}},
       {{-0.5625, {1, 1}}},
       2},
      // Against: GNMT in place of the length penalty.
      {"length_not_gnmt",
       settings(1, 3, 2, 0, 2, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_ESTIMATE),
       {{{{}, {-4.875F, -4.75F, -6}}, {{1}, {-0.625F, -2.5F, -1}}}, {-7, -7.125F, -7.25F}},
       {{-1.34375, {1, 0}}},
       2},
      // Against: no penalty.
      {"gnmt_matters",
       settings(1, 3, 2, 0, 1, BEAM_PENALTY_GNMT, BEAM_SEPARATE, BEAM_STOP_BOUND),
       {{{{}, {-4.25F, -0.375F, -1.125F}}, {{1}, {-2.25F, -2.25F, -6}}}, {-7, -7.125F, -7.25F}},
       {{-2.25, {1, 0}}},
       2},
      // Against: multiplied in place of divided.
      {"divide",
       settings(1, 3, 2, 0, 0.6, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_BOUND),
       {{{{}, {-3.25F, -3.625F, -1.75F}}, {{2}, {-0.75F, -2.5F, -4.5F}}}, {-7, -7.125F, -7.25F}},
       {{-1.649384888466, {2, 0}}},
       2},
      // Against: penalty divided into the running sum.
      {"sum_stays_raw",
       settings(1, 3, 2, 0, 2, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_ESTIMATE),
       {{{{}, {-4.5F, -0.875F, -4.875F}}, {{1}, {-0.875F, -3, -4.375F}}}, {-7, -7.125F, -7.25F}},
       {{-0.4375, {1, 0}}},
       2},
      // Against: all beams alive at the start.
      {"one_root",
       settings(2, 3, 2, 0, 1, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_ESTIMATE),
       {{{{}, {-0.625F, -0.5F, -4.5F}},
         {{1}, {-5.625F, -2, -2.875F}},
         {{2}, {-5.75F, -0.125F, -4.125F}}},
        {-7, -7.125F, -7.25F}},
       {{-0.625, {0}}, {-1.25, {1, 1}}},
       2},
      // Against: done as soon as the list is full.
      {"bound_is_not_full",
       settings(1, 3, 2, 0, 2, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_BOUND),
       {{{{}, {-1.625F, -5.75F, -3.625F}}, {{2}, {-2.5F, -5.5F, -1.5F}}}, {-7, -7.125F, -7.25F}},
       {{-1.28125, {2, 2}}},
       2},
      // Against: stop rule with the best of the list.
      {"worst_not_best",
       settings(2, 3, 3, 0, 2, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_ESTIMATE),
       {{{{}, {-3.625F, -4.125F, -4.125F}},
         {{1}, {-2.25F, -5.25F, -4.25F}},
         {{1, 2}, {-3, -4.625F, -0.25F}},
         {{2}, {-3.625F, -4.625F, -3.25F}},
         {{2, 2}, {-4.125F, -0.375F, -5.625F}}},
        {-7, -7.125F, -7.25F}},
       {{-0.861111111111, {2, 2, 1}}, {-0.958333333333, {1, 2, 2}}},
       3},
      // Against: bound with the current length.
      {"bound_to_the_end",
       settings(1, 3, 2, 0, 1, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_BOUND),
       {{{{}, {-1.5F, -1.5F, -4.75F}}, {{1}, {-1.25F, -4.5F, -3}}}, {-7, -7.125F, -7.25F}},
       {{-1.375, {1, 0}}},
       2},
      // Against: open hypotheses dropped at max_new.
      {"open_ones_stay",
       settings(1, 3, 2, 0, 2, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_BOUND),
       {{{{}, {-1.125F, -4.25F, -1.625F}}, {{2}, {-5, -1.75F, -1.25F}}}, {-7, -7.125F, -7.25F}},
       {{-0.71875, {2, 2}}},
       2},
      // Against: open hypotheses ranked by log_prob.
      {"open_ones_are_ranked",
       settings(1, 3, 2, 0, 2, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_BOUND),
       {{{{}, {-3, -5.75F, -6}}, {{1}, {-1.875F, -1.625F, -0.75F}}}, {-7, -7.125F, -7.25F}},
       {{-1.625, {1, 2}}},
       2},
      // Against: min_new ignored.
      {"eos_too_early",
       settings(1, 3, 2, 1, 0, BEAM_PENALTY_GNMT, BEAM_SEPARATE, BEAM_STOP_ESTIMATE),
       {{{{}, {-1.25F, -2.25F, -3.5F}}, {{1}, {-4.5F, -4.625F, -4.25F}}}, {-7, -7.125F, -7.25F}},
       {{-6.5, {1, 2}}},
       2},
      // Against: length without EOS, with prompt; no, another or an inverse penalty.
      {"six_length_separate",
       settings(2, 4, 3, 0, 0.6, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_BOUND),
       {{{{}, {-1, -0.5F, -6, -7}}, {{1}, {-6, -7, -0.625F, -8}}, {{1, 2}, {-0.625F, -7, -8, -9}}},
        {-4, -5, -6, -7}},
       {{-0.905243, {1, 2, 0}}, {-1, {0}}},
       3},
      // Against: a penalty where alpha is 0.
      {"six_none_separate",
       settings(2, 4, 3, 0, 0, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_BOUND),
       {{{{}, {-1, -0.5F, -6, -7}}, {{1}, {-6, -7, -0.625F, -8}}, {{1, 2}, {-0.625F, -7, -8, -9}}},
        {-4, -5, -6, -7}},
       {{-1, {0}}, {-1.75, {1, 2, 0}}},
       0},
      // Against: another penalty than GNMT.
      {"six_gnmt_separate",
       settings(2, 4, 3, 0, 0.6, BEAM_PENALTY_GNMT, BEAM_SEPARATE, BEAM_STOP_BOUND),
       {{{{}, {-1, -0.5F, -6, -7}}, {{1}, {-6, -7, -0.625F, -8}}, {{1, 2}, {-0.625F, -7, -8, -9}}},
        {-4, -5, -6, -7}},
       {{-1, {0}}, {-1.472566, {1, 2, 0}}},
       0},
      // Against: another penalty than GNMT.
      {"six_gnmt2_separate",
       settings(2, 4, 3, 0, 2, BEAM_PENALTY_GNMT, BEAM_SEPARATE, BEAM_STOP_BOUND),
       {{{{}, {-1, -0.5F, -6, -7}}, {{1}, {-6, -7, -0.625F, -8}}, {{1, 2}, {-0.625F, -7, -8, -9}}},
        {-4, -5, -6, -7}},
       {{-0.984375, {1, 2, 0}}},
       0},
      // Against: length without EOS, with prompt; no, another or an inverse penalty.
      {"six_length_pooled",
       settings(2, 4, 3, 0, 0.6, BEAM_PENALTY_LENGTH, BEAM_POOLED, BEAM_STOP_BOUND),
       {{{{}, {-1, -0.5F, -6, -7}}, {{1}, {-6, -7, -0.625F, -8}}, {{1, 2}, {-0.625F, -7, -8, -9}}},
        {-4, -5, -6, -7}},
       {{-0.905243, {1, 2, 0}}, {-1, {0}}},
       3},
      // Against: a penalty where alpha is 0.
      {"six_none_pooled",
       settings(2, 4, 3, 0, 0, BEAM_PENALTY_LENGTH, BEAM_POOLED, BEAM_STOP_BOUND),
       {{{{}, {-1, -0.5F, -6, -7}}, {{1}, {-6, -7, -0.625F, -8}}, {{1, 2}, {-0.625F, -7, -8, -9}}},
        {-4, -5, -6, -7}},
       {{-1, {0}}, {-1.75, {1, 2, 0}}},
       0},
      // Against: another penalty than GNMT.
      {"six_gnmt_pooled",
       settings(2, 4, 3, 0, 0.6, BEAM_PENALTY_GNMT, BEAM_POOLED, BEAM_STOP_BOUND),
       {{{{}, {-1, -0.5F, -6, -7}}, {{1}, {-6, -7, -0.625F, -8}}, {{1, 2}, {-0.625F, -7, -8, -9}}},
        {-4, -5, -6, -7}},
       {{-1, {0}}, {-1.472566, {1, 2, 0}}},
       0},
      // Against: another penalty than GNMT.
      {"six_gnmt2_pooled",
       settings(2, 4, 3, 0, 2, BEAM_PENALTY_GNMT, BEAM_POOLED, BEAM_STOP_BOUND),
       {{{{}, {-1, -0.5F, -6, -7}}, {{1}, {-6, -7, -0.625F, -8}}, {{1, 2}, {-0.625F, -7, -8, -9}}},
        {-4, -5, -6, -7}},
       {{-0.984375, {1, 2, 0}}},
       0},
      // Against: a finished hypothesis dropped; penalty ignored.
      {"early_eos_0_separate",
       settings(2, 4, 4, 0, 0, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_ESTIMATE),
       {{{{}, {-3, -5, -9, -9}}, {{1}, {-0.25F, -4, -4, -4}}}, {-2, -3, -4, -5}},
       {{-3, {0}}, {-5.25, {1, 0}}},
       0},
      // Against: a finished hypothesis dropped; penalty ignored.
      {"early_eos_0_6_separate",
       settings(2, 4, 4, 0, 0.6, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_BOUND),
       {{{{}, {-3, -5, -9, -9}}, {{1}, {-0.25F, -4, -4, -4}}}, {-2, -3, -4, -5}},
       {{-3, {0}}, {-3.463708, {1, 0}}},
       0},
      // Against: a finished hypothesis dropped; penalty ignored.
      {"early_eos_1_separate",
       settings(2, 4, 4, 0, 1, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_FULL),
       {{{{}, {-3, -5, -9, -9}}, {{1}, {-0.25F, -4, -4, -4}}}, {-2, -3, -4, -5}},
       {{-2.625, {1, 0}}, {-3, {0}}},
       0},
      // Against: a finished hypothesis dropped; penalty ignored.
      {"early_eos_0_pooled",
       settings(2, 4, 4, 0, 0, BEAM_PENALTY_LENGTH, BEAM_POOLED, BEAM_STOP_ESTIMATE),
       {{{{}, {-3, -5, -9, -9}}, {{1}, {-0.25F, -4, -4, -4}}}, {-2, -3, -4, -5}},
       {{-3, {0}}, {-5.25, {1, 0}}},
       0},
      // Against: a finished hypothesis dropped; penalty ignored.
      {"early_eos_0_6_pooled",
       settings(2, 4, 4, 0, 0.6, BEAM_PENALTY_LENGTH, BEAM_POOLED, BEAM_STOP_BOUND),
       {{{{}, {-3, -5, -9, -9}}, {{1}, {-0.25F, -4, -4, -4}}}, {-2, -3, -4, -5}},
       {{-3, {0}}, {-3.463708, {1, 0}}},
       0},
      // Against: a finished hypothesis dropped; penalty ignored.
      {"early_eos_1_pooled",
       settings(2, 4, 4, 0, 1, BEAM_PENALTY_LENGTH, BEAM_POOLED, BEAM_STOP_BOUND),
       {{{{}, {-3, -5, -9, -9}}, {{1}, {-0.25F, -4, -4, -4}}}, {-2, -3, -4, -5}},
       {{-2.625, {1, 0}}, {-3, {0}}},
       0},
      // Against: the other policy.
      {"policy_pooled",
       settings(2, 3, 2, 0, 1, BEAM_PENALTY_LENGTH, BEAM_POOLED, BEAM_STOP_BOUND),
       {{{{}, {-3, -4.75F, -4.25F}}, {{1}, {-1.5F, -0.5F, -2.5F}}, {{2}, {-1.5F, -1.25F, -4.75F}}},
        {-9, -9.5F, -10}},
       {{-2.75, {2, 1}}},
       2},
      // Against: the other policy.
      {"policy_separate",
       settings(2, 3, 2, 0, 1, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_BOUND),
       {{{{}, {-3, -4.75F, -4.25F}}, {{1}, {-1.5F, -0.5F, -2.5F}}, {{2}, {-1.5F, -1.25F, -4.75F}}},
        {-9, -9.5F, -10}},
       {{-2.625, {1, 1}}},
       2},
      // Against: expansion by `beam` candidates only.
      {"starving",
       settings(2, 4, 2, 0, 1, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_BOUND),
       {{{{}, {-1.75F, -1, -2.5F, -5.5F}},
         {{1}, {-6, -2.25F, -6, -3.5F}},
         {{2}, {-0.5F, -5.25F, -1.25F, -5.25F}}},
        {-9, -9.5F, -10, -10.5F}},
       {{-1.5, {2, 0}}},
       2},
      // Against: EOS accepted at any rank.
      {"low_eos",
       settings(2, 4, 2, 0, 1, BEAM_PENALTY_LENGTH, BEAM_SEPARATE, BEAM_STOP_BOUND),
       {{{{}, {-1.75F, -0.25F, -1.5F, -5.5F}},
         {{1}, {-4.25F, -4.25F, -3.25F, -3.5F}},
         {{2}, {-2.25F, -2.75F, -3.25F, -4.5F}}},
        {-9, -9.5F, -10, -10.5F}},
       {{-1.75, {1, 2}}, {-1.875, {1, 3}}},
       2},
  };
}

}  // namespace

std::span<const Directed> directed_searches() {
  static const std::vector<Directed> all = all_searches();
  return all;
}

const Directed& directed(std::string_view name) {
  for (const Directed& one : directed_searches())
    if (one.name == name) return one;
  throw Broken(OwnFault::bug, fmt::format("no directed search is named '{}'", name));
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
