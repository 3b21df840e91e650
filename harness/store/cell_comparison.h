#pragma once

#include <string>
#include <vector>

#include "harness/store/receipt_check.h"

namespace gauntlet {

/// Refuted where the stored observation has another device, or other weights, severities or
/// sections than this grader gives its checks: a score follows from them.
std::vector<Proof> compare_questions(const CellObservation& then, const CellObservation& now);

/// That no check whose outputs came again had earned another share of its points: one proof for
/// each that did. `then` and `now` are what the two receipts were closed over.
std::vector<Proof> compare_earned(const Receipt& claimed, const CellObservation& then,
                                  const Receipt& seen, const CellObservation& now);

/// A check that goes by the clock, which no new run confirms, with the numbers of it that stand in
/// the stored observation.
struct Unrepeated {
  std::string check;
  double earned = 0;
  std::vector<double> ratios;  // of its speeds to the reference's, ascending
};
std::vector<Unrepeated> rests_on_receipt(const Receipt& seen, const CellObservation& then);

/// That what else was seen came again: the build's warnings and messages, the claims, and for each
/// check its cases, facts, curves and exhibits. Refuted where they follow from outputs that came
/// again, noted where they may not. A finding's words are noted only: its verdict is compared.
std::vector<Proof> compare_seen(const Receipt& claimed, const CellObservation& then,
                                const Receipt& seen, const CellObservation& now);

/// What a new run cannot say again besides Unrepeated, and nobody therefore compared: memory that
/// was measured, the growth of time, the machine's ceilings.
std::vector<std::string> not_compared(const Receipt& seen, const CellObservation& then,
                                      const CellObservation& now);

}  // namespace gauntlet
