// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/store/receipt_check.h"

namespace gauntlet {

/// Refuted where the stored observation has another device, or other weights, severities or
/// sections than this grader gives its checks: a score follows from them.
std::vector<Proof> compare_questions(const CellObservation& then, const CellObservation& now);

/// A check that goes by the clock, which no new run confirms, with the numbers of it that stand in
/// the stored observation.
struct Unrepeated {
  std::string check;
  double earned = 0;
  std::vector<double> ratios;  // of its speeds to the reference's, ascending
};
std::vector<Unrepeated> rests_on_receipt(const Receipt& seen, const CellObservation& then);

/// What a stored observation says beyond verdicts and inputs, held against new runs.
struct Comparison {
  std::vector<Proof> proofs;          // of what did not come again as it was
  std::vector<std::string> wavering;  // parts that are as near to the runs as these to each other
  std::vector<std::string> unconfirmed;  // parts that are not
  std::vector<std::string> ask_again;    // checks whose unconfirmed parts may come in another run
};

/// Most runs of a check whose outputs do not come again. A figure of an honest run is a draw like
/// those of the new ones. That it lies further outside of twelve others than these lie apart has a
/// chance of 0.6 % where the tail is exponential, and of less where it is shorter.
constexpr int kMostRuns = 12;

/// Compares the build's warnings and messages, the claims, and for each check its points, cases,
/// facts, curves and exhibits. What follows from outputs that came again has to come again too, or
/// is refuted. Where outputs did not, it may come in any of the `runs`, or lie where their numbers
/// lie, else it is unconfirmed: somebody may have made it up. Of a finding only the verdict counts,
/// which compare_runs looks at: its words are noted.
///
/// `runs`: first the one that `seen` is the receipt of, then checks of it that were asked again.
Comparison compare_seen(const Receipt& claimed, const CellObservation& then, const Receipt& seen,
                        std::span<const CellObservation> runs);

/// What a new run cannot say again besides Unrepeated, and nobody therefore compared: memory that
/// was measured, the growth of time, the machine's ceilings.
std::vector<std::string> not_compared(const Receipt& seen, const CellObservation& then,
                                      const CellObservation& now);

}  // namespace gauntlet
