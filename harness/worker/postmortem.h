// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/worker/layout.h"
#include "harness/worker/session.h"
#include "harness/worker/worker_process.h"

namespace gauntlet {

/// What was going on when a worker could not go on.
struct FailureContext {
  const WorkerProcess* worker = nullptr;
  const CallBase* call = nullptr;  // null: the solution was being loaded
  const Layout* layout = nullptr;  // of that call
  double seconds = 0;              // the time limit
  std::size_t memory_bytes = 0;    // the memory limit
  std::size_t output_bytes = 0;    // the output limit
  int threads = 0;                 // the limit of threads
};

/// The verdict and the sentence for an event that ends a call. The verdict follows from what the
/// kernel says; the worker's own crash note only make the sentence more precise.
SolutionFailure failure_of(WorkerProcess::Event event, const FailureContext& context);

/// How the sentence about a function that is missing starts.
inline constexpr std::string_view kDoesNotDefine = "does not define ";

/// Why the solution cannot be used, for an order that was answered with anything but ok.
SolutionFailure refusal_of(const wire::Control& control);

/// "4 bytes past the end of `dx`", "inside `x`"; empty when the address is near no buffer.
std::string name_place(const CallBase& call, const Layout& layout, wire::ArenaId arena,
                       std::size_t offset);

}  // namespace gauntlet
