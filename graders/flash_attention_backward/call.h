// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "contract.h"
#include "harness/grading/probe.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What a solution wrote, dense, and empty where it was not wanted.
using Answer = Results<float>;

/// One array that holds q, k, v, o and dout, which overlap in it.
struct OneMemory {
  struct Place {
    std::int64_t offset;  // of the first element
    std::int64_t batch, head, row;
  };

  kit::Tensor gathered(const kit::Extents& extents, const Place& place) const;

  std::vector<float> numbers;
  Place q, k, v, o, dout;  // that of q is at 0
};

/// How the solution is asked. Default: dense tensors, everything wanted but delta.
struct CallOptions : kit::CallOptions {
  kit::Layout q, k, v, o, dout, dq, dk, dv;
  std::optional<OneMemory> inputs = {};  // instead of an array for each of q, k, v, o and dout
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

  std::vector<float> memory_;  // that holds all inputs, where one does
};

/// Asks once; the call must return 0 and leave alone what lies between rows.
Answer ask(Probe& probe, const Problem& problem, const CallOptions& options = {});

}  // namespace gauntlet::GAUNTLET_CHALLENGE
