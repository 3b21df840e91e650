// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "call.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// The first thing that is wrong with the rows that `expected` knows.
struct Fault {
  Fault(Miss what, std::vector<std::string> lines)
      : miss(std::move(what)), evidence(std::move(lines)) {}

  Miss miss;
  std::vector<std::string> evidence;
};
std::optional<Fault> fault_in(const Problem& problem, const Answer& answer,
                              const Expected& expected);

/// The largest share of a tolerance that a number used; for calibration and reports.
double share_used(const Problem& problem, const Answer& answer, const Expected& expected);

/// Asks, compares all rows with the oracle, and fails the check at the first fault. Gives back the
/// answer, for further questions.
Answer require_right(Probe& probe, const Problem& problem, Sums sums = Sums::plain);
void require_rows(Probe& probe, const Problem& problem, const Answer& answer,
                  const Expected& expected);

/// The contract's bound of scratch memory, where k and vocab are such that it has one.
constexpr double kScratchShare = 0.04;  // of the logits, besides a constant
std::int64_t logit_bytes(const Problem& problem);
void require_scratch(Probe& probe, const Problem& problem, std::int64_t bytes);

/// Rows of every kind, short ones too: again and again, without growing. With `first` outputs as
/// many winners as scratch memory is bounded for, and one or a few; with the others more.
enum class Outputs { all, fewest };
void require_freed_of_every_kind(Probe& probe, Outputs first);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
