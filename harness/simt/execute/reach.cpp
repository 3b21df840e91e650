// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/execute/reach.h"

#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/simt/memory/address.h"
#include "harness/simt/memory/vector_clones.h"

namespace gauntlet::simt {
namespace {

SIMT_VECTOR_CLONES void wide_addresses(const std::uint64_t* slot, std::uint64_t offset,
                                       std::uint64_t* into) {
  for (std::uint32_t l = 0; l < kLanes; ++l) into[l] = slot[l] + offset;
}
SIMT_VECTOR_CLONES void narrow_addresses(const std::uint32_t* slot, std::uint64_t offset,
                                         std::uint64_t* into) {
  for (std::uint32_t l = 0; l < kLanes; ++l) into[l] = slot[l] + offset;
}

const char* verb(Touch touch) {
  return touch == Touch::read ? "reads" : touch == Touch::write ? "writes" : "updates";
}

std::uint32_t first_lane(std::uint32_t mask) {
  return static_cast<std::uint32_t>(std::countr_zero(mask));
}

}  // namespace

Reaching::Reaching(Warp& warp, const Instr& instr, std::uint32_t mask, std::uint32_t address_slot,
                   Touch touch)
    : warp_(warp),
      grid_(warp.grid()),
      instr_(instr),
      touch_(touch),
      bytes_(instr.memory.lane_bytes()),
      waiting_(mask),
      space_(instr.memory.space) {
  const auto offset = static_cast<std::uint64_t>(instr.immediate);
  if (instr.memory.narrow_address)
    narrow_addresses(warp.slot<std::uint32_t>(address_slot), offset, addresses_.data());
  else
    wide_addresses(warp.slot<std::uint64_t>(address_slot), offset, addresses_.data());
}

/// The lanes of the next space: all of them, unless the address is generic.
bool Reaching::next_space() {
  if (waiting_ == 0) return false;
  left_ = waiting_;
  waiting_ = 0;
  if (instr_.memory.space != ptx::Space::generic) return true;
  space_ = space_of(addresses_[first_lane(left_)]);
  for (std::uint32_t lanes = left_; lanes != 0; lanes &= lanes - 1)
    if (space_of(addresses_[first_lane(lanes)]) != space_) waiting_ |= lanes & (0 - lanes);
  left_ &= ~waiting_;
  const std::uint64_t window = space_ == ptx::Space::shared  ? kSharedWindow
                               : space_ == ptx::Space::local ? kLocalWindow
                                                             : 0;
  if (window != 0)
    for (std::uint32_t lanes = left_; lanes != 0; lanes &= lanes - 1)
      addresses_[first_lane(lanes)] -= window;
  return true;
}

bool Reaching::next(Reach& reach) {
  while (true) {
    if (left_ == 0) {
      if (!next_space()) return false;
      if (all_of(reach)) return true;
    }
    if (left_ != 0 && some_of(reach)) return true;
  }
}

/// All lanes at once, which is what nearly always works.
bool Reaching::all_of(Reach& reach) {
  const bool one_space = instr_.memory.space != ptx::Space::generic || waiting_ == 0;
  Pattern& pattern = one_space ? grid_.pattern_of(instr_) : apart();
  if (!enter(reach, left_, pattern)) return false;
  left_ = 0;
  return true;
}

/// Sets up the reach if its lanes lie in one memory and are aligned.
bool Reaching::enter(Reach& reach, std::uint32_t mask, Pattern& pattern) {
  update(pattern, addresses_, mask, bytes_);
  if (!pattern.orderly || !pattern.aligned) return false;
  const std::uint64_t first = addresses_[first_lane(mask)];
  const std::uint64_t lowest = first + pattern.low;
  const auto fits = [&](std::size_t size) {
    return pattern.span <= size && lowest <= size - pattern.span;
  };
  reach = {space_, mask, nullptr, &pattern, first, nullptr, 0};
  ThreadBlock& block = warp_.block();
  switch (space_) {
    case ptx::Space::shared:
      if (!fits(block.shared().size())) return false;
      reach.first = block.shared().data() + first;
      break;
    case ptx::Space::local:
      if (!fits(block.local_bytes())) return false;
      reach.first = block.local(warp_.thread_number(first_lane(mask))) + first;
      reach.stride = block.local_bytes();
      break;
    case ptx::Space::parameter:
      if (!fits(grid_.parameters.size()) || touch_ != Touch::read) return false;
      reach.first = grid_.parameters.data() + first;
      break;
    default: {
      Region* const region = grid_.memory.find(lowest);
      if (region == nullptr || !region->is_mapped || !region->holds(lowest, pattern.span) ||
          (touch_ != Touch::read && region->access == Access::read_only))
        return false;
      reach.region = region;
      reach.begin = first - region->address;
      reach.first = region->bytes.data() + reach.begin;
      break;
    }
  }
  count(reach, pattern);
  return true;
}

/// Lanes that lie in the memory of the first sound one; those that are not sound are left out.
bool Reaching::some_of(Reach& reach) {
  std::uint32_t chosen = 0;
  Region* region = nullptr;
  for (std::uint32_t lanes = left_; lanes != 0; lanes &= lanes - 1) {
    const std::uint32_t l = first_lane(lanes);
    const bool global = space_ == ptx::Space::global || space_ == ptx::Space::constant;
    Region* const own = global ? grid_.memory.find(addresses_[l]) : nullptr;
    if (chosen != 0 && own != region) continue;
    left_ &= ~(1u << l);
    if (!is_sound(l, own)) continue;
    chosen |= 1u << l;
    region = own;
  }
  return chosen != 0 && enter(reach, chosen, apart());
}

bool Reaching::is_sound(std::uint32_t lane, Region* region) {
  const std::uint64_t at = addresses_[lane];
  std::uint64_t size = 0;
  switch (space_) {
    case ptx::Space::shared:
      size = warp_.block().shared().size();
      break;
    case ptx::Space::local:
      size = warp_.block().local_bytes();
      break;
    case ptx::Space::parameter:
      size = grid_.parameters.size();
      break;
    default:
      break;
  }
  const bool global = space_ == ptx::Space::global || space_ == ptx::Space::constant;
  const bool inside = global ? region != nullptr && region->holds(at, bytes_)
                             : bytes_ <= size && at <= size - bytes_;
  if (!inside) {
    report(Fault::out_of_bounds, lane, region);
    return false;
  }
  if (at % bytes_ != 0) {
    report(Fault::misaligned, lane, region);
    return false;
  }
  if (global && !region->is_mapped) {
    report(Fault::freed, lane, region);
    return false;
  }
  if (touch_ != Touch::read && global && region->access == Access::read_only) {
    report(Fault::read_only, lane, region);
    return false;
  }
  return true;
}

void Reaching::report(Fault fault, std::uint32_t lane, const Region* region) {
  grid_.fault(warp_, instr_, fault, lane, 1, [&] {
    const std::uint64_t at = addresses_[lane];
    const char* const doing = verb(touch_);
    if (space_ == ptx::Space::shared)
      return fmt::format("{} {} bytes at offset {} of shared memory, of which there are {}", doing,
                         bytes_, static_cast<std::int64_t>(at), warp_.block().shared().size());
    if (space_ == ptx::Space::local)
      return fmt::format("{} {} bytes at offset {} of local memory, of which there are {}", doing,
                         bytes_, static_cast<std::int64_t>(at), warp_.block().local_bytes());
    if (region == nullptr || at - region->address > (1ull << 40))
      return fmt::format("{} {} bytes at {:#x}, which is no device memory", doing, bytes_, at);
    return fmt::format("{} {} bytes at offset {} of '{}', which has {}", doing, bytes_,
                       at - region->address, one_line(region->name, 100), region->bytes.size());
  });
}

void Reaching::count(const Reach& reach, Pattern& pattern) {
  const std::uint64_t bytes = std::uint64_t(lane_count(reach.mask)) * bytes_;
  if (reach.region != nullptr) {
    BufferTraffic& all = reach.region->traffic;
    Traffic& traffic = touch_ == Touch::read    ? all.read
                       : touch_ == Touch::write ? all.written
                                                : all.atomic;
    traffic += {1, bytes, grid_.options.count_sectors ? sectors_of(pattern, bytes_) : 0};
  } else if (space_ == ptx::Space::shared) {
    SharedTraffic& traffic = touch_ == Touch::read    ? grid_.counters.shared_loads
                             : touch_ == Touch::write ? grid_.counters.shared_stores
                                                      : grid_.counters.shared_atomics;
    ++traffic.requests;
    traffic.bytes += bytes;
    if (!grid_.options.count_sectors) return;
    const Passes passes = passes_of(pattern, bytes_);
    traffic.wavefronts += passes.taken;
    traffic.least_wavefronts += passes.least;
  } else if (space_ == ptx::Space::local) {
    (touch_ == Touch::read ? grid_.counters.local_loads : grid_.counters.local_stores) +=
        {1, bytes, 0};
  }
}

}  // namespace gauntlet::simt
