// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/core/rng.h"
#include "harness/grading/probe.h"
#include "tests/peers/comparison.h"
#include "tests/peers/peer.h"

namespace gauntlet::peers {

/// An input of one challenge and the right answer to it.
class Question {
 public:
  virtual ~Question() = default;

  /// Asks once. A crash, or a call that returns an error, ends the probe's check.
  virtual std::vector<Part> ask(Probe& probe) const = 0;
};

/// What a question is drawn by.
struct Draw {
  Peer::Numbers numbers;
  Peer::Indices indices;
  Shape shape;
  Regime regime;
};

using MakeQuestion = std::unique_ptr<Question> (*)(Rng& rng, const Draw& draw);

/// One line of questions/<id>.cpp: the program knows the challenges whose files are linked.
struct QuestionKind {
  QuestionKind(std::string challenge, MakeQuestion make);
};
MakeQuestion question_of(const std::string& challenge);  // null: it has none
std::vector<std::string> challenges_with_questions();    // sorted

inline void fill(Rng& rng, const Draw& draw, double factor, std::span<float> values) {
  for (float& value : values)
    value = static_cast<float>(
        factor * (draw.numbers == Peer::Numbers::uniform ? rng.uniform() : rng.normal()));
}

/// A fraction of what is typical, 1 at least.
inline std::int64_t part_of(std::int64_t typical, double fraction, std::int64_t plus = 0) {
  return std::max<std::int64_t>(1, std::llround(fraction * static_cast<double>(typical)) + plus);
}

}  // namespace gauntlet::peers
