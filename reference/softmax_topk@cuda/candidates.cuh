// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "keys.cuh"

namespace fused {

/// Into descending order; `count` is a power of two. A bitonic sort by all threads of the team.
template <class Team>
__device__ void sort_keys(Key* keys, int count) {
  for (int run = 2; run <= count; run *= 2)
    for (int gap = run / 2; gap > 0; gap /= 2) {
      Team::sync();
      for (int pair = Team::rank(); pair < count / 2; pair += Team::kThreads) {
        const int low = (pair & ~(gap - 1)) * 2 + (pair & (gap - 1));
        const Key first = keys[low], second = keys[low + gap];
        const bool descends = (low & run) == 0;
        if ((first < second) != descends) continue;
        keys[low] = second;
        keys[low + gap] = first;
      }
    }
  Team::sync();
}

/// The `wanted` largest of the keys that a team is offered, all of them below `bound`. They wait in
/// shared memory, unordered, until it is full: then it is sorted, and what is not among the best so
/// far is dropped, and with it everything like it that comes later. In which order keys come there
/// changes nothing.
template <class Team>
class Candidates {
 public:
  /// Entries that a team offers between two calls of settle().
  static constexpr int kTile = 4 * Team::kThreads;

  /// How many keys there has to be room for.
  __host__ __device__ static int capacity(int wanted) {
    int room = 2 * kTile;
    while (room < wanted + kTile) room *= 2;
    return room;
  }
  static std::size_t shared_bytes(int wanted) {
    return Team::kTeams * (capacity(wanted) * sizeof(Key) + sizeof(Key));
  }

  __device__ Candidates(Key* shared, int wanted, Key bound)
      : wanted_(wanted), room_(capacity(wanted)), bound_(bound) {
    keys_ = shared + Team::number() * (room_ + 1);
    count_ = reinterpret_cast<int*>(keys_ + room_);
    Team::sync();
    if (Team::rank() == 0) *count_ = 0;
    Team::sync();
  }

  __device__ void offer(Key key) {
    if (key <= least_ || key >= bound_) return;
    const int place = atomicAdd(count_, 1);
    keys_[place] = key;
    if (place >= room_ - kTile) full_ = true;
  }

  /// By all threads, after kTile entries at most.
  __device__ void settle() {
    if (Team::any(full_)) cut();
  }

  /// Sorts what is there. The largest are keys()[0] to keys()[count() - 1] then.
  __device__ void cut() {
    Team::sync();
    const int count = *count_;
    int padded = 2;
    while (padded < count) padded *= 2;
    for (int place = count + Team::rank(); place < padded; place += Team::kThreads)
      keys_[place] = kNoKey;
    sort_keys<Team>(keys_, padded);
    if (count >= wanted_) least_ = keys_[wanted_ - 1];
    kept_ = min(count, wanted_);
    if (Team::rank() == 0) *count_ = kept_;
    full_ = false;
    Team::sync();
  }

  __device__ const Key* keys() const { return keys_; }
  __device__ int count() const { return kept_; }

 private:
  int wanted_;
  int room_;
  Key bound_;
  Key least_ = kNoKey;  // of `wanted` keys; what is not above it does not count any more
  Key* keys_;
  int* count_;
  int kept_ = 0;
  bool full_ = false;
};

}  // namespace fused
