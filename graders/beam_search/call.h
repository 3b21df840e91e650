// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "contract.h"
#include "graders/kit/call_options.h"
#include "graders/kit/held_integers.h"
#include "harness/grading/probe.h"
#include "model.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// How many threads may be used is one of a problem's settings.
struct CallOptions : kit::CallOptions {
  ModelFailure failure;
  StateNumbers states = StateNumbers::drawn;
};

/// What came back from one call.
struct Answer {
  std::int64_t returned = 0;
  std::vector<std::int32_t> hypotheses;
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> lengths;
  std::vector<std::int32_t> finished;
  std::vector<std::int32_t> steps;  // empty when not asked for
  std::vector<double> log_probs;
  std::vector<double> scores;
  Tally tally;
};

/// Puts the problem to a solution and answers as its language model. The problem must outlive it.
class SearchCall : public Call<BeamArgs> {
 public:
  SearchCall(const Problem& problem, Rng states, const CallOptions& options = {});

  const Model& model() const { return model_; }
  Answer answer() const;  // of the last run

 private:
  Model model_;
  kit::HeldIntegers held_;
  std::vector<std::function<void(Answer&)>> copies_;
};

/// Asks once. `states`, or what `rng` draws, gives the model's states.
Answer ask(Probe& probe, const Seed& states, const Problem& problem,
           const CallOptions& options = {});
Answer ask(Probe& probe, Rng& rng, const Problem& problem, const CallOptions& options = {});

/// The same with other float controls (CallBase::unusual_floats), which the solution has to leave
/// alone. Numbers may be others under them, and so the model may not be asked as often as to fail.
void ask_with_unusual_floats(Probe& probe, const Seed& states, const Problem& problem,
                             const CallOptions& options);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
