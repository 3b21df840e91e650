// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contract.h"
#include "graders/kit/call_options.h"
#include "harness/grading/probe.h"
#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

using Bytes = std::vector<std::uint8_t>;

/// What a solution wrote, without the gaps. Empty where nothing was asked for.
struct Answer {
  std::vector<float> y, dx, dgamma, dbeta;
};

/// What the calls of a step need not have in common: one of them is put otherwise.
enum class Passes {
  alike,
  bytes_otherwise,
  forward_otherwise,
  x_elsewhere,
  saved_elsewhere,
  beta_in_forward
};

/// `far`: the rows of x, dy, y or dx.
struct CallOptions : kit::CallOptions {
  bool y = true, dx = true, dgamma = true, dbeta = true;  // which are asked for; others are null
  std::optional<float> old = {};  // what outputs hold before the call, gaps included; else poison
  std::optional<std::int64_t> absent_stride = {};  // of arrays that are null; else that of others
  bool others_given = false;  // arrays that only the other pass reads or writes; else they are null
  Passes passes = Passes::alike;
  bool saved_stays = false;  // saved_in lies where saved_out did, if the sizes are the same
  bool empty_at_address =
      false;  // of no saved bytes, and of no rows, there are pointers, to nothing
};

/// Calls with their arrays named, ready to run. They point into the problem, which must outlive
/// them.
struct SavedBytesCall : Call<LayernormArgs> {
  explicit SavedBytesCall(const Problem& problem, const CallOptions& options = {});
};

struct ForwardCall : Call<LayernormArgs> {
  ForwardCall(const Problem& problem, std::int64_t saved_bytes, const CallOptions& options = {});
  Bytes saved() const { return saved_out ? saved_out->copy() : Bytes(); }

  std::vector<std::string> others = {};  // outputs of the other pass, which stay poison
  std::vector<float> old_y;              // what y starts as; empty: poison
  std::optional<Output<float>> y;
  std::vector<Output<float>> far_y;  // its rows, where they are far apart
  std::optional<Output<std::uint8_t>> saved_out;
};

struct BackwardCall : Call<LayernormArgs> {
  /// `saved` is what the forward pass left; empty where the problem brings statistics.
  BackwardCall(const Problem& problem, const Bytes& saved, const CallOptions& options = {});

  std::vector<std::string> others = {};
  std::vector<float> old_dx, old_dgamma, old_dbeta;
  std::optional<Output<float>> dx, dgamma, dbeta;
  std::vector<Output<float>> far_dx;
};

/// Asks how much the forward pass wants to save. Fails the check for an error and for an answer
/// that no solution needs: more than twice everything the problem consists of.
std::int64_t ask_saved_bytes(Probe& probe, const Problem& problem, const CallOptions& options = {});

/// Calls that must succeed. They also fail the check when anything between two rows of an output
/// was written, or an array that is none of the function's outputs. What was saved goes from one to
/// the other through the grader.
Bytes run_forward(Probe& probe, const Problem& problem, Answer& answer,
                  const CallOptions& options = {});
void run_backward(Probe& probe, const Problem& problem, const Bytes& saved, Answer& answer,
                  const CallOptions& options = {});

/// What a backward call that was run has written, gaps looked at.
Answer gradients_of(Probe& probe, const Problem& problem, const BackwardCall& call,
                    const CallOptions& options = {});

/// A whole step. With given statistics the forward pass is not asked at all.
Answer run_step(Probe& probe, const Problem& problem, const CallOptions& options = {});

}  // namespace gauntlet::GAUNTLET_CHALLENGE
