// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "contract.h"
#include "harness/grading/probe.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What a solution wrote, dense, and empty where it was not wanted.
using Answer = Results<float>;

/// How the solution is asked. Default: dense tensors, everything wanted but delta.
struct CallOptions : kit::CallOptions {
  kit::Layout q, k, v, o, dout, dq, dk, dv;
  std::optional<kit::OneMemory> inputs = {};  // instead of an array for each of q, k, v, o and dout
  bool want_dq = true, want_dk = true, want_dv = true, want_delta = false;
  std::int32_t causal = 1;        // the value that says yes, where the problem is causal
  std::optional<float> old = {};  // what all results hold before the call, gaps apart
  const Answer* dirty = nullptr;  // or this, where it is not empty; else poison
};

class BackwardCall : public kit::StridedCall<FlashAttentionBackwardArgs> {
 public:
  /// The problem must outlive the call.
  explicit BackwardCall(const Problem& problem, const CallOptions& options = {});

  Answer answer() const;  // of the last run

 private:
  void bring(const Problem& problem, const CallOptions& options);
  void take(const Problem& problem, const CallOptions& options);
};

/// Asks once; the call must return 0 and leave alone what lies between rows.
Answer ask(Probe& probe, const Problem& problem, const CallOptions& options = {});

}  // namespace gauntlet::GAUNTLET_CHALLENGE
