// SPDX-License-Identifier: Apache-2.0
#pragma once

// The best extensions of an item's hypotheses, every log-probability read once.
//
// A step needs the best M of an item's rows * vocab extensions. One pass over the rows takes the
// maximum of each block of 512 tokens, on all threads and at memory speed. At least M extensions
// reach the M-th largest maximum, so that only blocks that reach it can hold one of the best M:
// these few are read again, and what reaches the threshold is sorted.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <omp.h>
#include <vector>

#include "contract.h"
#include "hypothesis.h"
#include "maximum.h"

constexpr std::int64_t kBlock = 512;             // tokens
constexpr std::int64_t kWorthThreads = 1 << 16;  // log-probs in a step

class Selection {
 public:
  explicit Selection(const BeamArgs& args)
      : args_(args),
        pooled_(args.policy == BEAM_POOLED),
        blocks_((args.vocab + kBlock - 1) / kBlock),
        wanted_(pooled_ ? args.beam : args.beam * (1 + args.eos_count)) {}

  std::int64_t blocks() const { return blocks_; }

  /// Looks at all rows of step t, whose extensions have this penalty.
  void find_maxima(const std::vector<Row*>& rows, std::int64_t t, double lp) {
    t_ = t;
    lp_ = lp;
    const std::int64_t all = static_cast<std::int64_t>(rows.size()) * blocks_;
    [[maybe_unused]] const bool many = all * kBlock >= kWorthThreads && args_.num_threads > 1;
    // More than there are processors only get in each other's way.
    [[maybe_unused]] const int threads = std::min(args_.num_threads, omp_get_num_procs());
#pragma omp parallel for schedule(static) num_threads(threads) if (many)
    for (std::int64_t i = 0; i < all; ++i) {
      const std::int64_t block = i % blocks_;
      Row& row = *rows[static_cast<std::size_t>(i / blocks_)];
      const std::int64_t first = block * kBlock;
      row.maxima[block] = maximum(row.log_probs + first, std::min(kBlock, args_.vocab - first));
    }
    if (t_ <= args_.min_new)
      for (Row* row : rows) forget_eos(*row);
  }

  /// The item's extensions that can be among its best, in no order; for use until the next call.
  std::vector<Extension>& find_best(const Item& item) {
    const double least = threshold(item);
    std::int64_t ties = 0;  // they are met in their order: later ones than `wanted_` cannot stay
    best_.clear();
    for (const Row& row : item.rows)
      for (std::int64_t block = 0; block < blocks_; ++block)
        if (row.maxima[block] != kNever &&
            key_of(row.base + static_cast<double>(row.maxima[block])) >= least)
          search_block(row, block, least, ties);
    return best_;
  }

  /// Leaves the best of what was found, in order.
  void keep_best(std::vector<Extension>& found) const {
    const auto kept = std::min<std::size_t>(found.size(), static_cast<std::size_t>(wanted_));
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end(),
                      before);
    found.resize(kept);
  }

 private:
  /// Maxima of the blocks with an EOS token, without it.
  void forget_eos(Row& row) const {
    for (std::int64_t i = 0; i < args_.eos_count; ++i) {
      const std::int64_t block = args_.eos[i] / kBlock;
      float best = kNever;
      for (std::int64_t token = block * kBlock; token < block_end(block); ++token)
        if (!is_eos(static_cast<std::int32_t>(token))) best = std::max(best, row.log_probs[token]);
      row.maxima[block] = best;
    }
  }

  std::int64_t block_end(std::int64_t block) const {
    return std::min((block + 1) * kBlock, args_.vocab);
  }

  double key_of(double log_prob) const {
    return pooled_ ? log_prob / lp_ : log_prob;
  }

  /// A key that at least `wanted_` extensions of the item reach, when there are so many.
  double threshold(const Item& item) {
    keys_.clear();
    for (const Row& row : item.rows)
      for (std::int64_t block = 0; block < blocks_; ++block)
        keys_.push_back(key_of(row.base + static_cast<double>(row.maxima[block])));
    if (static_cast<std::int64_t>(keys_.size()) < wanted_) return -HUGE_VAL;
    const auto nth = keys_.begin() + (wanted_ - 1);
    std::nth_element(keys_.begin(), nth, keys_.end(), std::greater<>());
    return *nth;
  }

  void search_block(const Row& row, std::int64_t block, double least, std::int64_t& ties) {
    for (std::int64_t token = block * kBlock; token < block_end(block); ++token) {
      const float value = row.log_probs[token];
      const double log_prob = row.base + static_cast<double>(value);
      const double key = key_of(log_prob);
      if (!(key >= least) || value == kNever) continue;
      if (t_ <= args_.min_new && is_eos(static_cast<std::int32_t>(token))) continue;
      if (key == least && ++ties > wanted_) continue;
      best_.push_back({key, log_prob, row.rank, static_cast<std::int32_t>(token)});
    }
  }

  bool is_eos(std::int32_t token) const {
    return ::is_eos(args_, token);
  }

  const BeamArgs& args_;
  const bool pooled_;
  const std::int64_t blocks_;  // of a row
  const std::int64_t wanted_;  // extensions of an item that a step has to look at
  std::int64_t t_ = 0;
  double lp_ = 1;  // of this step's extensions
  std::vector<double> keys_;
  std::vector<Extension> best_;
};
