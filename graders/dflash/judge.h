// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "call.h"
#include "harness/grading/probe.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Verifies a batch and compares every tree with greedy decoding. Of several wrong trees the
/// smallest is shown. Returns how many accepted nodes longer paths would have had (duplicate
/// siblings only). The second compares only.
std::int64_t require_right(Probe& probe, const Batch& batch, const CallOptions& options = {});
std::int64_t require_walks(Probe& probe, const Batch& batch, const VerifyCall& verify);

/// Verifies a tree without nodes, whose one row of logits is followed by none: logits_stride may be
/// any number then, and here is one that 32 bits do not hold.
void require_right_row_alone(Probe& probe, const Language& language, Rng& rng);

/// Builds a batch and compares masks and positions; either can be left to another check.
struct BuiltParts {
  bool masks = true;
  bool positions = true;
};
void require_built(Probe& probe, const Batch& batch, const CallOptions& options = {},
                   BuiltParts parts = {});

/// Compares a tree that is a chain, by words: there may be millions.
void require_chain_built(Probe& probe, const Draft& chain, const BuildCall& build, std::size_t t,
                         BuiltParts parts = {});

/// The same of a chain deeper than 16 bits can count with a sign, whose last slot has a word of its
/// own. It is alone, so that threads may share its rows, each of which needs the one above. Masks
/// of 130 MiB and more, which are compared by words.
void require_deep_chain_built(Probe& probe, Rng& rng, BuiltParts parts = {});

/// The same of a tree that branches, with a long path among its nodes: alone, so that threads may
/// share it, or between two without nodes.
struct LargeTree {
  std::int64_t nodes;
  int threads;
  bool alone = false;
  std::int64_t spare_words = 0;
};
void require_large_tree_built(Probe& probe, Rng& rng, const LargeTree& asked,
                              BuiltParts parts = {});

/// The same in a fresh process, where no more threads may be at work on it than are asked for.
void require_large_tree_watched(Probe& probe, Rng& rng, const LargeTree& asked);

/// Verifies and builds large trees of different shapes, again and again, with threads that are at
/// work on them at the same time: what they share is wrong for all trees but one.
void require_large_trees_shared(Probe& probe, Rng& rng, int threads);

/// Demands that calls are refused of which only the last tree or the last request is wrong.
void require_last_refused(Probe& probe, const Batch& batch);
void require_last_refused(Probe& probe, const Problem& problem);

/// Demands that trees of very many nodes are refused where one of their last is wrong, or their
/// rows, which are more than 16 bits count, have no room in a mask.
void require_large_trees_refused(Probe& probe, Rng& rng);

/// What one call of dflash_generate did, as far as its tokens do not show it.
struct Answer {
  std::vector<std::int64_t> rounds;
  std::vector<std::int64_t> accepted;
  std::vector<Expected> expected;
  std::shared_ptr<Model> model;

  std::int64_t fewest_forwards() const;  // that a batched solution needs
  std::int64_t fewest_rows() const;
};

/// Generates and demands that every request emits what greedy decoding says, token for token, and
/// that no callback broke a rule on which that depends. Numbers of passes are left to the caller.
Answer require_right(Probe& probe, const Problem& problem, const CallOptions& options = {});

/// Demands the numbers of rounds and of accepted nodes. Where equal siblings leave a choice, or
/// fewer nodes were asked for, the latter is known but for the last round's.
void require_counts(Probe& probe, const Answer& answer, bool one_path = true);

/// Has `between` make calls that fail, and demands that what is asked before and after them is
/// right and takes as many passes: rows of an earlier call's trees make none of its tokens wrong.
void require_right_around(Probe& probe, const Problem& problem,
                          const std::function<void()>& between);

/// Demands that no more forward passes were made than batched requests need with these drafts.
void require_fewest_passes(Probe& probe, const Answer& answer);

/// Runs the call only; a broken rule of the callbacks ends the check, whatever became of the call.
void run_watched(Probe& probe, GenerateCall& generate);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
