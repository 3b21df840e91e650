#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cases.h"
#include "contract.h"
#include "harness/grading/probe.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

using Bytes = std::vector<std::uint8_t>;

/// Which outputs are asked for; the others are null.
struct Wanted {
  bool y = true;
  bool dx = true;
  bool dgamma = true;
  bool dbeta = true;
};

/// What a solution wrote, without the gaps. Empty where nothing was asked for.
struct Answer {
  std::vector<float> y, dx, dgamma, dbeta;
};

/// The scalar arguments of a problem, every pointer null.
LayernormArgs scalars_of(const Problem& problem);

/// Asks how much the forward pass wants to save. Fails the check for an error and for an answer
/// that no solution needs: more than twice everything the problem consists of.
std::int64_t ask_saved_bytes(Probe& probe, const Problem& problem);

/// Calls that must succeed. They also fail the check when anything between two rows of an output
/// was written. `saved` goes from one to the other through the grader.
Bytes run_forward(Probe& probe, const Problem& problem, Answer& answer, const Wanted& wanted = {});
void run_backward(Probe& probe, const Problem& problem, const Bytes& saved, Answer& answer,
                  const Wanted& wanted = {});

/// A whole step. With given statistics the forward pass is not asked at all.
Answer run_step(Probe& probe, const Problem& problem, const Wanted& wanted = {});

/// A backward call with its inputs named; outputs are the caller's to add.
void add_backward_inputs(Call<LayernormArgs>& call, const Problem& problem, const Bytes& saved);
void add_forward_inputs(Call<LayernormArgs>& call, const Problem& problem);

/// Elements that a row-wise output of this problem has, gaps included.
std::size_t output_elements(const Problem& problem);

/// Takes the rows out of an output with gaps. Fails the check when a gap no longer holds poison.
std::vector<float> rows_of(Probe& probe, const Problem& problem, std::string_view name,
                           std::span<const float> written);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
