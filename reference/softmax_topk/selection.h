// SPDX-License-Identifier: Apache-2.0
// The choice of the k best entries of a row, given the maxima of its groups.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "keys.h"
#include "lanes.h"

namespace fused {

inline constexpr int64_t kMostVectors = 16;

// A row in blocks of neighbouring entries, a few vectors each. A group is what one lane gets of a
// block, so that the maxima of a block's groups take no step across lanes.
struct Row {
  const float* z;
  int64_t len;
  float scale;
  int64_t vectors;  // in a block: 1, 4 or 16

  int64_t block() const { return vectors * kLanes; }
  int64_t blocks() const { return (len + block() - 1) / block(); }
  int64_t groups() const { return blocks() * kLanes; }
};

// The block's entries; the last block of a row is copied and filled up.
inline const float* entries_of(const Row& row, int64_t b, float* filled) {
  const int64_t begin = b * row.block();
  if (begin + row.block() <= row.len) return row.z + begin;
  std::fill(filled, filled + row.block(), kMinusInfinity);
  std::copy(row.z + begin, row.z + row.len, filled);
  return filled;
}

class Selection {
 public:
  // Picks the k best out of the row. `maxima` are those of its groups, in the order of order_of.
  std::vector<uint64_t>& pick(const Row& row, int64_t k, const int32_t* maxima) {
    k_ = static_cast<size_t>(k);
    best_ = 0;
    keys_.clear();
    choose_groups(row, maxima);
    // Where few groups hold all winners, they show at once what the others have to beat.
    const int32_t high = better_.empty() ? bound_ : kth_largest(some_, k / row.vectors + 1);
    for (const int64_t group : better_)
      if (maxima[group] >= high) take(row, group, maxima[group]);
    if (keys_.size() > k_) trim();
    for (const int64_t group : better_)
      if (maxima[group] < high) take(row, group, maxima[group]);
    for (const int64_t group : equal_) take(row, group, bound_);
    const size_t want = std::min<size_t>(k_, static_cast<size_t>(row.len));
    if (keys_.size() < want) take_nan(row, want);
    if (keys_.size() > k_) trim();
    sort_keys(keys_, scratch_);
    return keys_;
  }

 private:
  // Finds a number that at least k of the entries reach, and the groups that have such entries. The
  // maxima of groups are different entries, so that the k-th largest of them is such a number; it
  // need not be exact, and maxima of several groups at a time do as well where they are enough.
  void choose_groups(const Row& row, const int32_t* maxima) {
    const int64_t count = row.groups();
    int64_t fold = 16;
    while (fold > 1 && folded(count, fold) < 2 * k()) fold /= 4;
    fold_maxima(maxima, count, fold);
    bound_ = count > k() ? kth_largest(some_, k()) : order_of(kMinusInfinity);
    reach(maxima, count);
    list_maxima(maxima);
    if (std::ssize(better_) <= k() + k() / 4) return;
    bound_ = kth_largest(some_, k());
    equal_.clear();
    size_t kept = 0;
    for (const int64_t group : better_) {
      if (maxima[group] == bound_) equal_.push_back(group);
      if (maxima[group] > bound_) better_[kept++] = group;
    }
    better_.resize(kept);
    list_maxima(maxima);
  }

  // The groups that are above the bound or just reach it, in order. Of the latter k are enough, and
  // the others of the last one's block.
  void reach(const int32_t* maxima, int64_t count) {
    better_.clear();
    equal_.clear();
    for (int64_t first = 0; first < count; first += kLanes) {
      const bool enough = std::ssize(equal_) >= k();
      for (uint32_t mask = reaching(load<IntLanes>(maxima + first), bound_ + enough); mask;
           mask &= mask - 1) {
        const int64_t group = first + std::countr_zero(mask);
        (maxima[group] > bound_ ? better_ : equal_).push_back(group);
      }
    }
  }

  void list_maxima(const int32_t* maxima) {
    some_.clear();
    for (const int64_t group : better_) some_.push_back(maxima[group]);
  }

  static int64_t folded(int64_t count, int64_t fold) {
    return (count / kLanes + fold - 1) / fold * kLanes;
  }

  // The maxima of groups that are far apart, so that neighbours do not hide each other.
  void fold_maxima(const int32_t* maxima, int64_t count, int64_t fold) {
    const int64_t step = folded(count, fold);
    some_.assign(maxima, maxima + step);
    for (int64_t from = step; from < count; from += step) {
      const int64_t length = std::min(step, count - from);
      for (int64_t g = 0; g < length; ++g) some_[g] = std::max(some_[g], maxima[from + g]);
    }
  }

  // A number that at least k of the values reach, and few more than k unless they are equal.
  static int32_t kth_largest(const std::vector<int32_t>& values, int64_t k) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    int64_t low = *least;
    int64_t high = int64_t{*most} + 1;
    while (high - low > 1) {  // k or more reach `low`, fewer reach `high`
      const int64_t middle = low + (high - low) / 2;
      const auto bound = static_cast<int32_t>(middle);
      int32_t reached = 0;
      for (const int32_t value : values) reached += value >= bound;
      (reached >= k ? low : high) = middle;
      if (reached >= k && reached <= k + k / 8) break;
    }
    return static_cast<int32_t>(low);
  }

  // The group's entries come after its block's first one.
  void take(const Row& row, int64_t group, int32_t most) {
    const int64_t block = group / kLanes * row.block();
    if (key_of(most, block) < best_) return;
    const int64_t end = std::min(row.len, block + row.block());
    for (int64_t at = block + group % kLanes; at < end; at += kLanes) {
      const int32_t order = order_of(row.z[at]);
      if (order < bound_ || std::isnan(row.z[at])) continue;
      if (const uint64_t key = key_of(order, at); key > best_) keys_.push_back(key);
    }
    if (keys_.size() >= 2 * k_ + kMostVectors) trim();
  }

  void trim() {
    const auto last = keys_.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
    std::nth_element(keys_.begin(), last, keys_.end(), std::greater<>());
    keys_.resize(k_);
    best_ = keys_.back();
  }

  // Entries that compare with nothing come last; a row that needs them has no right answer.
  void take_nan(const Row& row, size_t want) {
    for (int64_t j = 0; j < row.len && keys_.size() < want; ++j)
      if (std::isnan(row.z[j])) keys_.push_back(key_of(std::numeric_limits<int32_t>::min(), j));
  }

  int64_t k() const { return static_cast<int64_t>(k_); }

  size_t k_ = 0;
  int32_t bound_ = 0;  // what at least k entries reach
  uint64_t best_ = 0;  // the k-th best so far; 0: not known
  std::vector<uint64_t> keys_, scratch_;
  std::vector<int64_t> better_, equal_;  // groups above the bound, groups that just reach it
  std::vector<int32_t> some_;
};

}  // namespace fused
