#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

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

/// What came back from one call.
struct Answer {
  std::int64_t returned = 0;
  std::chrono::nanoseconds elapsed{};
  std::optional<std::int64_t> peak_bytes;
  bool untouched = true;  // no output holds anything but what it held before
  std::vector<std::int32_t> hypotheses;
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> lengths;
  std::vector<std::int32_t> finished;
  std::vector<std::int32_t> steps;  // empty when not asked for
  std::vector<double> log_probs;
  std::vector<double> scores;
  Tally tally;
};

/// Ways in which a call may differ from a plain one.
struct Asking {
  std::int64_t fail_at = 0;                // the request, counted from 1, that the model refuses
  std::int64_t refusal = 0;                // and what it returns then
  std::string without;                     // the array that stays null
  std::function<void(BeamArgs&)> changed;  // last change of the arguments
  bool measure_memory = false;
};

using RunCall = std::function<void(CallBase&)>;

/// Puts the problem to a solution and answers as its language model. `rng` draws the states.
Answer ask(const Problem& problem, Rng rng, const RunCall& run, const Asking& how = {});

/// The language model of one call.
class Model {
 public:
  Model(const Problem& problem, Rng rng, const Asking& how);

  const std::vector<std::uint64_t>& root_states() const { return root_states_; }
  const std::vector<float>& root_log_probs() const { return root_log_probs_; }
  std::int64_t answer(const BeamStep& step, CallbackRequest& request);
  const Tally& tally() const { return tally_; }

 private:
  std::int64_t refuse(std::string fault);
  bool answer_row(std::uint64_t state, std::int32_t token, std::uint64_t& new_state,
                  std::span<float> row);

  const Problem& problem_;
  const Asking& how_;
  Rng rng_;
  std::vector<std::uint64_t> root_states_;
  std::vector<float> root_log_probs_;
  std::unordered_map<std::uint64_t, Context> states_;
  std::unordered_map<std::uint64_t, std::int64_t> asked_;  // by item and path, how often
  std::int64_t rows_left_;
  Tally tally_;
};

/// The answer of a model that was asked for what does not exist.
constexpr std::int64_t kNoSuchState = -1000;

}  // namespace gauntlet::GAUNTLET_CHALLENGE
