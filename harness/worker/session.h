// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>

#include "harness/core/verdict.h"
#include "harness/worker/call.h"

namespace gauntlet {

/// The solution could not finish a call: it crashed, hung, ate memory or broke the rules. The text
/// says what happened and where, in a sentence a report can print.
struct SolutionFailure : std::runtime_error {
  SolutionFailure(Verdict verdict, const std::string& text)
      : std::runtime_error(text), verdict(verdict) {}
  Verdict verdict;  // wrong (it wrote outside its buffers), crashed .. cheated
};

/// Somebody who answers calls: a solution in its sandbox, or a null solution that only pretends.
class Session {
 public:
  virtual ~Session() = default;

  /// Runs one call to its end and fills in its results. Throws SolutionFailure, after which the
  /// session must be restarted; throws Broken when the fault is ours.
  virtual void run(CallBase& call) = 0;

  /// Forgets everything that the solution could remember: the next call meets a fresh process.
  virtual void restart() = 0;

  /// For calls whose time counts: each of them begins with its threads on different cores.
  virtual void keep_threads_apart() {}

  /// Processor time that it has used outside of our process.
  virtual std::chrono::nanoseconds cpu_time() const { return {}; }
};

}  // namespace gauntlet
