// SPDX-License-Identifier: Apache-2.0
// What is asked of bytes before they are touched: are they defined, and does anybody race for them.
#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/simt/execute/reach.h"

namespace gauntlet::simt {
namespace {

DefinedBytes* defined_of(Warp& warp, const Reach& reach) {
  DefinedBytes* const known = reach.region != nullptr             ? &reach.region->defined
                              : reach.space == ptx::Space::shared ? &warp.block().defined()
                                                                  : nullptr;
  return known != nullptr && known->tracked() ? known : nullptr;
}

std::string name_of_memory(const Reach& reach) {
  return reach.region == nullptr ? "shared memory"
                                 : fmt::format("'{}'", one_line(reach.region->name, 100));
}

void check_defined(Warp& warp, const Instr& instr, const Reach& reach) {
  const DefinedBytes* const known = defined_of(warp, reach);
  if (known == nullptr || !warp.grid().options.check_undefined) return;
  const std::uint64_t lowest = reach.begin + reach.pattern->low;
  const std::uint32_t bytes = instr.memory.lane_bytes();
  const bool dense = reach.is_consecutive() || reach.is_uniform();
  if (dense && known->has(lowest, reach.pattern->span)) return;
  std::uint32_t bad = 0;
  for (std::uint32_t lanes = reach.mask; lanes != 0; lanes &= lanes - 1) {
    const auto l = static_cast<std::uint32_t>(std::countr_zero(lanes));
    if (!known->has(reach.offset(l), bytes)) bad |= 1u << l;
  }
  if (bad == 0) return;
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(bad));
  warp.grid().fault(
      warp, instr, Fault::undefined_read, lane, std::uint64_t(std::popcount(bad)), [&] {
        return fmt::format("reads {} bytes at offset {} of {}, which nobody has written", bytes,
                           reach.offset(lane), name_of_memory(reach));
      });
}

/// The bytes of a reach, at once where they lie together.
template <class Visit>
void each_range(const Instr& instr, const Reach& reach, const Visit& visit) {
  if (reach.is_consecutive() || reach.is_uniform())
    return visit(reach.begin + reach.pattern->low, reach.pattern->span);
  for (std::uint32_t lanes = reach.mask; lanes != 0; lanes &= lanes - 1)
    visit(reach.offset(static_cast<std::uint32_t>(std::countr_zero(lanes))),
          std::uint64_t(instr.memory.lane_bytes()));
}

/// What a kernel writes is no more what the host has written.
void take_over(const Instr& instr, const Reach& reach) {
  if (reach.region == nullptr || !reach.region->from_host.tracked()) return;
  each_range(instr, reach, [&](auto at, auto count) { reach.region->from_host.remove(at, count); });
}

bool is_strong(const Instr& instr) {
  return instr.memory.order != MemoryForm::Order::weak;
}

void note_race(Warp& warp, const Instr& instr, const Reach& reach, std::uint32_t lane,
               AccessKind kind) {
  Grid& grid = warp.grid();
  ThreadBlock& block = warp.block();
  const std::uint32_t thread = warp.thread_number(lane);
  const std::uint32_t bytes = instr.memory.lane_bytes();
  const auto other =
      reach.region == nullptr
          ? block.races().note(block.clocks(), thread, reach.offset(lane), bytes, kind)
          : grid.races.note({block.clocks(), block.handovers(), block.number(), thread},
                            reach.region->address + reach.offset(lane), bytes, kind);
  if (!other) return;
  grid.fault(warp, instr, Fault::race, lane, 1, [&] {
    const Index3 whom = block.thread_index(other->thread);
    const bool elsewhere = reach.region != nullptr && other->block != block.number();
    return fmt::format(
        "{} {} bytes at offset {} of {}, and thread ({},{},{}) of {} touched them "
        "with nothing that orders the two",
        kind.writes ? "writes" : "reads", bytes, reach.offset(lane), name_of_memory(reach), whom[0],
        whom[1], whom[2],
        elsewhere ? fmt::format("block number {}", other->block) : "the same block");
  });
}

}  // namespace

bool looks_for_races(Warp& warp, const Reach& reach) {
  if (!warp.grid().options.check_races) return false;
  if (reach.region != nullptr) return reach.region->access != Access::read_only;
  return reach.space == ptx::Space::shared && warp.block().races().enabled();
}

void check_read(Warp& warp, const Instr& instr, const Reach& reach) {
  check_defined(warp, instr, reach);
  if (!looks_for_races(warp, reach)) return;
  const bool strong = is_strong(instr);
  for (std::uint32_t lanes = reach.mask; lanes != 0; lanes &= lanes - 1) {
    const auto l = static_cast<std::uint32_t>(std::countr_zero(lanes));
    if (strong && reach.region != nullptr) {
      ThreadBlock& block = warp.block();
      warp.grid().races.acquire(
          {block.clocks(), block.handovers(), block.number(), warp.thread_number(l)},
          reach.region->address + reach.offset(l));
    }
    note_race(warp, instr, reach, l, {false, strong, true});
  }
}

void check_write(Warp& warp, const Instr& instr, const Reach& reach, std::uint32_t lane,
                 bool changes) {
  const bool strong = is_strong(instr);
  if (strong && reach.region != nullptr) {
    ThreadBlock& block = warp.block();
    warp.grid().races.release(
        {block.clocks(), block.handovers(), block.number(), warp.thread_number(lane)},
        reach.region->address + reach.offset(lane));
  }
  note_race(warp, instr, reach, lane, {true, strong, changes});
}

void check_atomic(Warp& warp, const Instr& instr, const Reach& reach) {
  check_defined(warp, instr, reach);
  take_over(instr, reach);
  if (!looks_for_races(warp, reach)) return;
  for (std::uint32_t lanes = reach.mask; lanes != 0; lanes &= lanes - 1) {
    const auto l = static_cast<std::uint32_t>(std::countr_zero(lanes));
    if (reach.region != nullptr) {
      ThreadBlock& block = warp.block();
      const GlobalRaces::Accessor by{block.clocks(), block.handovers(), block.number(),
                                     warp.thread_number(l)};
      const std::uint64_t address = reach.region->address + reach.offset(l);
      warp.grid().races.release(by, address);
      warp.grid().races.acquire(by, address);
    }
    note_race(warp, instr, reach, l, {true, true, true});
  }
}

void define(Warp& warp, const Instr& instr, const Reach& reach) {
  if (DefinedBytes* const known = defined_of(warp, reach); known != nullptr)
    each_range(instr, reach, [&](auto at, auto count) { known->add(at, count); });
  take_over(instr, reach);
}

}  // namespace gauntlet::simt
