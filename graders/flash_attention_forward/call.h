// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "contract.h"
#include "harness/grading/probe.h"
#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What a solution wrote, dense, and empty where it was not wanted.
struct Answer {
  std::vector<float> o;    // [batch][q_heads][q_len][value_dim]
  std::vector<float> lse;  // [batch][q_heads][q_len]
};

/// How the solution is asked. Default: dense tensors, everything wanted.
struct CallOptions : kit::CallOptions {
  kit::Layout q, k, v, o;
  std::optional<kit::OneMemory> inputs = {};  // instead of an array for each of q, k and v
  bool want_lse = true;
  std::optional<float> old = {};  // what outputs hold before the call, gaps apart; else poison
};

/// All tensors in this layout.
CallOptions in_layout(const kit::Layout& layout);

/// [batch][row][head][column], without gaps.
inline constexpr kit::Layout kRowsOutside{.rows_outside = true};

class ForwardCall : public kit::StridedCall<FlashAttentionForwardArgs> {
 public:
  /// The problem must outlive the call.
  explicit ForwardCall(const Problem& problem, const CallOptions& options = {});

  Answer answer() const;  // of the last run
};

/// Asks once; the call must return 0 and leave alone what lies between rows.
Answer ask(Probe& probe, const Problem& problem, const CallOptions& options = {});

}  // namespace gauntlet::GAUNTLET_CHALLENGE
