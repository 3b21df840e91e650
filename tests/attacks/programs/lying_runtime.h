// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a solution can know of the runtime that it is linked to, whose sources are public: how a
// command to the device looks, and where the mailbox lies.
#include <atomic>
#include <stdint.h>
#include <string.h>

namespace gauntlet {
namespace device_wire {
struct Command {
  uint32_t kind, payload_bytes;
  uint64_t stream, address, other, bytes, first;
  uint32_t grid[3], block[3];
  uint64_t shared;
};
struct Answer {
  uint32_t error, payload_bytes;
  uint64_t first, second;
};
struct Mailbox {
  alignas(64) std::atomic<uint32_t> asked;
  alignas(64) std::atomic<uint32_t> answered;
  alignas(64) std::atomic<uint32_t> gone;
  alignas(64) Command command;
  alignas(64) Answer answer;
  alignas(4096) unsigned char payload[1 << 20];
};
}  // namespace device_wire
namespace cuda_runtime {
struct Payload {
  const void* out;
  size_t out_bytes;
  void* in;
  size_t most_in;
};
device_wire::Answer ask(const device_wire::Command&, const Payload&);
}  // namespace cuda_runtime
}  // namespace gauntlet

using gauntlet::device_wire::Command;
using gauntlet::device_wire::Mailbox;

enum : uint32_t {
  kAllocate = 3,
  kRelease,
  kCopyIn,
  kCopyOut,
  kCopyWithin,
  kFill,
  kLaunch = 12,
  kWaitDevice = 23
};

inline Command of_kind(uint32_t kind) {
  Command made{};
  made.kind = kind;
  return made;
}
inline uint32_t ask(const Command& command) {
  return gauntlet::cuda_runtime::ask(command, {}).error;
}

extern "C" int64_t gauntlet_attach_device(const void* mapped);

// The function that is told the address keeps it where its code says: mov [rip + distance], rdi.
inline Mailbox* find_mailbox() {
  const unsigned char* code = (const unsigned char*)&gauntlet_attach_device;
  for (int n = 0; n < 64; ++n, ++code) {
    if (code[0] != 0x48 || code[1] != 0x89 || code[2] != 0x3d) continue;
    int32_t distance;
    memcpy(&distance, code + 3, sizeof distance);
    return *(Mailbox**)(code + 7 + distance);
  }
  abort();
}

// Puts a command as it is, without the runtime, and lets the device see it.
inline void put(Mailbox* box, const Command& command) {
  memcpy((void*)&box->command, &command, sizeof command);
  const uint32_t number = box->answered.load() + 1;
  box->asked.store(number);
  syscall(SYS_futex, &box->asked, 1 /* FUTEX_WAKE */, 1, nullptr, nullptr, 0);
  for (int n = 0; n < 200 && box->answered.load() != number; ++n) sleep_ms(1);
}
