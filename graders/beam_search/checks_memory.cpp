// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "graders/kit/memory.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

SolvedProblem wide_problem(Rng& rng, std::int64_t vocab, std::int64_t max_new) {
  Settings settings = random_settings(rng, BEAM_SEPARATE);
  settings.beam = settings.n_return = 4;
  settings.vocab = vocab;
  settings.max_new = max_new;
  settings.min_new = 0;
  settings.threads = 2;
  settings.stop = BEAM_STOP_BOUND;
  settings.eos = spread_tokens(rng, 1, vocab);
  Language language = large_language(rng);
  return solved_problem(settings, random_prompts(rng, 4), std::move(language));
}

// The model's answer, batch * beam * vocab floats, is all that has to be held; a list of all
// extensions is several times that, and so are the answers of many steps. Half of the points are
// left at three times as much.
void memory_growth(Probe& probe) {
  constexpr std::int64_t kVocab = 24'576;
  kit::Held held[2];
  for (std::int64_t turn = 0; turn < 2; ++turn) {
    Rng rng = probe.begin_case(turn == 0 ? "half" : "whole");
    const SolvedProblem solved =
        wide_problem(rng, kVocab * (turn + 1) + rng.integer(-99, 99), 3 + 3 * turn);
    const std::int64_t vocab = solved.problem.settings.vocab;
    SearchCall call(solved.problem, Rng(rng.seed()));
    held[turn] = {kit::fresh_peak_bytes(probe, call), vocab * 64};
    require_no_difference(probe, solved, call.answer());
    const double peak = kit::mib(held[turn].bytes);
    probe.workspace_at("vocabulary", static_cast<double>(vocab), peak);
    probe.answer(ClaimKind::peak_workspace, "peak memory besides the caller's arrays", peak, "MiB");
  }
  Rng rng = probe.begin_case("call after call");
  require_freed(probe, rng);
  require_answers_let_go(probe, rng);
  const double each = kit::held_per_byte(held[0], held[1]);
  probe.fact("memory per byte of the model's answer", each, "B");
  probe.earn(std::clamp(1 - std::log(std::max(each, 0.01) / 1.25) / std::log(6.0), 0.0, 1.0));
}

}  // namespace

std::vector<Check> memory_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"memory_growth", "lists of all extensions", performance, 1, minor}, memory_growth},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
