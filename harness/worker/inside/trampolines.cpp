// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/inside/trampolines.h"

#include <array>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "harness/worker/inside/futex.h"

namespace gauntlet::inside {
namespace {

using Trampoline = std::int64_t (*)(void*, void*);

Arenas* arenas_of_call = nullptr;
std::array<wire::CallbackShape, wire::kMaxCallbacks> shapes;
std::uint64_t mailbox_bytes = 0;
std::mutex one_at_a_time;
std::thread::id called_thread;
bool null_context = false;

struct Placed {
  std::byte* array;  // the solution's
  std::uint64_t offset;
  std::uint64_t bytes;
};

/// Where each array lies in the mailbox. False when the request asks for more than fits or for a
/// negative count; the harness sees the same from the request and says so.
bool place(const wire::CallbackShape& shape, const std::byte* request,
           std::array<Placed, wire::kMaxArrays>& placed) {
  std::uint64_t offset = wire::mailbox_aligned(shape.request_bytes);
  for (std::uint32_t i = 0; i < shape.array_count; ++i) {
    const wire::ArrayShape& array = shape.arrays[i];
    std::int64_t bytes = array.fixed;
    for (const std::int64_t field : array.count_offset) {
      if (field < 0) continue;
      std::int64_t count = 0;
      std::memcpy(&count, request + field, sizeof count);
      if (count < 0 || __builtin_mul_overflow(bytes, count, &bytes)) return false;
    }
    if (__builtin_mul_overflow(bytes, static_cast<std::int64_t>(array.element_bytes), &bytes) ||
        static_cast<std::uint64_t>(bytes) > mailbox_bytes - offset)
      return false;
    placed[i].offset = offset;
    placed[i].bytes = static_cast<std::uint64_t>(bytes);
    std::memcpy(&placed[i].array, request + array.field_offset, sizeof(std::byte*));
    offset = wire::mailbox_aligned(offset + placed[i].bytes);
    if (offset > mailbox_bytes) return false;
  }
  return true;
}

/// What the solution is given to hand on; callbacks of one argument struct may share the field.
const void* own_context() {
  return null_context ? nullptr : &shapes;
}

wire::Asker asker_with(const void* context) {
  if (std::this_thread::get_id() != called_thread) return wire::Asker::another_thread;
  return context == own_context() ? wire::Asker::as_agreed : wire::Asker::another_context;
}

std::int64_t ask_harness(std::uint32_t index, wire::Asker asker) {
  wire::Control& control = arenas_of_call->control();
  control.callback = index;
  control.asker = asker;
  const std::uint32_t number = control.asked.load(std::memory_order_relaxed) + 1;
  control.asked.store(number, std::memory_order_release);
  ring(control);
  for (std::uint32_t answered; (answered = control.answered.load()) != number;)
    wait_for_change(control.answered, answered);
  std::int64_t returned = 0;
  std::memcpy(&returned, arenas_of_call->at(wire::ArenaId::out, 0), sizeof returned);
  return returned;
}

std::int64_t carry(std::uint32_t index, const void* context, std::byte* request) {
  const std::lock_guard lock(one_at_a_time);
  const wire::CallbackShape& shape = shapes[index];
  // The first bytes of the mailbox are the reply's return value; the request follows.
  std::byte* mailbox = arenas_of_call->at(wire::ArenaId::out, wire::kReplyBytes);
  std::array<Placed, wire::kMaxArrays> placed{};
  std::memcpy(mailbox, request, shape.request_bytes);
  const bool fits = place(shape, request, placed);
  for (std::uint32_t i = 0; fits && i < shape.array_count; ++i)
    if (shape.arrays[i].goes_out && placed[i].bytes > 0)
      std::memcpy(mailbox + placed[i].offset, placed[i].array, placed[i].bytes);
  const std::int64_t returned = ask_harness(index, asker_with(context));
  std::memcpy(request, mailbox, shape.request_bytes);
  for (std::uint32_t i = 0; fits && i < shape.array_count; ++i) {
    std::memcpy(request + shape.arrays[i].field_offset, &placed[i].array, sizeof(std::byte*));
    if (shape.arrays[i].comes_back && placed[i].bytes > 0)
      std::memcpy(placed[i].array, mailbox + placed[i].offset, placed[i].bytes);
  }
  return returned;
}

template <std::uint32_t index>
std::int64_t trampoline(void* context, void* request) {
  return carry(index, context, static_cast<std::byte*>(request));
}

template <std::uint32_t... index>
constexpr std::array<Trampoline, sizeof...(index)> make_trampolines(
    std::integer_sequence<std::uint32_t, index...>) {
  return {trampoline<index>...};
}
constexpr auto kTrampolines =
    make_trampolines(std::make_integer_sequence<std::uint32_t, wire::kMaxCallbacks>());

}  // namespace

void set_callbacks(const wire::Order& order, Arenas& arenas, std::byte* arguments) {
  arenas_of_call = &arenas;
  called_thread = std::this_thread::get_id();
  mailbox_bytes = order.mailbox_bytes - (order.mailbox_bytes > 0 ? wire::kReplyBytes : 0);
  null_context = order.null_context;
  const void* context = own_context();
  for (std::uint32_t i = 0; i < order.callback_count; ++i) {
    shapes[i] = order.callbacks[i];
    std::memcpy(arguments + shapes[i].function_offset, &kTrampolines[i], sizeof(Trampoline));
    std::memcpy(arguments + shapes[i].context_offset, &context, sizeof context);
  }
}

}  // namespace gauntlet::inside
