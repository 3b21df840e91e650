// SPDX-License-Identifier: Apache-2.0
// Not the CUDA runtime: writes into the mailbox what no runtime would. Each function is one lie.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <linux/futex.h>
#include <random>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include "harness/device/wire.h"

namespace {

using namespace gauntlet::device_wire;

Mailbox* box = nullptr;

void wake(Word& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

/// The answer's error; 9999 when none came within 20 s or nobody is there any more.
std::uint32_t ask(const Command& command) {
  std::memcpy(static_cast<void*>(&box->command), &command, sizeof command);
  const std::uint32_t number = box->answered.load() + 1;
  box->asked.store(number);
  wake(box->asked);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (box->answered.load() != number) {
    if (box->gone.load() != 0 || std::chrono::steady_clock::now() > until) return 9999;
    std::this_thread::yield();
  }
  return box->answer.error;
}

Command of(Kind kind) {
  Command made{};
  made.kind = kind;
  return made;
}

std::uint64_t allocate(std::uint64_t bytes) {
  Command command = of(Kind::allocate);
  command.bytes = bytes;
  return ask(command) == 0 ? box->answer.first : 0;
}

std::uint32_t launch_with(std::uint64_t pointer, std::uint32_t grid, std::uint32_t block) {
  Command command = of(Kind::launch);
  command.grid[0] = grid;
  command.block[0] = block;
  command.grid[1] = command.grid[2] = command.block[1] = command.block[2] = 1;
  command.payload_bytes = sizeof pointer;
  std::memcpy(box->payload, &pointer, sizeof pointer);
  return ask(command);
}

}  // namespace

extern "C" {

std::int64_t gauntlet_attach_device(const void* mapped) {
  box = static_cast<Mailbox*>(const_cast<void*>(mapped));
  return 0;
}

/// words: kind, payload_bytes, bytes, other.
std::int64_t one_command(std::uint64_t* words) {
  Command command = of(static_cast<Kind>(words[0]));
  command.payload_bytes = static_cast<std::uint32_t>(words[1]);
  command.bytes = words[2];
  command.other = words[3];
  command.address = words[4];
  command.first = words[5];
  command.stream = words[6];
  return ask(command);
}

/// words: an input and an output of 64 bytes. Returns how many of the things that must not be done
/// were done.
std::int64_t foreign_pointers(std::uint64_t* words) {
  int done = 0;
  const auto try_at = [&](std::uint64_t address, std::uint64_t bytes, bool may_read) {
    for (const Kind kind : {Kind::copy_in, Kind::fill, Kind::release, Kind::copy_within}) {
      Command command = of(kind);
      command.address = address;
      command.bytes = command.other = bytes;
      if (kind == Kind::copy_in) command.payload_bytes = static_cast<std::uint32_t>(bytes);
      if (kind == Kind::copy_within) command.other = words[1];
      done += ask(command) == 0;
    }
    Command command = of(Kind::copy_out);
    command.address = address;
    command.bytes = command.other = bytes;
    done += !may_read && ask(command) == 0;
  };
  const std::uint64_t freed = allocate(64);
  Command release = of(Kind::release);
  release.address = freed;
  if (ask(release) != 0) return -1;
  try_at(words[0], 64, true);  // an input
  for (const std::uint64_t address :
       {std::uint64_t{0}, reinterpret_cast<std::uint64_t>(words), kDeviceBase - 32,
        ~std::uint64_t{0}, words[0] - 8, words[1] + 8, freed})
    try_at(address, 64, false);
  try_at(words[1], 65, false);
  Command wraps = of(Kind::copy_within);
  wraps.address = wraps.other = words[1];
  wraps.bytes = ~std::uint64_t{0};
  done += ask(wraps) == 0;
  Command own = of(Kind::release);
  own.address = words[1];  // the caller's output
  done += ask(own) == 0;
  return done;
}

/// The kernel gets memory that was freed before it began. Returns what waiting for it says.
std::int64_t freed_in_kernel(std::uint64_t* /*words*/) {
  const std::uint64_t freed = allocate(64);
  Command release = of(Kind::release);
  release.address = freed;
  ask(release);
  if (launch_with(freed, 1, 1) != 0) return -1;
  return ask(of(Kind::wait_device));
}

/// words: blocks, threads. Returns the launch's error * 10000 + that of waiting for it.
std::int64_t big_launch(std::uint64_t* words) {
  const std::uint32_t launched = launch_with(allocate(64), static_cast<std::uint32_t>(words[0]),
                                             static_cast<std::uint32_t>(words[1]));
  return launched * 10'000 + ask(of(Kind::wait_device));
}

/// Handles that nobody gave out. Returns how many were taken.
std::int64_t made_up_handles(std::uint64_t* /*words*/) {
  int taken = 0;
  for (const Kind kind :
       {Kind::wait_stream, Kind::query_stream, Kind::end_stream, Kind::end_event,
        Kind::record_event, Kind::wait_event, Kind::query_event, Kind::stream_waits})
    for (const std::uint64_t handle :
         {std::uint64_t{3}, std::uint64_t{0x999999}, ~std::uint64_t{0}}) {
      Command command = of(kind);
      command.stream = command.first = handle;
      taken += ask(command) == 0;
    }
  return taken;
}

/// Commands without end and without looking at an answer, for words[0] milliseconds. Half of them
/// fill words[2] bytes at words[1], a quarter waits for that.
std::int64_t flood(std::uint64_t* words) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(words[0]);
  std::minstd_rand draw(1);
  for (std::uint32_t n = 1; std::chrono::steady_clock::now() < until; ++n) {
    const auto any = static_cast<Kind>(1 + draw() % (kKinds - 1));
    box->command.kind = n % 4 == 0 ? any : n % 4 == 1 ? Kind::wait_device : Kind::fill;
    box->command.address = words[1];
    box->command.bytes = words[2];
    box->command.first = draw() % 3;
    box->asked.store(n);
    wake(box->asked);
  }
  return 0;
}

/// Asks and goes on without an answer; then asks nothing more and never ends.
std::int64_t never_reads(std::uint64_t* /*words*/) {
  box->command = of(Kind::wait_device);
  box->asked.store(1);
  wake(box->asked);
  while (true) pause();
}

/// words: an output of 64 bytes, milliseconds. Asks to copy it, while another thread changes the
/// address as fast as it can. Returns how many commands were answered.
std::int64_t changing_command(std::uint64_t* words) {
  std::atomic<bool> over = false;
  std::thread changer([&] {
    auto& address = *reinterpret_cast<volatile std::uint64_t*>(&box->command.address);
    while (!over) {
      address = words[0];
      address = ~std::uint64_t{0};
    }
  });
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(words[1]);
  std::int64_t answered = 0;
  for (; std::chrono::steady_clock::now() < until; ++answered) {
    Command command = of(answered % 2 == 0 ? Kind::copy_out : Kind::copy_in);
    command.address = words[0];
    command.bytes = command.other = 64;
    command.payload_bytes = command.kind == Kind::copy_in ? 64 : 0;
    if (ask(command) == 9999) break;
  }
  over = true;
  changer.join();
  return answered;
}

/// As many as there are. Returns how many, or -1 where it did not end with "out of memory".
std::int64_t all_handles(std::uint64_t* words) {
  std::int64_t made = 0;
  std::uint32_t error = 0;
  for (; error == 0 && made < 200'000; ++made) {
    Command command = of(static_cast<Kind>(words[0]));
    command.bytes = 1;
    error = ask(command);
  }
  return error == 2 ? made : -1;
}

/// Asks again and again, until nobody answers any more.
std::int64_t ask_for_ever(std::uint64_t* words) {
  do words[0] = 1;
  while (ask(of(Kind::memory_info)) == 0);
  return box->gone.load();
}
}
