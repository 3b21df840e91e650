// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

/// What the runtime in a worker and the device process say to each other: one memory file that both
/// can write, with one command and its answer. The worker writes a command, then sets `asked` to
/// its number, one more than the last; the device process copies it, carries it out, writes the
/// answer and sets `answered`. Nothing that lies here is believed by the device process or the
/// grader.
namespace gauntlet::device_wire {

enum class Kind : std::uint32_t {
  none,
  facts,          // -> payload: DeviceFacts
  memory_info,    // -> first: free bytes, second: all bytes
  allocate,       // bytes -> first: address
  release,        // address, stream; first: 1 when it waits for its turn in the stream
  copy_in,        // stream, address, bytes, payload; other: bytes of the whole copy that are left
  copy_out,       // stream, address, bytes -> payload; other as above
  copy_within,    // stream, address (to), other (from), bytes
  fill,           // stream, address, bytes, first: the byte
  find_kernel,    // payload: name -> first: its number; payload: KernelFacts, Parameters
  find_variable,  // payload: name -> first: address, second: bytes
  set_shared_limit,  // first: kernel, bytes
  launch,            // first: kernel, grid, block, shared, stream, payload: parameters
  make_stream,       // first: 1 when it does not wait for the default stream -> first
  end_stream,        // stream
  wait_stream,       // stream
  query_stream,      // stream
  make_event,        // -> first
  end_event,         // first
  record_event,      // first, stream
  stream_waits,      // first: event, stream
  wait_event,        // first
  query_event,       // first
  wait_device,
};
constexpr std::uint32_t kKinds = 24;

struct Command {
  Kind kind;
  std::uint32_t payload_bytes;
  std::uint64_t stream;
  std::uint64_t address;
  std::uint64_t other;
  std::uint64_t bytes;
  std::uint64_t first;
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint64_t shared;
};

struct Answer {
  std::uint32_t error;  // a cudaError_t
  std::uint32_t payload_bytes;
  std::uint64_t first;
  std::uint64_t second;
};

/// What a device is, for cudaGetDeviceProperties and its like.
struct DeviceFacts {
  char name[64];
  std::uint64_t memory_bytes;
  std::uint32_t major, minor;
  std::uint32_t multiprocessors;
};

struct KernelFacts {
  std::uint32_t static_shared;  // bytes
  std::uint32_t most_dynamic_shared;
  std::uint32_t local_bytes;  // of a thread
  std::uint32_t most_threads;
  std::uint32_t parameter_count;
};
struct Parameter {
  std::uint32_t offset, bytes;  // in the parameters of a launch
};

constexpr std::size_t kPayload = std::size_t{1} << 20;
constexpr std::size_t kMostName = 4096;
constexpr std::size_t kMostParameters = 4096;  // bytes

using Word = std::atomic<std::uint32_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 4, "a futex is a 32-bit word");

struct Mailbox {
  alignas(64) Word asked;
  alignas(64) Word answered;
  alignas(64) Word gone;  // set by the grader: nobody answers any more
  alignas(64) Command command;
  alignas(64) Answer answer;
  alignas(4096) std::byte payload[kPayload];
};

/// Addresses of device memory: none that a process could have mapped.
constexpr std::uint64_t kDeviceBase = 0x2000'0000'0000'0000;
constexpr bool is_device_address(std::uint64_t address) {
  return address >= kDeviceBase && address < 2 * kDeviceBase;
}

/// Streams that exist without having been made.
constexpr std::uint64_t kDefaultStream = 0;
constexpr std::uint64_t kLegacyStream = 1;     // cudaStreamLegacy: the same one
constexpr std::uint64_t kPerThreadStream = 2;  // cudaStreamPerThread: one for all threads here

}  // namespace gauntlet::device_wire
