// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "harness/simt/decode/program.h"
#include "harness/simt/diagnose/diagnostics.h"

namespace gauntlet::simt {

class ThreadBlock;
class Grid;

/// Lanes of a warp that run together, and where they are.
struct Split {
  enum class State : std::uint8_t { ready, converging, at_barrier };

  std::uint32_t block = 0;  // of code: the next one to run
  std::uint32_t mask = 0;
  State state = State::ready;
  std::uint32_t barrier = 0;  // the instruction that it waits at
  bool forced = false;        // goes on though lanes that it waits for do not come
};

/// 32 threads that execute together where their control flow is the same.
class Warp : public Frame {
 public:
  Warp(ThreadBlock& block, Grid& grid, std::uint32_t number)
      : block_(block), grid_(grid), number_(number) {}

  enum class Pause : std::uint8_t {
    finished,
    barrier,  // all its threads wait at barriers
    quantum,  // ran as long as it may at once
    stopped,  // the grid was stopped: budget, trap
  };

  /// Threads of `live` begin at the first instruction, with registers in `slots`.
  void start(std::byte* slots, std::uint32_t live);
  Pause run(std::uint32_t quantum);
  /// Threads that wait at barriers go on.
  void release();

  std::uint32_t number() const { return number_; }
  std::uint32_t live() const { return live_; }
  const std::vector<Split>& splits() const { return splits_; }
  ThreadBlock& block() { return block_; }
  Grid& grid() { return grid_; }

  std::uint32_t thread_number(std::uint32_t lane) const { return number_ * kLanes + lane; }

  template <class T>
  T* slot(std::uint32_t offset) const {
    return reinterpret_cast<T*>(slots + offset);
  }

 private:
  Split* choose();
  bool has_converged(const Split& split, const Block& block) const;
  void force_one();
  bool step(std::uint32_t at);
  void branch(std::uint32_t at, const Block& block);
  void jump_by_table(std::uint32_t at, const Block& block);
  void leave(std::uint32_t at, const Block& block);
  void move_to(std::uint32_t at, std::uint32_t target);
  void merge();

  ThreadBlock& block_;
  Grid& grid_;
  const std::uint32_t number_;
  std::uint32_t live_ = 0;
  std::vector<Split> splits_;     // disjoint masks
  std::uint32_t turns_back_ = 0;  // branches to earlier blocks while lanes are apart
  std::uint32_t favoured_ = 0;    // steps that the hindmost lanes still get
};

}  // namespace gauntlet::simt
