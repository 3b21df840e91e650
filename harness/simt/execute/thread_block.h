// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "harness/simt/diagnose/races.h"
#include "harness/simt/execute/warp.h"
#include "harness/simt/memory/defined_bytes.h"

namespace gauntlet::simt {

inline constexpr std::uint32_t kBarriers = 16;

/// Threads that share memory and barriers. Reused for one block of the grid after the other.
class ThreadBlock {
 public:
  explicit ThreadBlock(Grid& grid);

  void start(std::uint32_t number);

  enum class Pause : std::uint8_t { finished, waiting, stopped };
  /// Runs its warps in turn until they have ended or only wait.
  Pause run();

  /// A barrier instruction that a warp reaches with `threads` expected, 0 for all of the block.
  void arrive(Warp& warp, std::uint32_t barrier, std::uint32_t threads, bool waits);

  const Index3& index() const { return index_; }
  std::uint32_t number() const { return number_; }
  Index3 thread_index(std::uint32_t thread) const;
  std::vector<std::byte>& shared() { return shared_; }
  DefinedBytes& defined() { return defined_; }
  SharedRaces& races() { return races_; }
  std::byte* local(std::uint32_t thread) {
    return local_.data() + std::size_t(thread) * local_bytes_;
  }
  std::uint32_t local_bytes() const { return local_bytes_; }

  BlockClocks& clocks() { return clocks_; }
  Handovers& handovers() { return handovers_; }

 private:
  struct Barrier {
    std::uint32_t arrived = 0;  // warps
    std::uint32_t threads = 0;  // expected; 0: all that are left
    std::uint32_t waiting = 0;  // warps that go on when it completes
    bool reduces = false;       // some of them get a result
  };

  std::byte* slots_of(std::uint32_t warp);
  void reach(Warp& warp);
  bool complete();
  void reduce(const Barrier& barrier);
  void report_divergence(Warp& warp);
  void report_meeting(const Barrier& barrier);
  void report_stuck();

  Grid& grid_;
  std::uint32_t number_ = 0;
  Index3 index_{};
  std::vector<std::byte> registers_;
  std::vector<std::byte> shared_;
  std::vector<std::byte> local_;
  std::uint32_t local_bytes_ = 0;
  DefinedBytes defined_;
  SharedRaces races_;
  BlockClocks clocks_;
  Handovers handovers_;
  std::deque<Warp> warps_;
  std::vector<Warp::Pause> pauses_;
  std::vector<std::uint32_t> order_;
  std::array<Barrier, kBarriers> barriers_{};
  std::uint32_t open_ = 0;  // bits of the barriers at which warps have arrived
};

}  // namespace gauntlet::simt
