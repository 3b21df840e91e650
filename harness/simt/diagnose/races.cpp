// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/diagnose/races.h"

#include <algorithm>

namespace gauntlet::simt {
namespace {

constexpr std::uint64_t kPageUnits = 1024;
// Of one block at one address, where each of its warps may have some; later ones are forgotten.
constexpr std::size_t kMostReleases = 64;

}  // namespace

void SharedRaces::start() {
  std::fill(cells_.begin(), cells_.end(), RaceCell{});
}

std::optional<AccessEvent> SharedRaces::note(const BlockClocks& clocks, std::uint32_t thread,
                                             std::size_t at, std::size_t bytes, AccessKind kind) {
  const AccessEvent now{
      0, 0, clocks.now(thread / kLanes), static_cast<std::uint16_t>(thread), kind.strong, false};
  std::optional<AccessEvent> racing;
  for (std::size_t n = at / granule_; n <= (at + bytes - 1) / granule_; ++n)
    if (auto other = cells_[n].note(
            now, kind, [&](const AccessEvent& event) { return clocks.ordered(event, thread); }))
      racing = other;
  return racing;
}

/// Null once the memory for cells is spent.
RaceCell* GlobalRaces::cell_at(std::uint64_t unit) {
  const std::uint64_t page = unit / kPageUnits;
  if (page != last_page_) {
    auto found = pages_.find(page);
    if (found == pages_.end()) {
      bytes_ += kPageUnits * sizeof(RaceCell);
      if (bytes_ > most_bytes_) {
        bytes_ -= kPageUnits * sizeof(RaceCell);
        complete_ = false;
        return nullptr;
      }
      found = pages_.emplace(page, std::vector<RaceCell>(kPageUnits)).first;
    }
    last_page_ = page;
    last_cells_ = &found->second;
  }
  return &(*last_cells_)[unit % kPageUnits];
}

bool GlobalRaces::handed_over(const AccessEvent& event, const Handovers& handovers) const {
  return std::any_of(handovers.acquired.begin(), handovers.acquired.end(), [&](const auto& seen) {
    const auto there = releases_.find(seen.first);
    if (there == releases_.end()) return false;
    const auto by_block = there->second.find(event.block);
    if (by_block == there->second.end()) return false;
    return std::any_of(by_block->second.begin(), by_block->second.end(), [&](const Release& made) {
      return made.hands_over(event) && made.at <= seen.second;
    });
  });
}

std::optional<AccessEvent> GlobalRaces::note(const Accessor& by, std::uint64_t address,
                                             std::size_t bytes, AccessKind kind) {
  const AccessEvent now{by.block,
                        static_cast<std::uint32_t>(time_),
                        by.clocks.now(by.thread / kLanes),
                        static_cast<std::uint16_t>(by.thread),
                        kind.strong,
                        false};
  std::optional<AccessEvent> racing;
  for (std::uint64_t n = address / granule_; n <= (address + bytes - 1) / granule_; ++n) {
    RaceCell* const cell = cell_at(n);
    if (cell == nullptr) continue;
    if (auto other = cell->note(now, kind, [&](const AccessEvent& event) {
          return event.block == by.block ? by.clocks.ordered(event, by.thread)
                                         : handed_over(event, by.handovers);
        }))
      racing = other;
  }
  return racing;
}

void GlobalRaces::release(const Accessor& by, std::uint64_t address) {
  if (by.handovers.fenced_at == 0) return;
  std::vector<Release>& made = releases_[address][by.block];
  const std::uint32_t warp = by.thread / kLanes, lane = 1u << by.thread % kLanes;
  const Release now{by.handovers.fenced_at, ++time_, warp, lane, by.clocks.seen_by(by.thread)};
  if (!made.empty() && made.back().covers == now.covers && made.back().warp == warp &&
      made.back().seen == now.seen) {
    made.back().lanes |= lane;
    return;
  }
  if (made.size() < kMostReleases) made.push_back(now);
}

void GlobalRaces::acquire(const Accessor& by, std::uint64_t address) {
  if (releases_.contains(address)) by.handovers.acquired[address] = time_;
}

}  // namespace gauntlet::simt
