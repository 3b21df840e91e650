// SPDX-License-Identifier: Apache-2.0
#include "harness/device/process/buffers.h"

#include <algorithm>
#include <array>

namespace gauntlet::device_process {

const char* name_of(Role role) {
  static constexpr std::array<const char*, 4> kNames{"input", "output", "scratch", "variable"};
  return kNames.at(static_cast<std::size_t>(role));
}

void Buffers::begin_call() {
  for (auto& [address, buffer] : all_) buffer.copied_in = buffer.copied_out = 0;
  scratch_peak_ = scratch_bytes_;
}

Buffer* Buffers::holding(std::uint64_t address, std::uint64_t bytes) {
  const auto after = all_.upper_bound(address);
  if (after == all_.begin()) return nullptr;
  Buffer& found = std::prev(after)->second;
  const std::uint64_t at = address - found.address;
  return at <= found.bytes && bytes <= found.bytes - at ? &found : nullptr;
}

Buffer* Buffers::at(std::uint64_t address) {
  const auto found = all_.find(address);
  return found == all_.end() ? nullptr : &found->second;
}

void Buffers::add(Buffer buffer) {
  bytes_ += buffer.bytes;
  if (buffer.role == Role::scratch) scratch_bytes_ += buffer.bytes;
  scratch_peak_ = std::max(scratch_peak_, scratch_bytes_);
  all_[buffer.address] = std::move(buffer);
}

void Buffers::remove(std::uint64_t address) {
  const auto found = all_.find(address);
  if (found == all_.end()) return;
  bytes_ -= found->second.bytes;
  if (found->second.role == Role::scratch) scratch_bytes_ -= found->second.bytes;
  all_.erase(found);
}

}  // namespace gauntlet::device_process
