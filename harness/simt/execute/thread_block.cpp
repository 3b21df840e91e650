// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/execute/thread_block.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <numeric>

#include "harness/simt/execute/grid.h"

namespace gauntlet::simt {
namespace {

constexpr std::uint32_t kQuantum = 4096;  // steps of a warp before others have their turn
constexpr std::uint32_t kShuffledQuantum = 64;
// A block's turn, before other blocks have theirs: so many instructions of each warp, which is a
// long time for one that polls a flag of a later block, while one that goes from barrier to barrier
// mostly ends in it; when blocks are shuffled, so many turns of all warps.
constexpr std::uint64_t kTurn = std::uint64_t{32} * kQuantum;
constexpr std::uint32_t kMostRounds = 4096;
constexpr std::uint32_t kShuffledRounds = 32;

std::uint32_t lanes_of(std::uint32_t threads, std::uint32_t warp) {
  const std::uint32_t left = threads - warp * kLanes;
  return left >= kLanes ? kAllLanes : (1u << left) - 1;
}

}  // namespace

ThreadBlock::ThreadBlock(Grid& grid)
    : grid_(grid),
      registers_(std::size_t(grid.kernel.frame_bytes) * grid.warps),
      shared_(std::size_t(grid.kernel.static_shared) + grid.shape.dynamic_shared),
      local_(std::size_t(grid.kernel.local_bytes) * grid.threads),
      local_bytes_(grid.kernel.local_bytes),
      races_(grid.options.check_races ? shared_.size() : 0, grid.kernel.shared_granule),
      clocks_(grid.warps) {
  for (std::uint32_t n = 0; n < grid.warps; ++n) {
    warps_.emplace_back(*this, grid, n);
    grid.constants.begin_warp(slots_of(n), n);
  }
  pauses_.resize(grid.warps);
  order_.resize(grid.warps);
  std::iota(order_.begin(), order_.end(), 0u);
}

std::byte* ThreadBlock::slots_of(std::uint32_t warp) {
  return registers_.data() + std::size_t(grid_.kernel.frame_bytes) * warp;
}

Index3 ThreadBlock::thread_index(std::uint32_t thread) const {
  return simt::thread_index(grid_.shape, thread);
}

void ThreadBlock::start(std::uint32_t number) {
  number_ = number;
  const Index3& size = grid_.shape.grid;
  index_ = {number % size[0], number / size[0] % size[1], number / size[0] / size[1]};
  // Shared memory holds what the block before left there, as on a GPU; a read of it is reported.
  if (grid_.options.check_undefined) defined_.forget(shared_.size());
  races_.start();
  clocks_.start();
  handovers_ = {};
  barriers_ = {};
  open_ = 0;
  for (Warp& warp : warps_) {
    std::byte* const slots = slots_of(warp.number());
    grid_.constants.begin_block(slots, index_);
    warp.start(slots, lanes_of(grid_.threads, warp.number()));
    pauses_[warp.number()] = Warp::Pause::quantum;
  }
  if (grid_.options.schedule_seed) grid_.rng.shuffle(order_);
  ++grid_.counters.blocks;
  grid_.counters.warps += warps_.size();
}

ThreadBlock::Pause ThreadBlock::run() {
  const std::uint64_t turn = std::min(grid_.budget, kTurn * warps_.size());
  const std::uint64_t turn_ends_at = grid_.budget - turn;
  const bool is_shuffled = grid_.options.schedule_seed.has_value();
  const std::uint32_t rounds = is_shuffled ? kShuffledRounds : kMostRounds;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    if (round > 0 && grid_.budget <= turn_ends_at) break;
    bool some_ran = false;
    for (const std::uint32_t n : order_) {
      if (pauses_[n] != Warp::Pause::quantum) continue;
      const std::uint32_t quantum = is_shuffled ? 1 + grid_.rng.below(kShuffledQuantum) : kQuantum;
      pauses_[n] = warps_[n].run(quantum);
      some_ran = true;
      if (pauses_[n] == Warp::Pause::stopped) return Pause::stopped;
      if (pauses_[n] == Warp::Pause::barrier) reach(warps_[n]);
    }
    const bool some_go_on = complete();
    if (some_ran || some_go_on) continue;
    if (std::all_of(pauses_.begin(), pauses_.end(),
                    [](Warp::Pause pause) { return pause == Warp::Pause::finished; }))
      return Pause::finished;
    report_stuck();
    return Pause::stopped;
  }
  return Pause::waiting;
}

/// All threads of a warp wait: it arrives at the barrier of its first split.
void ThreadBlock::reach(Warp& warp) {
  const Split& first = warp.splits().front();
  for (const Split& split : warp.splits())
    if (split.barrier != first.barrier) report_divergence(warp);
  const Instr& instr = grid_.kernel.code[first.barrier];
  const bool has_result = (instr.variant & BarrierVariant::kind) != BarrierVariant::sync;
  const auto lane = std::size_t(std::countr_zero(first.mask));
  const std::uint32_t at = has_result ? 1 : 0;
  const std::uint32_t barrier = warp.slot<std::uint32_t>(instr.slots[at])[lane];
  if (has_result) barriers_[barrier % kBarriers].reduces = true;
  const bool has_threads = (instr.variant & BarrierVariant::has_threads) != 0;
  arrive(warp, barrier, has_threads ? warp.slot<std::uint32_t>(instr.slots[at + 1])[lane] : 0,
         true);
}

