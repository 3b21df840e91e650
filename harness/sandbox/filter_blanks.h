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
/// The upper half of the first address of kept memory. No address of a process has this one.
constexpr std::uint32_t kKeptInFilter = 0x7a5cadd5;

inline void fill_blanks(sock_filter* filter, std::size_t count, std::uint32_t pid,
                        std::uint64_t kept_from) {
  for (std::size_t i = 0; i < count; ++i) {
    if (BPF_CLASS(filter[i].code) != BPF_JMP) continue;
    if (filter[i].k == kOwnPidInFilter) filter[i].k = pid;
    if (filter[i].k == kKeptInFilter) filter[i].k = static_cast<std::uint32_t>(kept_from >> 32);
  }
}

}  // namespace gauntlet
