// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/sandbox/filter_blanks.h"
#include "harness/worker/protocol.h"

namespace gauntlet::inside {

using Function = std::int64_t (*)(const void*);

/// Puts the system-call filter that was handed over on this process, for good. Kept
/// memory stays as it is from then on.
void lock_down(wire::Control& control, const KeptRange& kept);

/// The solution's shared object, and perhaps another one with tests that call its exports. Their
/// constructors run when they are loaded, so: after lock_down.
class Library {
 public:
  /// Loads it, gives it the mailbox of the device where there is one, and looks for the order's
  /// exports; then the tests, of which alone find() knows afterwards. Sets control.text when the
  /// answer is not ok.
  wire::Reply load(const wire::Order& order, const std::byte* device, wire::Control& control);

  /// Null, with control.text set, when there is no such symbol.
  Function find(const char* symbol, wire::Control& control);

 private:
  bool open(int fd, int scope, wire::Control& control);

  void* handle_ = nullptr;
};

}  // namespace gauntlet::inside
