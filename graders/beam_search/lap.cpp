// SPDX-License-Identifier: Apache-2.0
#include "lap.h"

#include <utility>

#include "harness/core/machine.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

void TimedLap::prepare(Rng& inputs) {
  Settings settings;
  settings.policy = sizes_.policy;
  settings.beam = settings.n_return = sizes_.beam;
  settings.vocab = sizes_.vocab;
  settings.max_new = sizes_.max_new;
  settings.alpha = inputs.uniform(0.5, 1.5);
  settings.stop = BEAM_STOP_BOUND;
  settings.threads = this_machine().cores;
  settings.eos = spread_tokens(inputs, sizes_.eos, sizes_.vocab);
  Language language = large_language(inputs);
  solved_ = solved_problem(settings, random_prompts(inputs, sizes_.batch), std::move(language));
  states_ = inputs.seed();
}

Lap TimedLap::run(Session& session) const {
  SearchCall call(solved_->problem, Rng(states_));
  session.run(call);
  Lap lap;
  lap.took(call);
  lap.finding = difference(solved_->problem, solved_->want, call.answer());
  return lap;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
