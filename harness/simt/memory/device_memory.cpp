// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/memory/device_memory.h"

#include <algorithm>
#include <new>

#include "harness/simt/memory/address.h"

namespace gauntlet::simt {
namespace {

constexpr std::uint64_t kGap = 1u << 20;  // what runs past a region ends in no other

}  // namespace

std::uint64_t DeviceMemory::map(std::string name, std::span<std::byte> bytes, Access access,
                                Content content, Alignment alignment) {
  const std::uint64_t twice = 2 * alignment.alignment;
  const std::uint64_t even = (std::max(next_, kGlobalBase) + twice - 1) / twice * twice;
  if (alignment.address && *alignment.address < next_) throw std::bad_alloc();
  Region& made = regions_.emplace_back();
  made.name = std::move(name);
  made.address = alignment.address.value_or(even + alignment.alignment + alignment.skew);
  made.bytes = bytes;
  made.access = access;
  if (content == Content::undefined) made.defined.forget(bytes.size());
  next_ = made.address + bytes.size() + kGap;
  return made.address;
}

bool DeviceMemory::unmap(std::uint64_t address) {
  Region* const region = find(address);
  if (region == nullptr || region->address != address || !region->is_mapped) return false;
  region->is_mapped = false;
  return true;
}

void DeviceMemory::load(const Program& program) {
  for (const ptx::Variable& variable : program.module->variables) {
    std::uint64_t address = 0;
    const bool constant = variable.space == ptx::Space::constant;
    if (constant || variable.space == ptx::Space::global) {
      std::vector<std::byte>& bytes = storage_.emplace_back(variable.bytes);
      std::copy(variable.value.begin(), variable.value.end(), bytes.begin());
      address = map(variable.name, bytes, constant ? Access::read_only : Access::read_write);
    }
    variables_.push_back(address);
    variable_names_.push_back(variable.name);
  }
}

std::uint64_t DeviceMemory::address_of(std::string_view variable) const {
  const auto found = std::find(variable_names_.begin(), variable_names_.end(), variable);
  return found == variable_names_.end()
             ? 0
             : variables_[static_cast<std::size_t>(found - variable_names_.begin())];
}

Region* DeviceMemory::find(std::uint64_t address) {
  const auto after = std::upper_bound(
      regions_.begin(), regions_.end(), address,
      [](std::uint64_t wanted, const Region& region) { return wanted < region.address; });
  return after == regions_.begin() ? nullptr : &*std::prev(after);
}

}  // namespace gauntlet::simt
