// SPDX-License-Identifier: Apache-2.0
// gauntlet-worker: the process that a solution runs in. It starts inside the walls that the harness
// put up, puts on the last one, loads the solution and carries out orders until it is killed. It
// knows no challenge, no expected value and no clock.

#include <cstdio>
#include <cstring>
#include <malloc.h>

#include "harness/worker/inside/arenas.h"
#include "harness/worker/inside/crash_note.h"
#include "harness/worker/inside/float_controls.h"
#include "harness/worker/inside/futex.h"
#include "harness/worker/inside/kept_memory.h"
#include "harness/worker/inside/library.h"
#include "harness/worker/inside/trampolines.h"

namespace gauntlet::inside {
namespace {

class Worker {
 public:
  explicit Worker(bool with_device) : arenas_(with_device) {}

  [[noreturn]] void serve() {
    wire::Control& control = arenas_.control();
    leave_crash_note(control);
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // a killed process flushes nothing
    for (std::uint32_t order = 0;;) {
      wait_for_change(control.go, order);
      order = control.go.load(std::memory_order_acquire);
      control.reply = carry_out(arenas_.order());
      control.done.store(order, std::memory_order_release);
      ring(control);
    }
  }

 private:
  wire::Reply carry_out(const wire::Order& order) {
    wire::Control& control = arenas_.control();
    switch (order.kind) {
      case wire::OrderKind::lock_down:
        lock_down(control, arenas_.kept());
        return wire::Reply::ok;
      case wire::OrderKind::load:
        return library_.load(order, arenas_.device(), control);
      case wire::OrderKind::lay:
        return lay(order);
      case wire::OrderKind::call:
        return answer(order);
      case wire::OrderKind::lay_and_call:
        if (const wire::Reply reply = lay(order); reply != wire::Reply::ok) return reply;
        return answer(order);
    }
    return wire::Reply::not_loaded;
  }

  wire::Reply lay(const wire::Order& order) {
    arenas_.lay(order);
    function_ = library_.find(order.symbol, arenas_.control());
    return function_ != nullptr ? wire::Reply::ok : wire::Reply::no_symbol;
  }

  wire::Reply answer(const wire::Order& order) {
    wire::Control& control = arenas_.control();
    const std::uint64_t wanted =
        order.unusual_floats ? unusual_float_controls(float_controls_, order.zero_subnormals)
                             : float_controls_;
    // What was changed when the library was loaded counts as changed by the first call.
    const bool usual_before = float_controls() == float_controls_;
    set_float_controls(wanted);
    control.returned = call(order);
    control.float_controls_changed = !usual_before || float_controls() != wanted;
    set_float_controls(float_controls_);
    if (order.measure_heap) {
      const struct mallinfo2 heap = mallinfo2();
      control.heap_bytes = static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
    }
    return wire::Reply::ok;
  }

  /// noexcept: an exception that leaves the solution ends the process where it was thrown.
  std::int64_t call(const wire::Order& order) noexcept {
    std::memcpy(arguments_, order.arguments, order.argument_bytes);
    for (std::uint32_t i = 0; i < order.pointer_count; ++i) {
      const wire::Pointer& pointer = order.pointers[i];
      const std::byte* target = arenas_.at(pointer.arena, pointer.offset);
      std::memcpy(arguments_ + pointer.field_offset, &target, sizeof target);
    }
    set_callbacks(order, arenas_, arguments_);
    return function_(arguments_);
  }

  Arenas arenas_;
  Library library_;
  Function function_ = nullptr;
  const std::uint64_t float_controls_ = float_controls();  // before anything was loaded
  alignas(64) std::byte arguments_[wire::kMaxArguments];
};

}  // namespace
}  // namespace gauntlet::inside

int main(int count, char** arguments) {
  gauntlet::inside::bring_in_libraries();
  gauntlet::inside::blank_environment();
  static gauntlet::inside::Worker worker(
      count > 1 && std::strcmp(arguments[1], gauntlet::wire::kWithDevice) == 0);
  worker.serve();
}
