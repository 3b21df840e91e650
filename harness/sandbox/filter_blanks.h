// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <linux/filter.h>

namespace gauntlet {

/// What a worker's system-call filter cannot know when it is made, before the process exists. Each
/// stands for 32 bits that the worker fills in.
///
/// The worker's own process id. No process has this one (Linux ends at 2^22).
constexpr std::uint32_t kOwnPidInFilter = 0x7a5c0de5;
/// The upper halves of the addresses where kept memory begins and where those of its pages end that
/// may be opened for writing. No address of a process has these.
constexpr std::uint32_t kKeptInFilter = 0x7a5cadd5;
constexpr std::uint32_t kReadOnlyInFilter = 0x7a5cadd6;

/// Both are multiples of 4 GiB.
struct KeptRange {
  std::uint64_t from;
  std::uint64_t read_only_from;
};

inline void fill_blanks(sock_filter* filter, std::size_t count, std::uint32_t pid,
                        const KeptRange& kept) {
  for (std::size_t i = 0; i < count; ++i) {
    if (BPF_CLASS(filter[i].code) != BPF_JMP) continue;
    if (filter[i].k == kOwnPidInFilter) filter[i].k = pid;
    if (filter[i].k == kKeptInFilter) filter[i].k = static_cast<std::uint32_t>(kept.from >> 32);
    if (filter[i].k == kReadOnlyInFilter)
      filter[i].k = static_cast<std::uint32_t>(kept.read_only_from >> 32);
  }
}

}  // namespace gauntlet
