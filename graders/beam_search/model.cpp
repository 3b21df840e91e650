// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// A search needs one row for each hypothesis of each step. Who asks for more is wasteful, which is
// counted, up to here: we remember every row, and must not be made to remember them without end.
constexpr std::int64_t kWasteful = 4;

// Numbers that may stand for "none" or "not yet", and the bounds of narrower ones.
constexpr std::array<std::uint64_t, 8> kTelling{
    0, ~std::uint64_t{0}, 1, 1ULL << 63, ~0ULL >> 1, 1ULL << 32, 0xffffffff, 0x7fffffff};

std::int64_t most_rows(const Problem& problem) {
  return kWasteful * problem.batch() * problem.settings.beam * (problem.settings.max_new + 1);
}

}  // namespace

Model::Model(const Problem& problem, Rng states, const ModelFailure& failure, StateNumbers numbers)
    : problem_(problem),
      failure_(failure),
      numbers_(numbers),
      rng_(std::move(states)),
      rows_left_(most_rows(problem)) {
  const auto batch = static_cast<std::size_t>(problem.batch());
  const auto vocab = static_cast<std::size_t>(problem.settings.vocab);
  root_log_probs_.resize(batch * vocab);
  tally_.rows.resize(batch);
  tally_.deepest.resize(batch);
  for (std::size_t item = 0; item < batch; ++item) {
    const Context root = root_of(static_cast<std::int64_t>(item));
    root_states_.push_back(new_state(root));
    problem.language(root, std::span(root_log_probs_).subspan(item * vocab, vocab));
  }
}

/// Four of 16 are telling, and of two more each the upper half is all that there is, or one bit all
/// that parts it from a prompt's.
std::uint64_t Model::drawn_number() {
  const std::uint64_t any = rng_();
  const std::uint64_t kind = any % 16;
  std::uint64_t number = any;
  if (kind < 4) number = kTelling[(any >> 8) % kTelling.size()];
  if (kind == 4 || kind == 5) number = any >> 32 << 32;
  if ((kind == 6 || kind == 7) && !root_states_.empty())
    number = root_states_[(any >> 16) % root_states_.size()] ^ (1ULL << (any >> 8) % 64);
  return states_.contains(number) ? any : number;
}

std::uint64_t Model::new_state(const Context& of) {
  if (numbers_ == StateNumbers::of_the_prompt && of.depth > 0)
    return root_states_[static_cast<std::size_t>(of.item)];
  const std::uint64_t count = states_.size();
  const std::uint64_t number = numbers_ == StateNumbers::from_0         ? count
                               : numbers_ == StateNumbers::from_the_top ? ~count
                                                                        : drawn_number();
  if (numbers_ == StateNumbers::converging) {
    const auto depth = static_cast<std::uint64_t>(of.depth);
    const auto place = mixed(depth, static_cast<std::uint64_t>(of.item));
    const auto [known, is_new] = converged_.try_emplace(place, number);
    if (!is_new) return known->second;
  }
  states_[number] = of;
  return number;
}

std::int64_t Model::refuse(std::string fault) {
  if (tally_.fault.empty()) tally_.fault = std::move(fault);
  return kNoSuchState;
}

std::int64_t Model::answer(const BeamStep& step, CallbackRequest& request) {
  ++tally_.requests;
  if (tally_.requests == failure_.request) return failure_.returned;
  if (failure_.request > 0 && tally_.requests > failure_.request)
    return refuse("the model was asked again after it had failed");
  if (step.rows < 1 || step.rows > problem_.batch() * problem_.settings.beam)
    return refuse(fmt::format("request {} has {} rows, want 1 to {}", tally_.requests, step.rows,
                              problem_.batch() * problem_.settings.beam));
  if (step.rows > rows_left_)
    return refuse(fmt::format("the model was asked for {} times the rows that {} steps have",
                              kWasteful, problem_.settings.max_new));
  rows_left_ -= step.rows;
  const auto states = request.array<std::uint64_t>(0);
  const auto tokens = request.array<std::int32_t>(1);
  const auto new_states = request.array<std::uint64_t>(2);
  const auto log_probs = request.array<float>(3);
  const auto rows = static_cast<std::size_t>(step.rows);
  const auto vocab = static_cast<std::size_t>(problem_.settings.vocab);
  for (std::size_t row = 0; row < rows; ++row)
    if (!answer_row(states[row], tokens[row], new_states[row],
                    log_probs.subspan(row * vocab, vocab)))
      return kNoSuchState;
  return 0;
}

bool Model::answer_row(std::uint64_t state, std::int32_t token, std::uint64_t& state_after,
                       std::span<float> row) {
  const auto known = states_.find(state);
  if (known == states_.end()) {
    refuse(fmt::format("request {} names state {:#x}, which was never given out", tally_.requests,
                       state));
    return false;
  }
  if (token < 0 || token >= problem_.settings.vocab) {
    refuse(fmt::format("request {} names token {}, want 0 to {}", tally_.requests, token,
                       problem_.settings.vocab - 1));
    return false;
  }
  const Context next = known->second.extended(token);
  const auto item = static_cast<std::size_t>(next.item);
  ++tally_.rows[item];
  tally_.deepest[item] = std::max(tally_.deepest[item], next.depth);
  if (++asked_[mixed(next.path, item)] > 1) ++tally_.repeated_rows;
  state_after = new_state(next);
  problem_.language(next, row);
  return true;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
