// SPDX-License-Identifier: Apache-2.0
#include "language.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graders/kit/inputs.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr std::size_t kAlphabet = 9;

std::uint64_t mix(std::uint64_t z) {  // the splitmix64 finisher
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

double share(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace

Language::Language(std::int64_t vocab, Rng& rng)
    : vocab_(vocab), empty_(rng()), secret_(rng.seed()) {
  const std::size_t others = std::min(static_cast<std::size_t>(vocab) - 1, kAlphabet - 1);
  while (alphabet_.size() < others) {
    const auto id = static_cast<std::int32_t>(rng.integer(1, vocab - 1));
    if (std::ranges::find(alphabet_, id) == alphabet_.end()) alphabet_.push_back(id);
  }
  alphabet_.push_back(0);
}

bool Language::is_eos(std::int32_t token) const {
  if (token >= 0 && token < std::ssize(ends_)) return ends_[static_cast<std::size_t>(token)];
  return std::ranges::find(eos_, token) != eos_.end();
}

void Language::end_with(std::vector<std::int32_t> eos, double probability) {
  eos_ = std::move(eos);
  ends_.assign(static_cast<std::size_t>(vocab_), false);
  said_ends_.clear();
  for (const std::int32_t end : eos_)
    if (end >= 0 && end < vocab_) {
      said_ends_.push_back(end);
      ends_[static_cast<std::size_t>(end)] = true;
    }
  end_probability_ = said_ends_.empty() ? 0 : probability;
  std::vector<std::int32_t> rest;
  for (const std::int32_t token : alphabet_)
    if (!is_eos(token)) rest.push_back(token);
  if (!rest.empty()) alphabet_ = std::move(rest);
}

State Language::extend(State text, std::int32_t token) const {
  return mix(text * 0x9e3779b97f4a7c15 + static_cast<std::uint32_t>(token) + 1);
}

State Language::read(std::span<const std::int32_t> tokens) const {
  State text = empty_;
  for (const std::int32_t token : tokens) text = extend(text, token);
  return text;
}

std::int32_t Language::choice(State text) const {
  if (const auto known = continuations_.find(text); known != continuations_.end())
    return known->second;
  if (default_) return *default_;
  const std::uint64_t bits = mix(text ^ empty_);
  if (share(mix(bits)) < end_probability_) return said_ends_[bits % said_ends_.size()];
  return alphabet_[bits % alphabet_.size()];
}

void Language::logits(State text, std::span<float> row) const {
  Rng rng(derive(secret_, fmt::format("{:x}", text)));
  const auto best = static_cast<std::size_t>(choice(text));
  const std::int64_t kind = rng.integer(0, 3);
  const auto shift = static_cast<float>(rng.integer(-63, 63));
  kit::fill_from<1>(rng, row, [=](const std::int32_t* word, std::size_t) {
    const float draw = static_cast<float>(*word) * 0x1p-32f + 0.5f;
    return kind == 3 && draw < 0.25f ? -kit::kInfinity : shift - 8 * draw - 0.5f;
  });
  row[best] = shift;
  if (kind == 2 && rng.chance(0.25)) {  // one token allowed, and that hardly
    for (float& logit : row) logit = -kit::kInfinity;
    row[best] = -1e35f;
  }
  if (kind >= 2) return;
  // The runner-up is a token that trees like to draft.
  const auto rival = static_cast<std::size_t>(kit::one_of(rng, alphabet_));
  if (rival == best) return;
  row[rival] = kind == 0 && rival > best ? shift : std::nextafter(shift, -kit::kInfinity);
}

std::vector<std::int32_t> Language::decode(State text, std::int64_t count) const {
  std::vector<std::int32_t> tokens;
  for (std::int64_t i = 0; i < count; ++i) {
    tokens.push_back(choice(text));
    text = extend(text, tokens.back());
  }
  return tokens;
}

std::vector<std::int32_t> until_end(const Language& language, std::vector<std::int32_t> tokens,
                                    std::int64_t limit) {
  const auto last = std::find_if(tokens.begin(), tokens.end(),
                                 [&](std::int32_t token) { return language.is_eos(token); });
  const std::int64_t length = last == tokens.end() ? std::ssize(tokens) : last - tokens.begin() + 1;
  tokens.resize(static_cast<std::size_t>(std::min(length, limit)));
  return tokens;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
