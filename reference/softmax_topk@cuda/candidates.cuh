// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "keys.cuh"
#include "sort_keys.cuh"

namespace fused {

/// The `wanted` largest of the keys that a team is offered, all of them below `bound`. They wait in
/// shared memory, unordered, until it is full: then it is sorted, and what is not among the best so
/// far is dropped, and with it everything like it that comes later. In which order keys come there
/// changes nothing.
template <class Team>
class Candidates {
 public:
  /// Entries that a team offers between two calls of settle().
  static constexpr int kTile = Team::kItems * Team::kThreads;

  /// How many keys there has to be room for.
  __host__ __device__ static int capacity(int wanted) {
    int room = 2 * kTile;
    while (room < wanted + kTile) room *= 2;
    return room;
  }
  static std::size_t shared_bytes(int wanted) {
    return Team::kTeams * (capacity(wanted) * sizeof(Key) + sizeof(Key));
  }

  __device__ __forceinline__ Candidates(Key* shared, int wanted, Key bound)
      : wanted_(wanted),
        room_(capacity(wanted)),
        bound_(bound),
        most_logit_(bound == kAboveAll ? INFINITY : logit_of(bound)) {
    keys_ = shared + Team::number() * (room_ + 1);
    count_ = reinterpret_cast<int*>(keys_ + room_);
    Team::sync();
    if (Team::rank() == 0) *count_ = 0;
    Team::sync();
  }

  /// An entry behind all of those that were offered before, as a row is read. Most are turned down
  /// by their logit alone: one that is equal to the least comes too late. A NaN is no less than it.
  __device__ __forceinline__ void offer(float z, std::uint32_t index) {
    if (!(z <= least_logit_) && !(z > most_logit_)) offer(key_of(z, index));
  }
  __device__ __forceinline__ void offer(Key key) {
    if (key <= least_ || key >= bound_) return;
    const int place = atomicAdd(count_, 1);
    keys_[place] = key;
    if (place >= room_ - kTile) full_ = true;
  }

  /// By all threads, after kTile entries at most.
  __device__ __forceinline__ void settle() {
    if (Team::any(full_)) cut();
  }

  /// Sorts what is there. The largest are keys()[0] to keys()[count() - 1] then.
  __device__ __forceinline__ void cut() {
    Team::sync();
    const int count = *count_;
    int padded = 32;
    while (padded < count) padded *= 2;
    for (int place = count + Team::rank(); place < padded; place += Team::kThreads)
      keys_[place] = kNoKey;
    sort_keys<Team>(keys_, padded);
    if (count >= wanted_) {
      least_ = keys_[wanted_ - 1];
      least_logit_ = logit_of(least_);
    }
    kept_ = min(count, wanted_);
    if (Team::rank() == 0) *count_ = kept_;
    full_ = false;
    Team::sync();
  }

  __device__ __forceinline__ const Key* keys() const { return keys_; }
  __device__ __forceinline__ int count() const { return kept_; }

 private:
  int wanted_;
  int room_;
  Key bound_;
  float most_logit_;
  Key least_ = kNoKey;       // of `wanted` keys; what is not above it does not count any more
  float least_logit_ = NAN;  // until there are so many: nothing is less than that
  Key* keys_;
  int* count_;
  int kept_ = 0;
  bool full_ = false;
};

}  // namespace fused
