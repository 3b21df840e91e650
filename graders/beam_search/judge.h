// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "call.h"
#include "harness/core/finding.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Log-probs and scores may be off by this share of themselves; README.md derives it.
constexpr double kRelative = 1e-9;

/// What is wrong with an answer's hypotheses: the first item that differs, with both n-best lists
/// as evidence. Tokens, lengths, counts and steps are compared exactly, log-probs and scores within
/// `kRelative`. Asking more of the model than needed is not looked at.
std::optional<Finding> difference(const Problem& problem, const std::vector<Expected>& want,
                                  const Answer& got);

/// Ends the check where there is such a difference.
void require_no_difference(Probe& probe, const SolvedProblem& solved, const Answer& got);

/// Asks the solution and ends the check unless it answers as the oracle does.
Answer require_right(Probe& probe, Rng& rng, const SolvedProblem& solved,
                     const CallOptions& options = {});
Answer require_right(Probe& probe, Rng& rng, const Problem& problem);

/// The same for one of the directed searches, by its name.
void require_right_directed(Probe& probe, std::string_view name, bool long_rows = false);

/// So many items, more than there is room for, without any array: who makes them before all is
/// judged fails.
void require_refused_without_arrays(Probe& probe, Rng& rng, const Settings& settings,
                                    std::int64_t batch);

/// Call after call, of a model that answers and of one that fails at its second request: what they
/// allocate, which is an answer of 400 KB or more, they free.
void require_freed(Probe& probe, Rng& rng);

/// A search of many steps holds no more than one of few: each answer of the model is let go.
void require_answers_let_go(Probe& probe, Rng& rng);

/// Ends the check unless item `a` of one answer has the same bits as item `b` of another.
void require_same_bits(Probe& probe, const Problem& problem, const Answer& one, std::size_t a,
                       const Answer& other, std::size_t b, const std::string& what);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
