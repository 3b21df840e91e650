// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far training has come on its way to the limits, and what follows for the next step.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

#include "contract.h"
#include "recipe.h"

namespace ternary {

class Schedule {
 public:
  /// Tokens that are trained on, and those of the evaluation at the end.
  Schedule(const TernaryTrainArgs& args, std::int64_t text, std::int64_t evaluation)
      : text_(text),
        context_(args.model.context),
        max_seconds_(args.max_seconds),
        max_tokens_(args.max_tokens),
        evaluation_(static_cast<double>(evaluation)) {
    const std::int64_t enough = recipe::kPasses * text;
    if (has_clock() && (max_tokens_ < 0 || max_tokens_ > enough)) max_tokens_ = enough;
  }

  bool may_go_on() const {
    if (tokens_ >= max_tokens_) return false;
    if (!has_clock()) return true;
    const double end = steps_ < kFirstSteps ? max_seconds_ / 2 : end_of_training();
    return max_seconds_ > 0 && seconds() + longest_step_ < end;
  }

  /// Whole windows, but for what the limit leaves, and one for every thread unless that makes too
  /// few updates.
  std::int64_t begin_step(std::int64_t threads) {
    step_start_ = seconds();
    if (tokens_ == 0) training_start_ = step_start_;
    const double windows = planned() / static_cast<double>(context_);
    const double most = static_cast<double>(recipe::kLargestBatch) / static_cast<double>(context_);
    const double wanted =
        std::max(std::min(windows / recipe::kUpdates, most),
                 std::min(windows / recipe::kFewestUpdates, static_cast<double>(threads)));
    const auto batch = std::max(static_cast<std::int64_t>(wanted), std::int64_t{1}) * context_;
    return std::min(batch, max_tokens_ - tokens_);
  }

  void end_step(std::int64_t tokens) {
    ++steps_;
    tokens_ += tokens;
    const double taken = seconds() - step_start_;
    longest_step_ = std::max(taken, longest_step_ * 0.9);
    const double now = taken / static_cast<double>(tokens);
    fastest_a_token_ = steps_ == 1 ? now : std::min(fastest_a_token_, now);
    seconds_a_token_ = steps_ <= kFirstSteps ? now : 0.9 * seconds_a_token_ + 0.1 * now;
  }

  /// The learning rate: rises, then falls to 0 with what is left of the way.
  double rate() const {
    double way = static_cast<double>(tokens_) / static_cast<double>(max_tokens_);
    if (has_clock()) way = std::max(way, seconds() / std::max(1e-9, end_of_training()));
    const double rise = way / recipe::kWarmUp;
    const double fall = (1 - way) / (1 - recipe::kWarmUp);
    return recipe::kLearningRate * std::max(0.0, std::min(rise, fall));
  }

  double dropout() const {
    return std::min(recipe::kMostDropout,
                    recipe::kDropoutAPass * planned() / static_cast<double>(text_));
  }

  std::int64_t steps() const { return steps_; }
  std::int64_t tokens() const { return tokens_; }

  bool wants_report() const { return seconds() - last_report_ > 0.4; }
  void reported() { last_report_ = seconds(); }

 private:
  using Clock = std::chrono::steady_clock;

  static constexpr std::int64_t kFirstSteps = 3;  // too slow to learn from

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool has_clock() const { return max_seconds_ >= 0; }

  /// A token's evaluation costs a third of its training; as much again, to be safe. On a busy
  /// machine steps wait for their threads, which the evaluation does once: between the fastest step
  /// and a usual one.
  double end_of_training() const {
    const double training = std::sqrt(seconds_a_token_ * fastest_a_token_);
    return max_seconds_ * 0.985 - 0.02 - 0.67 * training * evaluation_;
  }

  /// Tokens that the limits will allow in all.
  double planned() const {
    const auto most = static_cast<double>(max_tokens_);
    if (!has_clock() || tokens_ == 0) return has_clock() ? 0 : most;
    return std::min(most, (end_of_training() - training_start_) / seconds_a_token_);
  }

  Clock::time_point start_ = Clock::now();
  std::int64_t text_;
  std::int64_t context_;
  double max_seconds_;
  std::int64_t max_tokens_;
  double evaluation_;
  double training_start_ = 0, step_start_ = 0, last_report_ = 0;
  double longest_step_ = 0, seconds_a_token_ = 0, fastest_a_token_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t tokens_ = 0;
};

}  // namespace ternary
