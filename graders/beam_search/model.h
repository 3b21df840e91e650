// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "contract.h"
#include "harness/worker/call.h"
#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What a solution asked of the model, as the model saw it.
struct Tally {
  std::int64_t requests = 0;
  std::vector<std::int64_t> rows;     // by item
  std::vector<std::int64_t> deepest;  // by item: most tokens that a state reached
  std::int64_t repeated_rows = 0;     // the same state and token once more
  std::string fault;                  // first request that no state of ours answers; empty: none
};

/// A request that the model fails to answer.
struct ModelFailure {
  std::int64_t request = 0;   // counted from 1; 0: none
  std::int64_t returned = 0;  // what the model returns then
};

/// What the numbers of the states look like. They are opaque: a 0 is as good as any. Drawn ones are
/// often such as a solution may keep for something of its own, or differ from another state's in
/// one bit. A model that says the same of all hypotheses of an item that are as long may have one
/// state for them, and one that goes by the last token alone needs no other than the prompt's.
enum class StateNumbers { drawn, from_0, from_the_top, converging, of_the_prompt };

/// The language model of one call: gives states out and answers requests for them.
class Model {
 public:
  /// `states` draws the states. The problem must outlive the model.
  Model(const Problem& problem, Rng states, const ModelFailure& failure = {},
        StateNumbers numbers = StateNumbers::drawn);

  const std::vector<std::uint64_t>& root_states() const { return root_states_; }
  const std::vector<float>& root_log_probs() const { return root_log_probs_; }
  std::int64_t answer(const BeamStep& step, CallbackRequest& request);
  const Tally& tally() const { return tally_; }

 private:
  std::uint64_t drawn_number();
  std::uint64_t new_state(const Context& of);
  std::int64_t refuse(std::string fault);
  bool answer_row(std::uint64_t state, std::int32_t token, std::uint64_t& state_after,
                  std::span<float> row);

  const Problem& problem_;
  ModelFailure failure_;
  StateNumbers numbers_;
  Rng rng_;
  std::vector<std::uint64_t> root_states_;
  std::vector<float> root_log_probs_;
  std::unordered_map<std::uint64_t, Context> states_;
  std::unordered_map<std::uint64_t, std::int64_t> asked_;       // by item and path, how often
  std::unordered_map<std::uint64_t, std::uint64_t> converged_;  // by item and depth, the state
  std::int64_t rows_left_;
  Tally tally_;
};

/// The answer of a model that was asked for what does not exist.
constexpr std::int64_t kNoSuchState = -1000;

}  // namespace gauntlet::GAUNTLET_CHALLENGE
