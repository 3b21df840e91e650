// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <sys/types.h>

namespace gauntlet {

/// What a sibling does. It must not return, and calls async-signal-safe functions only.
struct SiblingBody {
  void (*run)(void* argument);
  void* argument;
};

enum class Caller { goes_on, waits };  // until the sibling executes a program, or ends

/// Starts a child of the caller's parent, so that the caller can go, in the caller's memory: to
/// copy the page tables of a process of 100 MB, and to drop them, takes milliseconds. `stack`, 16
/// KiB or more, has to stay as long as the sibling is in that memory. With a `number` it has that
/// one in its process namespace, where the kernel lets us choose. Where there is no code of ours
/// for the processor, the sibling gets a copy of the memory. Async-signal-safe. Its process number,
/// or -errno.
pid_t start_sibling(const SiblingBody& body, std::span<std::byte> stack, Caller caller,
                    pid_t number = 0);

}  // namespace gauntlet
