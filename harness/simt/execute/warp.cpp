// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/execute/warp.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

#include "harness/simt/execute/grid.h"

namespace gauntlet::simt {
namespace {

// Lanes that went apart run lowest block first, and whoever waits for a lane in a higher block
// would wait for ever: after so many turns of a loop the highest block gets a few steps.
constexpr std::uint32_t kPatience = 512;
constexpr std::uint32_t kFavour = 64;

}  // namespace

void Warp::start(std::byte* registers, std::uint32_t live) {
  slots = registers;
  live_ = live;
  splits_.clear();
  splits_.push_back({0, live, Split::State::ready, 0, false});
  turns_back_ = favoured_ = 0;
}

void Warp::release() {
  for (Split& split : splits_) split.state = Split::State::ready;
  merge();
}

/// The ready split at the lowest block; at the highest while it is favoured.
Split* Warp::choose() {
  Split* best = nullptr;
  for (Split& split : splits_) {
    if (split.state != Split::State::ready) continue;
    const bool before = best == nullptr || (favoured_ > 0) != (split.block < best->block);
    if (before) best = &split;
  }
  if (favoured_ > 0) --favoured_;
  return best;
}

/// Whether all lanes that its member masks name, and that have not ended, are here.
bool Warp::has_converged(const Split& split, const Block& block) const {
  if (split.mask == live_ || split.forced) return true;
  const Instr& instr = grid_.kernel.code[block.first];
  const std::uint32_t* const members = slot<std::uint32_t>(instr.slots[instr.immediate]);
  std::uint32_t wanted = 0;
  for (std::uint32_t left = split.mask; left != 0; left &= left - 1)
    wanted |= members[std::countr_zero(left)];
  return (wanted & live_ & ~split.mask) == 0;
}

/// All lanes wait and some of them for others that will not come.
void Warp::force_one() {
  Split* lowest = nullptr;
  for (Split& split : splits_)
    if (split.state == Split::State::converging &&
        (lowest == nullptr || split.block < lowest->block))
      lowest = &split;
  if (lowest == nullptr) return;
  const Instr& instr = grid_.kernel.code[grid_.kernel.blocks[lowest->block].first];
  const std::uint32_t mask = lowest->mask;
  grid_.fault(*this, instr, Fault::absent_lane, std::uint32_t(std::countr_zero(mask)), 1, [&] {
    const auto lane = std::size_t(std::countr_zero(mask));
    return fmt::format("member mask {:#010x}, and of its lanes only {:#010x} are here",
                       slot<std::uint32_t>(instr.slots[instr.immediate])[lane], mask);
  });
  lowest->state = Split::State::ready;
  lowest->forced = true;
}

Warp::Pause Warp::run(std::uint32_t quantum) {
  while (!splits_.empty()) {
    if (grid_.is_stopped()) return Pause::stopped;
    if (quantum-- == 0) return Pause::quantum;
    std::uint32_t at = 0;
    if (splits_.size() > 1 || splits_[0].state != Split::State::ready) {
      Split* const chosen = choose();
      if (chosen == nullptr) {
        force_one();
        if (choose() == nullptr) return Pause::barrier;
        continue;
      }
      at = static_cast<std::uint32_t>(chosen - splits_.data());
    }
    if (!step(at)) return Pause::stopped;
  }
  return grid_.is_stopped() ? Pause::stopped : Pause::finished;
}

/// Runs one block of code for one split. False when the grid was stopped.
bool Warp::step(std::uint32_t at) {
  Split& split = splits_[at];
  const Kernel& kernel = grid_.kernel;
  const Block& block = kernel.blocks[split.block];
  const std::uint32_t mask = split.mask;
  if (block.converges && !has_converged(split, block)) {
    split.state = Split::State::converging;
    return true;
  }
  split.forced = false;
  if (grid_.budget < block.counted) {
    grid_.stop(Status::timed_out, block.first,
               fmt::format("more than {} instructions of warps", grid_.options.budget));
    return false;
  }
  grid_.budget -= block.counted;
  Grid::BlockCount& count = grid_.counts[split.block];
  ++count.runs;
  count.lanes += lane_count(mask);

  const Instr* const end = kernel.code.data() + block.last;
  for (const Instr* instr = kernel.code.data() + block.first; instr != end; ++instr) {
    const std::uint32_t active = mask & (*slot<std::uint32_t>(instr->guard) ^ instr->guard_flip);
    if (active != 0) instr->run(*this, *instr, active);
  }
  if (grid_.is_stopped()) return false;

  switch (block.end) {
    case Block::End::next:
      move_to(at, block.next);
      break;
    case Block::End::jump:
      move_to(at, block.target);
      break;
    case Block::End::branch:
      branch(at, block);
      break;
    case Block::End::table:
      jump_by_table(at, block);
      break;
    case Block::End::leave:
      leave(at, block);
      break;
    case Block::End::barrier:
      split.state = Split::State::at_barrier;
      split.barrier = block.closing;
      split.block = block.next;
      break;
    case Block::End::trap: {
      const Instr& instr = kernel.code[block.closing];
      const std::uint32_t active = mask & (*slot<std::uint32_t>(instr.guard) ^ instr.guard_flip);
      if (active == 0) {
        move_to(at, block.next);
        break;
      }
      instr.run(*this, instr, active);
      return false;
    }
  }
  return true;
}

void Warp::move_to(std::uint32_t at, std::uint32_t target) {
  if (target <= splits_[at].block && splits_.size() > 1 && ++turns_back_ >= kPatience) {
    turns_back_ = 0;
    favoured_ = kFavour;
  }
  splits_[at].block = target;
  if (splits_.size() > 1) merge();
}

void Warp::branch(std::uint32_t at, const Block& block) {
  const Instr& instr = grid_.kernel.code[block.closing];
  const std::uint32_t mask = splits_[at].mask;
  const std::uint32_t taken = mask & (*slot<std::uint32_t>(instr.guard) ^ instr.guard_flip);
  ++grid_.counters.branches;
  if (taken == 0) return move_to(at, block.next);
  if (taken == mask) return move_to(at, block.target);
  ++grid_.counters.divergent_branches;
  splits_[at].mask = taken;
  splits_.push_back({block.next, mask & ~taken, Split::State::ready, 0, false});
  move_to(at, block.target);
}

void Warp::jump_by_table(std::uint32_t at, const Block& block) {
  const Instr& instr = grid_.kernel.code[block.closing];
  const std::vector<std::uint32_t>& table = grid_.kernel.tables[std::size_t(instr.immediate)];
  const std::uint32_t* const index = slot<std::uint32_t>(instr.slots[0]);
  const std::uint32_t mask = splits_[at].mask;
  ++grid_.counters.branches;
  std::uint32_t left = mask;
  bool first = true;
  while (left != 0) {
    const std::uint32_t chosen = index[std::countr_zero(left)];
    std::uint32_t same = 0;
    for (std::uint32_t rest = left; rest != 0; rest &= rest - 1)
      same |= index[std::countr_zero(rest)] == chosen ? rest & (0 - rest) : 0;
    left &= ~same;
    if (chosen >= table.size()) {
      grid_.stop(Status::trapped, block.closing, "a jump table has no such entry");
      return;
    }
    if (first && left != 0) ++grid_.counters.divergent_branches;
    if (first) splits_[at].mask = same;
    if (!first) splits_.push_back({table[chosen], same, Split::State::ready, 0, false});
    if (first) splits_[at].block = table[chosen];
    first = false;
  }
  merge();
}

void Warp::leave(std::uint32_t at, const Block& block) {
  const Instr& instr = grid_.kernel.code[block.closing];
  const std::uint32_t gone =
      splits_[at].mask & (*slot<std::uint32_t>(instr.guard) ^ instr.guard_flip);
  live_ &= ~gone;
  splits_[at].mask &= ~gone;
  // Lanes that wait for those that have gone need wait no longer.
  for (Split& split : splits_)
    if (split.state == Split::State::converging) split.state = Split::State::ready;
  if (splits_[at].mask != 0) return move_to(at, block.next);
  splits_.erase(splits_.begin() + at);
}

/// Lanes at the same block run together again.
void Warp::merge() {
  for (std::size_t a = 0; a < splits_.size(); ++a)
    for (std::size_t b = a + 1; b < splits_.size();) {
      const bool at_barrier = splits_[a].state == Split::State::at_barrier ||
                              splits_[b].state == Split::State::at_barrier;
      if (splits_[a].block != splits_[b].block || at_barrier) {
        ++b;
        continue;
      }
      splits_[a].mask |= splits_[b].mask;
      splits_[a].state = Split::State::ready;
      splits_.erase(splits_.begin() + std::ptrdiff_t(b));
    }
}

}  // namespace gauntlet::simt
