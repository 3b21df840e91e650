// SPDX-License-Identifier: Apache-2.0
#pragma once

// A training loop for methods that differ in how latent numbers become a ternary matrix, and how
// they are updated. A method is made from a matrix's size, its group and random numbers, and has
//   const PackedMatrix& packed(): codes and scales of what the model now computes with
//   void unfold(Floats& weights, double way): the weights to compute with; `way` is the share of
//   the
//     limits used up, and at 1 they are those of packed()
//   void update(const Floats& gradient, float rate, int64_t step)
#include <limits>

#include "operators.h"

namespace common {

template <class Method>
class Student {
 public:
  explicit Student(const TernaryTrainArgs& args)
      : a_(args),
        limits_(args),
        random_{args.seed},
        gains_(static_cast<size_t>(gains_of(a_.model))) {
    for (const Size& size : sizes_of(a_.model)) {
      weights_.emplace_back(size);
      methods_.emplace_back(size, a_.model.group, random_);
    }
    std::fill(gains_.value.begin(), gains_.value.end(), 1.0f);
    gain_gradients_.resize(gains_.value.size());
  }

  void run() {
    while (!limits_.reached()) step();
    unfold_all(1);
    *a_.train_nll = likelihood(a_.token, std::min<int64_t>(a_.num_tokens, 4097));
    *a_.held_out_nll = a_.num_tokens - trained_ < 2
                           ? std::numeric_limits<double>::quiet_NaN()
                           : likelihood(a_.token + trained_, a_.num_tokens - trained_);
    std::vector<const PackedMatrix*> packed;
    for (const Method& method : methods_) packed.push_back(&method.packed());
    pack(a_.model, packed, gains_.value, a_.checkpoint);
    *a_.checkpoint_bytes = static_cast<int64_t>(checkpoint_bytes(a_.model));
    *a_.tokens_seen = limits_.tokens;
    limits_.report();
  }

 private:
  void unfold_all(double way) {
    for (size_t i = 0; i < methods_.size(); ++i) methods_[i].unfold(weights_[i].value, way);
  }

  void step() {
    const double way = limits_.way();
    unfold_all(way);
    const int64_t count = limits_.allowed(a_.model.context);
    const uint16_t* text = a_.token + random_.below(trained_ - count);
    for (Weights& w : weights_) std::fill(w.gradient.begin(), w.gradient.end(), 0.0f);
    std::fill(gain_gradients_.begin(), gain_gradients_.end(), 0.0f);
    Tape tape(count);
    Node& logits = logits_of(tape, a_.model, weights_, gains_.value, gain_gradients_, text);
    limits_.loss = loss_of(logits, text, count) / static_cast<double>(count);
    for (size_t i = 0; i < logits.value.size(); ++i)
      logits.gradient[i] = logits.value[i] / static_cast<float>(count);
    for (int64_t i = 0; i < count; ++i)
      logits.gradient[static_cast<size_t>(i * a_.model.vocab + text[i + 1])] -=
          1 / static_cast<float>(count);
    tape.run_back();
    limits_.tokens += count;
    ++limits_.steps;
    const auto rate = static_cast<float>(std::min(std::max(0.0, 1 - way), 20 * way + 0.05));
    for (size_t i = 0; i < methods_.size(); ++i)
      methods_[i].update(weights_[i].gradient, rate, limits_.steps);
    gains_.update(gain_gradients_, 4e-3f * rate, limits_.steps);
    limits_.report_sometimes();
  }

  /// The sum over the predictions; leaves probabilities behind.
  double loss_of(Node& logits, const uint16_t* text, int64_t count) const {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i)
      sum += soften(logits.value.data() + i * a_.model.vocab, a_.model.vocab, text[i + 1]);
    return sum;
  }

  double likelihood(const uint16_t* text, int64_t count) {
    double sum = 0;
    for (int64_t at = 0; at + 1 < count; at += a_.model.context) {
      const int64_t length = std::min(a_.model.context, count - 1 - at);
      Tape tape(length);
      sum += loss_of(logits_of(tape, a_.model, weights_, gains_.value, gain_gradients_, text + at),
                     text + at, length);
      limits_.report_sometimes();
    }
    return sum / static_cast<double>(count - 1);
  }

  const TernaryTrainArgs& a_;
  Limits limits_;
  Random random_;
  std::vector<Weights> weights_;
  std::vector<Method> methods_;
  Adam gains_;
  Floats gain_gradients_;
  const int64_t trained_ = end_of_training_text(a_);  // tokens from the first on
};

template <class Method>
int64_t train_by(const TernaryTrainArgs& args) {
  if (const int64_t status = judge(args); status != TERNARY_OK) return status;
  Student<Method>(args).run();
  return TERNARY_OK;
}

/// Latent weights of a matrix at the start.
inline void scatter(Random& random, const Size& size, Floats& latent) {
  const float spread = 1 / std::sqrt(static_cast<float>(size.columns));
  for (float& w : latent) w = spread * random.bell();
}

}  // namespace common
