// SPDX-License-Identifier: Apache-2.0
#pragma once

// What counting says about the next token: interpolated Kneser-Ney (Chen and Goodman 1999, modified
// discounts) of the training text. Targets smoothed with it keep a model that sees the same text
// many times from learning it by heart (Xie et al. 2017, "Data noising as smoothing").
#include <array>
#include <vector>

#include "corpus.h"

namespace ternary {

class NGrams {
 public:
  static constexpr int kOrders = 4;  // lengths of contexts, 0 .. kOrders - 1

  NGrams(const Text& text, std::int64_t vocab);

  /// Adds `weight` times the distribution of the token after text[position], given that token and
  /// up to `seen` tokens before it, as if this place of the text had not been counted.
  void add(std::int64_t position, std::int64_t seen, float weight, float* to) const;

 private:
  struct Entry {
    std::int32_t token;
    std::int32_t count;
  };
  struct Context {
    std::int64_t first;  // of its entries; they end where the next context's begin
    double total;        // of the counts
    double taken;        // of the discounts
  };
  struct Order {
    std::vector<std::int32_t> context_of;  // by position in the text: its last tokens up to it
    std::vector<std::int32_t> entry_of;    // and the entry of the token that follows
    std::vector<Context> contexts;         // and one more at the end
    std::vector<Entry> entries;
    std::array<double, 4> discount;  // of counts 0, 1, 2 and more
    double left(std::int64_t n) const { return static_cast<double>(n) - taken(n); }
    double taken(std::int64_t n) const { return discount[static_cast<std::size_t>(n < 3 ? n : 3)]; }
  };

  void count(const Text& text, int length);

  std::int64_t vocab_;
  std::array<Order, kOrders> orders_;  // by length of the context
};

}  // namespace ternary
