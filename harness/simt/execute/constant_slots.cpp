// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/execute/constant_slots.h"

#include <cstring>

namespace gauntlet::simt {
namespace {

enum class Differs : std::uint8_t { never, by_thread, by_block };

Differs differs(const Constant& constant) {
  if (constant.from != Constant::From::special) return Differs::never;
  switch (static_cast<Special>(constant.value)) {
    case Special::tid_x:
    case Special::tid_y:
    case Special::tid_z:
    case Special::warpid:
      return Differs::by_thread;
    case Special::ctaid_x:
    case Special::ctaid_y:
    case Special::ctaid_z:
      return Differs::by_block;
    default:
      return Differs::never;
  }
}

template <class T, class Value>
void write_lanes(std::byte* slot, const Value& value_of) {
  T lanes[kLanes];
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) lanes[lane] = static_cast<T>(value_of(lane));
  std::memcpy(slot, lanes, sizeof lanes);
}

template <class Value>
void write(std::byte* slots, const Constant& constant, const Value& value_of) {
  std::byte* const slot = slots + constant.slot;
  switch (constant.bytes) {
    case 0: {  // a predicate, which is one mask
      const auto bits = static_cast<std::uint32_t>(constant.value);
      std::memcpy(slot, &bits, sizeof bits);
      break;
    }
    case 2:
      write_lanes<std::uint16_t>(slot, value_of);
      break;
    case 4:
      write_lanes<std::uint32_t>(slot, value_of);
      break;
    default:
      write_lanes<std::uint64_t>(slot, value_of);
      break;
  }
}

}  // namespace

Index3 thread_index(const LaunchShape& shape, std::uint32_t thread) {
  const Index3& size = shape.block;
  return {thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]};
}

ConstantSlots::ConstantSlots(const Kernel& kernel, const LaunchShape& shape,
                             const DeviceMemory& memory)
    : shape_(shape),
      memory_(memory),
      static_shared_(kernel.static_shared),
      common_(kernel.constant_bytes) {
  for (const Constant& constant : kernel.constants) {
    if (differs(constant) == Differs::by_thread) of_threads_.push_back(constant);
    if (differs(constant) == Differs::by_block) of_blocks_.push_back(constant);
    if (differs(constant) == Differs::never)
      write(common_.data(), constant,
            [&](std::uint32_t lane) { return of_launch(constant, lane); });
  }
}

void ConstantSlots::begin_warp(std::byte* slots, std::uint32_t warp) const {
  std::memcpy(slots, common_.data(), common_.size());
  for (const Constant& constant : of_threads_)
    write(slots, constant, [&](std::uint32_t lane) {
      return of_thread(static_cast<Special>(constant.value), warp * kLanes + lane);
    });
}

void ConstantSlots::begin_block(std::byte* slots, const Index3& block) const {
  for (const Constant& constant : of_blocks_) {
    const auto which = static_cast<Special>(constant.value);
    const std::uint32_t at = block[which == Special::ctaid_x   ? 0
                                   : which == Special::ctaid_y ? 1
                                                               : 2];
    write(slots, constant, [&](std::uint32_t) { return at; });
  }
}

std::uint64_t ConstantSlots::of_thread(Special which, std::uint32_t thread) const {
  if (which == Special::warpid) return thread / kLanes;
  const Index3 at = thread_index(shape_, thread);
  return at[which == Special::tid_x ? 0 : which == Special::tid_y ? 1 : 2];
}

std::uint64_t ConstantSlots::of_launch(const Constant& constant, std::uint32_t lane) const {
  if (constant.from == Constant::From::variable)
    return memory_.address_of(static_cast<std::size_t>(constant.value));
  if (constant.from != Constant::From::special) return constant.value;
  const Index3& block = shape_.block;
  switch (static_cast<Special>(constant.value)) {
    case Special::ntid_x:
      return block[0];
    case Special::ntid_y:
      return block[1];
    case Special::ntid_z:
      return block[2];
    case Special::nctaid_x:
      return shape_.grid[0];
    case Special::nctaid_y:
      return shape_.grid[1];
    case Special::nctaid_z:
      return shape_.grid[2];
    case Special::laneid:
      return lane;
    case Special::nwarpid:
      return (block[0] * block[1] * block[2] + kLanes - 1) / kLanes;
    case Special::nsmid:
      return 1;
    case Special::lanemask_eq:
      return 1u << lane;
    case Special::lanemask_lt:
      return (1u << lane) - 1;
    case Special::lanemask_le:
      return (2u << lane) - 1;
    case Special::lanemask_gt:
      return ~((2u << lane) - 1);
    case Special::lanemask_ge:
      return ~((1u << lane) - 1);
    case Special::dynamic_shared:
      return shape_.dynamic_shared;
    case Special::total_shared:
      return std::uint64_t(static_shared_) + shape_.dynamic_shared;
    default:
      return 0;
  }
}

}  // namespace gauntlet::simt
