// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/core/rng.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A text, as the hash of its tokens in order. Two texts that differ anywhere differ here, so what
/// the target says depends on every token that a row can see and on their order.
using State = std::uint64_t;

/// The target model: a pure function from a text to the token that follows. Random by default;
/// single texts can be given their continuation. Its choices come from a small alphabet that
/// contains token 0, so that wrong rows often say something plausible.
class Language {
 public:
  Language(std::int64_t vocab, Rng& rng);

  std::int64_t vocab() const { return vocab_; }
  const std::vector<std::int32_t>& eos() const { return eos_; }
  const std::vector<std::int32_t>& alphabet() const { return alphabet_; }
  bool is_eos(std::int32_t token) const;

  /// From now on random texts are made of these tokens.
  void speak(std::vector<std::int32_t> alphabet) { alphabet_ = std::move(alphabet); }
  /// From now on random texts end with one of these tokens with this probability a token. Ends
  /// outside the vocabulary are ends that never come.
  void end_with(std::vector<std::int32_t> eos, double probability);
  /// What follows every text that has no continuation of its own.
  void say_by_default(std::int32_t token) { default_ = token; }
  void say(State text, std::int32_t token) { continuations_[text] = token; }

  State extend(State text, std::int32_t token) const;
  State read(std::span<const std::int32_t> tokens) const;
  std::int32_t choice(State text) const;

  /// Logits of which `choice` is the lowest largest: beside it, by turns, a runner-up one float
  /// below, an equal with a higher id, or a clear distance and some -infinity; now and then
  /// everything else is -infinity.
  void logits(State text, std::span<float> row) const;

  /// The `count` tokens that greedy decoding appends to a text; goes on after an end of sequence.
  std::vector<std::int32_t> decode(State text, std::int64_t count) const;

 private:
  std::int64_t vocab_;
  State empty_;  // the text without tokens
  Seed secret_;  // of logits: who has seen some can compute no others
  std::vector<std::int32_t> alphabet_;
  std::vector<std::int32_t> eos_;
  std::vector<bool> ends_;  // which tokens are; asked for each token, there may be 10^5 ends
  std::vector<std::int32_t> said_ends_;  // those of them that are tokens
  double end_probability_ = 0;
  std::optional<std::int32_t> default_;
  std::unordered_map<State, std::int32_t> continuations_;
};

/// Cuts a greedy decode after its first end of sequence and at `limit` tokens.
std::vector<std::int32_t> until_end(const Language& language, std::vector<std::int32_t> tokens,
                                    std::int64_t limit);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
