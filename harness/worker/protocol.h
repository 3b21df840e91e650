// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

/// What the harness and a worker say to each other, and where. Three memory files are shared:
///
///   control  one page, writable by both; nothing the worker puts there is believed
///   in       the order and the inputs of a call; the worker can only read it
///   out      outputs and the mailbox of callbacks; writable by both, looked at only while the
///   worker
///            is frozen
///
/// An order is written into `in`, then `go` is set to its number; the worker answers by setting
/// `done` to the same number.
namespace gauntlet::wire {

// The worker's descriptors when it starts, after the three standard streams.
constexpr int kControlFd = 3;
constexpr int kInFd = 4;
constexpr int kOutFd = 5;
constexpr int kFilterFd = 6;
constexpr int kLibraryFd = 7;
constexpr int kTestsFd = 8;   // only with Order::has_tests
constexpr int kDeviceFd = 9;  // only where the worker's argument is kWithDevice

/// There is a device, whose mailbox the worker maps and hands to the library by this function.
constexpr const char* kWithDevice = "with-device";
constexpr const char* kAttachDevice = "gauntlet_attach_device";

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMaxName = 128;
constexpr std::size_t kMaxExports = 16;
constexpr std::size_t kMaxBuffers = 64;
constexpr std::size_t kMaxCallbacks = 8;
constexpr std::size_t kMaxArrays = 8;
constexpr std::size_t kMaxArguments = 4096;
constexpr std::size_t kMaxRequest = 4096;

enum class ArenaId : std::uint32_t { in, out };

enum class OrderKind : std::uint32_t {
  lock_down,  // put on the system-call filter; the last order before strange code runs
  load,       // load the library and look for its exports; then the tests that call them, if any
  lay,        // open exactly `ranges` of the arenas and map their pages; find `symbol`
  call,       // call `symbol`
  lay_and_call,
};

struct Range {
  ArenaId arena;
  std::uint64_t offset;  // whole pages
  std::uint64_t bytes;
  bool populate;  // map its pages now, so that no page fault falls into a timed call
};

struct Pointer {
  std::uint32_t field_offset;  // in the argument struct
  ArenaId arena;
  std::uint64_t offset;
};

/// An array that a callback's request points to. Count: fixed * field * field, as CallbackArray.
struct ArrayShape {
  std::uint32_t field_offset;
  bool goes_out;    // solution -> harness
  bool comes_back;  // harness -> solution
  std::uint64_t element_bytes;
  std::int64_t fixed;
  std::int64_t count_offset[2];
};

struct CallbackShape {
  std::uint32_t function_offset;
  std::uint32_t context_offset;
  std::uint32_t request_bytes;
  std::uint32_t array_count;
  ArrayShape arrays[kMaxArrays];
};

/// Lies at the start of the `in` arena.
struct Order {
  OrderKind kind;
  char symbol[kMaxName];
  std::uint32_t export_count;
  char exports[kMaxExports][kMaxName];
  bool has_tests;
  std::uint32_t range_count;
  Range ranges[2 * kMaxBuffers];
  std::uint32_t pointer_count;
  Pointer pointers[kMaxBuffers];
  std::uint32_t callback_count;
  CallbackShape callbacks[kMaxCallbacks];
  std::uint64_t mailbox_bytes;  // at the start of the `out` arena; 0: no callbacks
  bool unusual_floats;
  bool zero_subnormals;
  bool null_context;
  bool measure_heap;
  std::uint32_t argument_bytes;
  alignas(16) unsigned char arguments[kMaxArguments];
};
constexpr std::size_t kOrderBytes = std::size_t{64} << 10;
static_assert(sizeof(Order) <= kOrderBytes);

enum class Reply : std::uint32_t {
  ok,
  not_loaded,  // text: what the loader said
  no_symbol,   // text: the name, then the functions that there are, one a line
};

/// Why the worker thinks that it is ending. A hint for messages; the verdict comes from its death.
struct CrashNote {
  std::uint32_t signal;
  std::uint32_t wrote;  // the faulting access was a write
  std::uint64_t address;
  std::uint64_t stack_pointer;
  std::uint32_t no_address;     // the processor tells none: it is not canonical, or misaligned
  std::uint32_t out_of_memory;  // an uncaught std::bad_alloc
};

using Word = std::atomic<std::uint32_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 4, "a futex is a 32-bit word");

/// Every contract says that callbacks are called by the thread that was called, and with the
/// context that stands beside them. As the worker sees it: enough to find a slip.
enum class Asker : std::uint32_t { as_agreed, another_thread, another_context };

struct Control {
  alignas(64) Word go;    // number of the order to carry out
  Word answered;          // number of callback requests that the harness has answered
  alignas(64) Word bell;  // counts up whenever one of the words below it has changed
  Word done;              // number of the last order carried out
  Word asked;             // number of callback requests made
  alignas(64) Reply reply;
  std::uint32_t callback;       // which callback was asked
  Asker asker;                  // and by whom
  bool float_controls_changed;  // by the call that returned; as the worker sees it, like `asker`
  std::int64_t returned;
  std::int64_t heap_bytes;  // in use behind the call, where the order asks for that
  std::uint64_t in_base;    // where the worker has mapped the arenas
  std::uint64_t out_base;
  CrashNote crash_note;
  char text[2048];  // of an error
};
static_assert(sizeof(Control) <= kPage);

/// The mailbox begins with the return value of the last callback; requests start after this many
/// bytes, and offsets of arrays count from there.
constexpr std::size_t kReplyBytes = 64;

/// Offset of an array: after the request and the arrays before it, 64-byte aligned.
constexpr std::uint64_t mailbox_aligned(std::uint64_t offset) {
  return (offset + 63) & ~63ull;
}

}  // namespace gauntlet::wire
