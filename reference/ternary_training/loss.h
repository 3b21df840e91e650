// SPDX-License-Identifier: Apache-2.0
#pragma once

// Negative log likelihood of a stretch of text, and its gradient.
#include "backward.h"
#include "corpus.h"
#include "ngrams.h"

namespace ternary {

/// Replaces a row of logits by softmax times `weight`; returns -log softmax(logits)[target].
inline double soften(float* logits, std::int64_t vocab, std::int64_t target, float weight) {
  std::fill(logits + vocab, logits + padded(vocab), -HUGE_VALF);
  Vec largest = load(logits);
  for (std::int64_t v = kLanes; v < vocab; v += kLanes) {
    const Vec next = load(logits + v);
    largest = largest > next ? largest : next;
  }
  const float top = largest_of(largest);
  const double own = logits[target];
  Vec sums{};
  for (std::int64_t v = 0; v < vocab; v += kLanes) {
    const Vec power = exp_of(load(logits + v) - top);
    sums += power;
    store(logits + v, power);
  }
  const float sum = sum_of(sums);
  for (std::int64_t v = 0; v < vocab; v += kLanes)
    store(logits + v, load(logits + v) * (weight / sum));
  return std::log(static_cast<double>(sum)) + static_cast<double>(top) - own;
}

/// The sum over the predictions of a stretch. In scratch.logits `take_targets(i, row)` finds the
/// probabilities times `weight`, and `after_rows(first, count)` what it left of some rows.
template <class TakeTargets, class AfterRows>
double for_logits(const Model& model, const Angles& angles, Window& window, Scratch& scratch,
                  const Stretch& stretch, const Dropout& dropout, float weight,
                  const TakeTargets& take_targets, const AfterRows& after_rows) {
  const Forward forward(model, angles);
  forward.run(window, scratch, stretch.token, 0, stretch.length, dropout, [] {});
  double loss = 0;
  for (std::int64_t first = 0; first < stretch.length; first += Scratch::kLogitRows) {
    const std::int64_t count = std::min(Scratch::kLogitRows, stretch.length - first);
    forward.make_logits(window, scratch, first, count);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t target = stretch.token[first + i + 1];
      loss += soften(scratch.logits[i], model.sizes.vocab, target, weight);
      take_targets(first + i, scratch.logits[i]);
    }
    after_rows(first, count);
  }
  return loss;
}

inline double loss_of(const Model& model, const Angles& angles, Window& window, Scratch& scratch,
                      const Stretch& stretch) {
  return for_logits(
      model, angles, window, scratch, stretch, Dropout{}, 1.0f, [](std::int64_t, float*) {},
      [](std::int64_t, std::int64_t) {});
}

/// A stretch to learn from, and how.
struct Lesson {
  Stretch stretch;
  float weight;           // of a token in the gradient
  const NGrams* teacher;  // smooths the targets by `trust`; null: does not
  float trust;
  std::int64_t place;  // of the stretch in the teacher's text
  Dropout dropout;
};

/// Adds the gradient of the smoothed loss; returns the loss.
inline double learn(const Model& model, const Angles& angles, const Layout& layout, Window& window,
                    Scratch& scratch, BackwardScratch& work, const Lesson& lesson,
                    float* gradient) {
  const TernaryModel& m = model.sizes;
  const Stretch& stretch = lesson.stretch;
  const auto take_targets = [&](std::int64_t i, float* row) {
    row[stretch.token[i + 1]] -= lesson.weight * (1 - lesson.trust);
    if (lesson.teacher != nullptr)
      lesson.teacher->add(lesson.place + i, i, -lesson.weight * lesson.trust, row);
  };
  const auto head_backward = [&](std::int64_t first, std::int64_t count) {
    product<true>(transposed(scratch.logits.rows()), right_of(window.normal_x.rows().from(first)),
                  layout.rows(gradient, head_index(m)), m.vocab, m.width, count);
    product<false>(left_of(scratch.logits.rows()), model.head().plain(),
                   work.d_normal.rows().from(first), count, m.width, m.vocab);
  };
  const double loss = for_logits(model, angles, window, scratch, stretch, lesson.dropout,
                                 lesson.weight, take_targets, head_backward);
  Backward(model, angles, layout)
      .run(window, scratch.attention, work, stretch.token, stretch.length, lesson.dropout,
           gradient);
  return loss;
}

}  // namespace ternary