void ThreadBlock::arrive(Warp& warp, std::uint32_t barrier, std::uint32_t threads, bool waits) {
  open_ |= 1u << barrier % kBarriers;
  Barrier& at = barriers_[barrier % kBarriers];
  at.arrived |= 1u << warp.number();
  at.threads = threads;
  if (waits) at.waiting |= 1u << warp.number();
  ++grid_.counters.barriers;
}

/// Completes each barrier that everybody has reached; true when warps go on.
bool ThreadBlock::complete() {
  if (open_ == 0) return false;
  std::uint32_t unfinished = 0;
  for (std::uint32_t n = 0; n < pauses_.size(); ++n)
    unfinished |= pauses_[n] == Warp::Pause::finished ? 0 : 1u << n;
  bool some_go_on = false;
  for (std::uint32_t left = open_; left != 0; left &= left - 1) {
    Barrier& barrier = barriers_[std::size_t(std::countr_zero(left))];
    const bool whole =
        barrier.threads == 0
            ? (unfinished & ~barrier.arrived) == 0
            : std::uint32_t(std::popcount(barrier.arrived)) * kLanes >= barrier.threads;
    if (!whole) continue;
    if (barrier.threads == 0) report_meeting(barrier);
    if (barrier.reduces) reduce(barrier);
    if (grid_.options.check_races) clocks_.meet(barrier.arrived);
    for (std::uint32_t n = 0; n < warps_.size(); ++n) {
      if ((barrier.waiting >> n & 1u) == 0) continue;
      warps_[n].release();
      pauses_[n] = Warp::Pause::quantum;
      some_go_on = true;
    }
    barrier = {};
    open_ &= ~(left & (0 - left));
  }
  return some_go_on;
}

/// bar.red: all threads get how many of their predicates were true, or whether all or any were.
void ThreadBlock::reduce(const Barrier& barrier) {
  std::uint32_t yes = 0, asked = 0;
  const auto each = [&](const auto& visit) {
    for (std::uint32_t n = 0; n < warps_.size(); ++n) {
      if ((barrier.waiting >> n & 1u) == 0) continue;
      for (const Split& split : warps_[n].splits()) {
        const Instr& instr = grid_.kernel.code[split.barrier];
        const std::uint32_t kind = instr.variant & BarrierVariant::kind;
        if (kind == BarrierVariant::sync) continue;
        const bool has_threads = (instr.variant & BarrierVariant::has_threads) != 0;
        const std::uint32_t predicate =
            *warps_[n].slot<std::uint32_t>(instr.slots[has_threads ? 3 : 2]);
        visit(warps_[n], instr, kind, split.mask, predicate);
      }
    }
  };
  each([&](Warp&, const Instr&, std::uint32_t, std::uint32_t mask, std::uint32_t predicate) {
    yes += lane_count(mask & predicate);
    asked += lane_count(mask);
  });
  each([&](Warp& warp, const Instr& instr, std::uint32_t kind, std::uint32_t mask, std::uint32_t) {
    auto* const out = warp.slot<std::uint32_t>(instr.slots[0]);
    if (kind != BarrierVariant::count) {
      const bool result = kind == BarrierVariant::all ? yes == asked : yes > 0;
      *out = (*out & ~mask) | (result ? mask : 0);
      return;
    }
    for (std::uint32_t l = 0; l < kLanes; ++l)
      if ((mask >> l & 1u) != 0) out[l] = yes;
  });
}

void ThreadBlock::report_divergence(Warp& warp) {
  const Split& first = warp.splits().front();
  for (const Split& split : warp.splits()) {
    if (split.barrier == first.barrier) continue;
    const auto lane = std::uint32_t(std::countr_zero(split.mask));
    grid_.fault(warp, grid_.kernel.code[first.barrier], Fault::divergent_barrier, lane, 1, [&] {
      return fmt::format("other threads of its warp wait at {}",
                         grid_.program.source_of(grid_.kernel.places[split.barrier]));
    });
    return;
  }
}

/// Warps that meet at a barrier of the whole block have to wait at the same instruction.
void ThreadBlock::report_meeting(const Barrier& barrier) {
  std::uint32_t first = ~0u;
  for (std::uint32_t n = 0; n < warps_.size(); ++n) {
    if ((barrier.waiting >> n & 1u) == 0) continue;
    const Split& split = warps_[n].splits().front();
    if (first == ~0u) first = split.barrier;
    if (split.barrier == first) continue;
    grid_.fault(warps_[n], grid_.kernel.code[split.barrier], Fault::divergent_barrier,
                std::uint32_t(std::countr_zero(split.mask)), 1, [&] {
                  return fmt::format("other warps of its block wait at {}",
                                     grid_.program.source_of(grid_.kernel.places[first]));
                });
  }
}

void ThreadBlock::report_stuck() {
  for (Warp& warp : warps_) {
    if (pauses_[warp.number()] != Warp::Pause::barrier) continue;
    const Split& split = warp.splits().front();
    grid_.fault(warp, grid_.kernel.code[split.barrier], Fault::stuck_barrier,
                std::uint32_t(std::countr_zero(split.mask)), 1,
                [] { return std::string("the other threads that it waits for never come"); });
    return grid_.stop(Status::timed_out, split.barrier, "a barrier never completes");
  }
}

}  // namespace gauntlet::simt
