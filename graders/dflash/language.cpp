// SPDX-License-Identifier: Apache-2.0
#include "language.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

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
  std::vector<std::int32_t> ids(static_cast<std::size_t>(vocab) - 1);
  std::iota(ids.begin(), ids.end(), 1);
  rng.shuffle(ids);
  ids.resize(std::min(ids.size(), kAlphabet - 1));
  alphabet_ = std::move(ids);
  alphabet_.push_back(0);
}

bool Language::is_eos(std::int32_t token) const {
  return std::ranges::binary_search(sorted_eos_, token);
}

void Language::end_with(std::vector<std::int32_t> eos, double probability) {
  eos_ = std::move(eos);
  sorted_eos_ = eos_;
  std::ranges::sort(sorted_eos_);
  said_ends_.clear();
  for (const std::int32_t end : eos_)
    if (end >= 0 && end < vocab_) said_ends_.push_back(end);
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
  for (float& logit : row) {
    const double draw = rng.uniform();
    logit =
        kind == 3 && draw < 0.25 ? -kit::kInfinity : shift - static_cast<float>(8 * draw) - 0.5f;
  }
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
