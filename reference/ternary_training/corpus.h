// SPDX-License-Identifier: Apache-2.0
#pragma once

// The texts: what is trained on, what is held out, and in which windows training goes through it.
#include <span>
#include <vector>

#include "contract.h"
#include "random.h"

namespace ternary {

using Text = std::vector<std::uint16_t>;

struct Corpus {
  Text training;  // documents one after the other
  Text held_out;  // empty when there is too little text to spare any
};

/// Holds out whole documents, or the end of one where all are long.
Corpus split(const TernaryTrainArgs& args);

/// A stretch of a text: position p predicts the token that follows it.
struct Stretch {
  const std::uint16_t* token;  // [length + 1]
  std::int64_t length;
};

/// Goes through a text again and again, each time in windows from another origin, shuffled.
class Batches {
 public:
  Batches(const Text& text, std::int64_t context, std::uint64_t seed)
      : text_(text), context_(context), random_(seed) {}

  /// Windows of `tokens` tokens together, the last one shorter where they do not divide.
  std::vector<Stretch> next(std::int64_t tokens);

 private:
  void deal();

  const Text& text_;
  std::int64_t context_;
  Random random_;
  std::vector<std::int64_t> starts_;  // of the windows still to come
};

}  // namespace ternary
