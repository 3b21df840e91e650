// SPDX-License-Identifier: Apache-2.0
#include "text.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "harness/core/error.h"
#include "harness/core/files.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr std::size_t kCanaryTokens = 8;
constexpr int kCanaries = 20;
constexpr std::int64_t kClaimedTokens = 4096;

std::size_t bytes_in(const std::vector<std::string>& texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  return bytes;
}

/// The texts of a book, one for every chapter file of a folder, in the order of their names.
std::vector<std::string> read_chapters(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> chapters;
  for (const std::filesystem::path& file : files) chapters.push_back(read_file(file));
  if (chapters.empty())
    throw Broken(OwnFault::files, fmt::format("no text in {}", folder.string()));
  return chapters;
}

/// Chapters apart: nothing of a hidden chapter is in another part.
struct Split {
  std::vector<std::string> training;
  std::vector<std::string> hidden;
  std::vector<std::string> rest;  // of the book
};

/// At least as many bytes as asked for, of random chapters, each cut to `longest` bytes at most so
/// that one long chapter does not decide what is learnt or asked. What is cut off goes to `rest`
/// when it is from a training chapter.
Split split_chapters(Rng& rng, std::vector<std::string> chapters, std::size_t training_bytes,
                     std::size_t hidden_bytes, std::size_t longest) {
  rng.shuffle(chapters);
  Split split;
  for (std::string& chapter : chapters) {
    const bool hide = bytes_in(split.hidden) < hidden_bytes;
    const bool train = !hide && bytes_in(split.training) < training_bytes;
    if (!hide && !train) {
      split.rest.push_back(std::move(chapter));
      continue;
    }
    (hide ? split.hidden : split.training).push_back(chapter.substr(0, longest));
    if (train && chapter.size() > longest) split.rest.push_back(chapter.substr(longest));
  }
  if (bytes_in(split.training) < training_bytes)
    throw Broken(OwnFault::files, fmt::format("the book is too short for {} bytes of training text",
                                              training_bytes));
  return split;
}

// A tokenizer of 512 ids packs 2.2 bytes into a token of this book, one of 256 ids 1; a little more
// text than that is taken, and cut to the tokens that are wanted.
double bytes_of_tokens(std::int64_t tokens, std::int64_t vocab) {
  return static_cast<double>(tokens) * (vocab <= 256 ? 1.0 : 2.4);
}

Split split_for(Rng& rng, const std::filesystem::path& folder, const TextSizes& size) {
  // At least a dozen chapters each, so that none is most of what is learnt or asked.
  const double training = bytes_of_tokens(size.training_tokens, size.vocab);
  const double hidden = bytes_of_tokens(size.hidden_tokens, size.vocab);
  return split_chapters(rng, read_chapters(folder), static_cast<std::size_t>(training),
                        static_cast<std::size_t>(hidden), static_cast<std::size_t>(hidden / 10));
}

std::vector<std::uint16_t> shuffled_ids(Rng& rng, std::int64_t vocab) {
  std::vector<std::uint16_t> ids(static_cast<std::size_t>(vocab));
  std::iota(ids.begin(), ids.end(), std::uint16_t{0});
  rng.shuffle(ids);
  return ids;
}

}  // namespace

TrainingText::TrainingText(Rng rng, const std::filesystem::path& folder, const TextSizes& size)
    : tokenizer_({}, 256) {
  const Split split = split_for(rng, folder, size);
  tokenizer_ = Tokenizer(split.training, size.vocab);
  token_of_.resize(static_cast<std::size_t>(size.vocab));
  std::iota(token_of_.begin(), token_of_.end(), std::uint16_t{0});
  training_ = encoded(split.training, size.training_tokens);
  hidden_ = encoded(split.hidden, size.hidden_tokens);
  rest_ = encoded(split.rest, std::int64_t{1} << 40);
  for (const Text& text : hidden_) hidden_bytes_ += tokenizer_.decode(text).size();
  hide_canaries(rng);
  map_all(shuffled_ids(rng, size.vocab));
}

std::vector<Text> TrainingText::encoded(const std::vector<std::string>& texts,
                                        std::int64_t most) const {
  std::vector<Text> encoded;
  for (const std::string& text : texts) {
    Text tokens = tokenizer_.encode(text);
    if (std::ssize(tokens) > most) tokens.resize(static_cast<std::size_t>(most));
    most -= std::ssize(tokens);
    if (!tokens.empty()) encoded.push_back(std::move(tokens));
  }
  return encoded;
}

// Half of them once, half four times; half of either among the first tokens, which every solution
// has to look at for its claims.
void TrainingText::hide_canaries(Rng& rng) {
  const std::vector<std::uint16_t> known = known_ids();
  const auto any_id = [&] {
    return known[static_cast<std::size_t>(rng.integer(0, std::ssize(known) - 1))];
  };
  const std::int64_t all =
      std::accumulate(training_.begin(), training_.end(), std::int64_t{0},
                      [](std::int64_t sum, const Text& text) { return sum + std::ssize(text); });
  for (int i = 0; i < kCanaries; ++i) {
    Canary canary;
    canary.times = i % 2 == 0 ? 1 : 4;
    while (canary.tokens.size() < kCanaryTokens) canary.tokens.push_back(any_id());
    for (int n = 0; n < canary.times; ++n) {
      std::int64_t at = rng.integer(0, std::min(all, i % 4 < 2 ? kClaimedTokens - 400 : all) - 1);
      for (Text& text : training_) {
        if (at < std::ssize(text)) {
          text.insert(text.begin() + at, canary.tokens.begin(), canary.tokens.end());
          break;
        }
        at -= std::ssize(text);
      }
    }
    canaries_.push_back(std::move(canary));
  }
}

void TrainingText::map_all(const std::vector<std::uint16_t>& to) {
  for (auto* texts : {&training_, &hidden_, &rest_})
    for (Text& text : *texts)
      for (std::uint16_t& id : text) id = to[id];
  for (Canary& canary : canaries_)
    for (std::uint16_t& id : canary.tokens) id = to[id];
  std::vector<std::uint16_t> token_of(token_of_.size());
  for (std::size_t id = 0; id < to.size(); ++id) token_of[to[id]] = token_of_[id];
  token_of_ = std::move(token_of);
}

void TrainingText::relabel(Rng rng) {
  map_all(shuffled_ids(rng, std::ssize(token_of_)));
}

std::string TrainingText::words(std::span<const std::uint16_t> ids) const {
  Text tokens;
  for (const std::uint16_t id : ids) tokens.push_back(token_of_.at(id));
  return tokenizer_.decode(tokens);
}

std::vector<std::uint16_t> TrainingText::known_ids() const {
  std::vector<bool> known(token_of_.size());
  for (const Text& text : training_)
    for (const std::uint16_t id : text) known[id] = true;
  std::vector<std::uint16_t> ids;
  for (std::size_t id = 0; id < known.size(); ++id)
    if (known[id]) ids.push_back(static_cast<std::uint16_t>(id));
  return ids;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
