// SPDX-License-Identifier: Apache-2.0
#include "ngrams.h"

#include <algorithm>
#include <cmath>

namespace ternary {
namespace {

/// How much is taken from counts of 0, 1, 2 and more.
std::array<double, 4> discounts_of(const std::vector<std::int64_t>& counts) {
  double seen[5] = {};
  for (const std::int64_t c : counts)
    if (c < 5) ++seen[c];
  const double base = seen[1] > 0 ? seen[1] / (seen[1] + 2 * seen[2]) : 0.5;
  std::array<double, 4> discount{};
  for (int c = 1; c <= 3; ++c) {
    const double d = seen[c] > 0 ? c - (c + 1) * base * seen[c + 1] / seen[c] : 0.5;
    discount[static_cast<std::size_t>(c)] = std::clamp(d, 0.1, c * 0.95);
  }
  return discount;
}

}  // namespace

NGrams::NGrams(const Text& text, std::int64_t vocab) : vocab_(vocab) {
  for (int length = kOrders - 1; length >= 0; --length) count(text, length);
}

void NGrams::count(const Text& text, int length) {
  // Positions of the last token of a context, sorted by context (the last token first), then by
  // the next token, then by what stands before.
  const auto size = static_cast<std::int64_t>(text.size());
  std::vector<std::int64_t> order;
  for (std::int64_t i = std::max(0, length - 1); i + 1 < size; ++i) order.push_back(i);
  const auto same = [&](std::int64_t a, std::int64_t b, int tokens) {
    for (int k = 0; k < tokens; ++k)
      if (text[a - k] != text[b - k]) return false;
    return true;
  };
  const auto before = [&](std::int64_t i) { return i - length >= 0 ? text[i - length] : -1; };
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    for (int k = 0; k < length; ++k)
      if (text[a - k] != text[b - k]) return text[a - k] < text[b - k];
    if (text[a + 1] != text[b + 1]) return text[a + 1] < text[b + 1];
    return before(a) < before(b);
  });
  // Counts: of occurrences for the longest contexts, of different predecessors for the others.
  struct Run {
    std::int64_t at;
    std::int64_t count;
  };
  std::vector<Run> runs;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t at = order[i];
    const bool new_run =
        i == 0 || !same(order[i - 1], at, length) || text[order[i - 1] + 1] != text[at + 1];
    if (new_run) runs.push_back({at, 0});
    if (new_run || length == kOrders - 1 || before(order[i - 1]) != before(at)) ++runs.back().count;
  }
  std::vector<std::int64_t> counts;
  for (const Run& run : runs) counts.push_back(run.count);
  Order& result = orders_[static_cast<std::size_t>(length)];
  result.discount = discounts_of(counts);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i == 0 || !same(runs[i - 1].at, runs[i].at, length))
      result.contexts.push_back({static_cast<std::int64_t>(i), 0, 0});
    result.contexts.back().total += static_cast<double>(runs[i].count);
    result.contexts.back().taken += result.taken(runs[i].count);
    result.entries.push_back({text[runs[i].at + 1], static_cast<std::int32_t>(runs[i].count)});
  }
  result.contexts.push_back({static_cast<std::int64_t>(runs.size()), 0, 0});
  result.context_of.assign(text.size(), -1);
  result.entry_of.assign(text.size(), -1);
  std::int32_t context = -1;
  std::int32_t entry = -1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool new_context = i == 0 || !same(order[i - 1], order[i], length);
    if (new_context) ++context;
    if (new_context || text[order[i - 1] + 1] != text[order[i] + 1]) ++entry;
    result.context_of[static_cast<std::size_t>(order[i])] = context;
    result.entry_of[static_cast<std::size_t>(order[i])] = entry;
  }
}

void NGrams::add(std::int64_t position, std::int64_t seen, float weight, float* to) const {
  const auto at = static_cast<std::size_t>(position);
  bool vanished = true;  // whether this place is missed in the counts of this length
  for (int length = kOrders - 1; length >= 0; --length) {
    const Order& order = orders_[static_cast<std::size_t>(length)];
    if (order.context_of[at] < 0) continue;
    const auto c = static_cast<std::size_t>(order.context_of[at]);
    const auto own = static_cast<std::size_t>(order.entry_of[at]);
    const std::int64_t count = order.entries[own].count;
    const std::int64_t others = count - (vanished ? 1 : 0);
    const double total = order.contexts[c].total - static_cast<double>(count - others);
    vanished = others == 0;
    if (length > seen + 1 || total <= 0) continue;
    const double taken = order.contexts[c].taken - order.taken(count) + order.taken(others);
    const float scale = weight / static_cast<float>(total);
    for (std::int64_t e = order.contexts[c].first; e < order.contexts[c + 1].first; ++e) {
      const Entry& entry = order.entries[static_cast<std::size_t>(e)];
      to[entry.token] += scale * static_cast<float>(order.left(entry.count));
    }
    to[order.entries[own].token] +=
        scale * static_cast<float>(order.left(others) - order.left(count));
    weight = scale * static_cast<float>(taken);
  }
  for (std::int64_t v = 0; v < vocab_; ++v) to[v] += weight / static_cast<float>(vocab_);
}

}  // namespace ternary
