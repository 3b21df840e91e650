#pragma once

#include <optional>
#include <string>
#include <vector>

#include "asking.h"
#include "harness/core/finding.h"
#include "harness/grading/probe.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What is wrong with an answer's hypotheses: the first item that differs, with both n-best lists
/// as evidence. Tokens, lengths, counts and steps are compared exactly, log-probs and scores within
/// `kRelative`. Asking more of the model than needed is not looked at.
std::optional<Finding> difference(const Problem& problem, const std::vector<Decoded>& want,
                                  const Answer& got);

/// float64 sums of float32 numbers that are exact in any order, divided by a pow that may be off by
/// a few units: honest variants with pow, exp(alpha * log n) and exp2 reach 3e-16 of it.
constexpr double kRelative = 1e-9;

/// Asks the solution and ends the check unless it answers as the oracle does.
Answer expect_right(Probe& probe, Rng& rng, const Problem& problem);
Answer expect_right(Probe& probe, Rng& rng, const Problem& problem,
                    const std::vector<Decoded>& want);

/// The same for one of the directed searches, by its name.
void expect_right_directed(Probe& probe, const char* name);

/// The same for a race's lap.
Lap lap_of(Session& session, const Seed& states, const Problem& problem,
           const std::vector<Decoded>& want);

/// The problem of some items of another one, in the given order.
Problem part_of(const Problem& problem, const std::vector<std::int64_t>& items);

/// Ends the check unless item `a` of one answer has the same bits as item `b` of another.
void expect_same_bits(Probe& probe, const Problem& problem, const Answer& one, std::size_t a,
                      const Answer& other, std::size_t b, const std::string& what);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
