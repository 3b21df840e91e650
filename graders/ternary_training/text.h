// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/rng.h"
#include "likelihood.h"
#include "tokenizer.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Eight random tokens that were put among the training text a number of times: what is known of
/// them was learnt by heart.
struct Canary {
  Text tokens;
  int times = 1;
};

/// How much text there is.
struct TextSizes {
  std::int64_t vocab = 512;
  std::int64_t training_tokens = 49'152;
  std::int64_t hidden_tokens = 16'384;
};

/// Texts of one book as token ids: a tokenizer learnt on the training chapters only, ids dealt
/// anew. The same stream of random numbers gives the same texts.
class TrainingText {
 public:
  TrainingText(Rng rng, const std::filesystem::path& folder, const TextSizes& size);

  const std::vector<Text>& training() const { return training_; }  // with the canaries
  const std::vector<Text>& hidden() const { return hidden_; }      // of other chapters
  const std::vector<Text>& rest() const { return rest_; }  // of the book, hidden chapters left out
  const std::vector<Canary>& canaries() const { return canaries_; }

  std::string words(std::span<const std::uint16_t> ids) const;

  /// Ids that occur in the training text.
  std::vector<std::uint16_t> known_ids() const;
  std::size_t hidden_bytes() const { return hidden_bytes_; }

  /// The same texts under other ids.
  void relabel(Rng rng);

 private:
  void hide_canaries(Rng& rng);
  std::vector<Text> encoded(const std::vector<std::string>& texts, std::int64_t most) const;
  void map_all(const std::vector<std::uint16_t>& to);

  Tokenizer tokenizer_;
  std::vector<std::uint16_t> token_of_;  // of an id, as the tokenizer counts
  std::vector<Text> training_, hidden_, rest_;
  std::vector<Canary> canaries_;
  std::size_t hidden_bytes_ = 0;
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
