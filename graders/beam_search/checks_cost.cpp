#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "cases.h"
#include "graders/kit/memory.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judging.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Items of every duration, side by side.
Posed uneven_batch(Rng& rng, std::int32_t policy) {
  Settings settings = random_settings(rng, policy);
  settings.beam = settings.n_return = rng.integer(2, 4);
  settings.vocab = rng.integer(5, 12);
  settings.max_new = rng.integer(6, 14);
  settings.min_new = 0;
  settings.eos = {static_cast<std::int32_t>(rng.integer(0, settings.vocab - 1))};
  const std::int64_t batch = rng.integer(8, 16);
  std::int64_t drawn = 0;
  const auto uneven = [](Rng& dice_rng) {
    Dice dice = draw_dice(dice_rng);
    dice.eos_favour = dice_rng.chance(0.5) ? 40 : 1;
    return dice;
  };
  const auto alternates = [&](const Language&, const Decoded& want) {
    if (drawn % 2 == 0 ? want.steps > 3 : want.steps <= 3) return false;
    ++drawn;
    return true;
  };
  return pose_random(rng, settings, batch, uneven, alternates);
}

std::int64_t requests_needed(const std::vector<Decoded>& want) {
  std::int64_t steps = 1;
  for (const Decoded& item : want) steps = std::max(steps, item.steps);
  return steps - 1;
}

std::int64_t rows_needed(const std::vector<Decoded>& want) {
  return std::accumulate(want.begin(), want.end(), std::int64_t{0},
                         [](std::int64_t sum, const Decoded& item) { return sum + item.rows; });
}

using Judge = std::function<void(const Posed&, const Answer&)>;

void ask_uneven(Probe& probe, const Judge& judge) {
  for (int turn = 0; turn < 6; ++turn) {
    const std::int32_t policy = turn % 2 == 0 ? BEAM_POOLED : BEAM_SEPARATE;
    Rng rng = probe.begin_case(fmt::format("policy_{}_{}", policy, turn / 2));
    const Posed posed = uneven_batch(rng, policy);
    judge(posed, expect_right(probe, rng, posed.problem, posed.want));
  }
}

std::int64_t peak_of(Probe& probe, Rng& rng, const Posed& posed) {
  Asking how;
  how.measure_memory = true;
  probe.restart();
  const Answer answer = ask(
      posed.problem, Rng(rng.seed()), [&](CallBase& call) { probe.run(call); }, how);
  if (const auto finding = difference(posed.problem, posed.want, answer))
    probe.fail(finding->summary, finding->evidence);
  if (!answer.peak_bytes) probe.unmeasured("memory cannot be measured here");
  return *answer.peak_bytes;
}

Posed wide_problem(Rng& rng, std::int64_t vocab) {
  Settings settings = random_settings(rng, BEAM_SEPARATE);
  settings.beam = settings.n_return = 4;
  settings.vocab = vocab;
  settings.max_new = 3;
  settings.min_new = 0;
  settings.threads = 2;
  settings.stop = BEAM_STOP_BOUND;
  settings.eos = {static_cast<std::int32_t>(rng.integer(0, vocab - 1))};
  Language language = large_language(rng);
  return pose(settings, random_prompts(rng, 4), std::move(language));
}

// One request a time step for the whole batch.
void requests(Probe& probe) {
  ask_uneven(probe, [&](const Posed& posed, const Answer& answer) {
    const std::int64_t needed = requests_needed(posed.want);
    if (answer.tally.requests > needed)
      probe.fail(fmt::format("asked the model {} times for {} items, want {}",
                             answer.tally.requests, posed.want.size(), needed),
                 {describe(posed.problem.settings)});
  });
}

// One row for each open hypothesis, and no other.
void rows(Probe& probe) {
  ask_uneven(probe, [&](const Posed& posed, const Answer& answer) {
    const std::int64_t asked =
        std::accumulate(answer.tally.rows.begin(), answer.tally.rows.end(), std::int64_t{0});
    const std::int64_t needed = rows_needed(posed.want);
    if (asked > needed)
      probe.fail(fmt::format("asked the model for {} rows, want {}", asked, needed),
                 {describe(posed.problem.settings)});
  });
}

// An item that is done has no row in any later request, whatever its neighbours do.
void done_items_rest(Probe& probe) {
  ask_uneven(probe, [&](const Posed& posed, const Answer& answer) {
    for (std::size_t item = 0; item < posed.want.size(); ++item)
      if (answer.tally.deepest[item] > std::max<std::int64_t>(0, posed.want[item].steps - 1))
        probe.fail(fmt::format("item {} was done after {} steps, and asked for token {} of it",
                               item, posed.want[item].steps, answer.tally.deepest[item] + 1),
                   {describe(posed.problem.settings)});
  });
}

// The model's answer, batch * beam * vocab floats, is all that has to be held; a list of all
// extensions is several times that. Half of the points are left at three times as much.
void peak_memory(Probe& probe) {
  constexpr std::int64_t kVocab = 24'576;
  kit::Held held[2];
  for (int turn = 0; turn < 2; ++turn) {
    Rng rng = probe.begin_case(turn == 0 ? "half" : "whole");
    const Posed posed = wide_problem(rng, kVocab * (turn + 1) + rng.integer(-99, 99));
    held[turn] = {peak_of(probe, rng, posed), 4 * 4 * posed.problem.settings.vocab * 4};
    const double mib = static_cast<double>(held[turn].bytes) / (1 << 20);
    probe.workspace_at("vocabulary", static_cast<double>(posed.problem.settings.vocab), mib);
    probe.answer(ClaimKind::peak_workspace, "peak memory besides the caller's arrays", mib, "MiB");
  }
  const double each = kit::held_per_byte(held[0], held[1]);
  probe.fact("memory per byte of the model's answer", each, "B");
  probe.earn(std::clamp(1 - std::log(std::max(each, 0.01) / 1.25) / std::log(6.0), 0.0, 1.0));
}

}  // namespace

std::vector<Check> cost_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"requests", "a request for each item or beam", performance, 2, major}, requests},
      {{"rows", "rows that no open hypothesis needs", performance, 1, minor}, rows},
      {{"done_items_rest", "asking on for items that are done", performance, 1, minor},
       done_items_rest},
      {{"peak_memory", "lists of all extensions", performance, 1, minor}, peak_memory},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
