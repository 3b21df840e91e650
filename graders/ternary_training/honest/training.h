// SPDX-License-Identifier: Apache-2.0
#pragma once

// What training loops share: how far the limits are away, and AdamW.
#include <algorithm>
#include <chrono>

#include "common.h"
#include "rows.h"

namespace common {

/// The limits of training, and what is reported on the way.
class Limits {
 public:
  explicit Limits(const TernaryTrainArgs& args) : a_(args) {}

  /// Share that is used up. Some of the time is kept for the end.
  double way() const {
    double way = a_.max_tokens == 0 ? 1 : 0;
    if (a_.max_tokens > 0) way = static_cast<double>(tokens) / static_cast<double>(a_.max_tokens);
    if (a_.max_seconds >= 0) way = std::max(way, seconds() / (0.8 * a_.max_seconds + 1e-9));
    return way;
  }

  bool reached() const { return stopped_ || way() >= 1; }

  /// Tokens for the next step, at most `wanted`.
  int64_t allowed(int64_t wanted) const {
    return a_.max_tokens < 0 ? wanted : std::min(wanted, a_.max_tokens - tokens);
  }

  void report() {
    TernaryProgress progress{steps, tokens, loss};
    if (a_.progress(a_.listener, &progress) != 0) stopped_ = true;
    reported_ = seconds();
  }
  void report_sometimes() {
    if (!stopped_ && seconds() - reported_ > 0.3) report();
  }

  int64_t steps = 0;
  int64_t tokens = 0;
  double loss = 0;

 private:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  const TernaryTrainArgs& a_;
  double reported_ = 0;
  bool stopped_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Numbers that are trained, with what AdamW remembers of them.
struct Adam {
  explicit Adam(size_t count) : value(count), mean(count), square(count) {}

  void update(const Floats& gradient, float rate, int64_t step) {
    const auto t = static_cast<double>(step);
    const float pace = rate / static_cast<float>(1 - std::pow(0.9, t));
    const auto square_scale = static_cast<float>(1 / (1 - std::pow(0.95, t)));
    for (size_t i = 0; i < value.size(); ++i) {
      mean[i] = 0.9f * mean[i] + 0.1f * gradient[i];
      square[i] = 0.95f * square[i] + 0.05f * gradient[i] * gradient[i];
      value[i] -= pace * mean[i] / (std::sqrt(square[i] * square_scale) + 1e-8f);
    }
  }

  Floats value, mean, square;
};

/// First token of the documents at the end that are not trained on; num_tokens where there are too
/// few documents to spare one.
inline int64_t end_of_training_text(const TernaryTrainArgs& a) {
  int64_t d = a.num_documents;
  while (d > 1 && a.num_tokens - a.document_start[d] < a.num_tokens / 16) --d;
  const int64_t end = a.document_start[d];
  return end >= a.num_tokens / 2 && end > a.model.context ? end : a.num_tokens;
}

}  // namespace common
