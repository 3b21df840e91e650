// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// What the grader and the device process say to each other, over a socket that nobody else has:
/// requests and replies in turn, each of them JSON and then bytes. A reply to a request that could
/// not be carried out has the field "error"; where the solution has taken the memory that it
/// needs, "over_memory". Either is a sentence. Both sides gather what they have to say until they
/// wait for the other: a call is some thirty frames, and each write wakes somebody up.
namespace gauntlet::device_frame {

struct Head {
  std::uint32_t json_bytes;
  std::uint32_t magic;
  std::uint64_t data_bytes;
};
constexpr std::uint32_t kMagic = 0x67647631;
constexpr std::uint32_t kMostJson = 64u << 20;
constexpr std::size_t kMostGathered = 64u << 10;  // bytes; more than that are sent at once

// Descriptors of the device process when it starts, after the three standard streams.
constexpr int kMailboxFd = 3;
constexpr int kSocketFd = 4;
constexpr int kFilterFd = 5;

}  // namespace gauntlet::device_frame
