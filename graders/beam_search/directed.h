// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A small search on which one wrong rule gives another answer than the right one.
struct Directed {
  std::string name;
  Settings settings;
  Table table;

  /// The right answer as it was published with the table, best first, to check the oracle with.
  struct Known {
    double score;
    std::vector<std::int32_t> tokens;
  };
  std::vector<Known> known;
  std::int64_t known_steps = 0;  // 0: not published
};

/// Those of fixtures/directed_searches.h.
std::span<const Directed> directed_searches();
const Directed& directed(std::string_view name);

/// A directed search, disguised: `batch` copies, each with all log-probs scaled by a power of two,
/// among further tokens that never stay, and with the EOS under another id. The order of the tokens
/// is kept, so that ties fall as they did. `long_rows`: among some 2,000 further tokens, all of
/// which are possible.
SolvedProblem directed_problem(Rng& rng, const Directed& directed, std::int64_t batch,
                               bool long_rows = false);

/// A search of rows that are worth reading by blocks, of 512 tokens or a part of them. EOS comes
/// before all others and is forbidden at first. The other tokens that can win are the first and the
/// last of each block, those beside an EOS, and those where an EOS lies in its own block. Each of
/// them is the best of an item of which no other block has anything, and in another item all that
/// its block has.
SolvedProblem blocks_problem(Rng& rng, std::int32_t policy, std::int64_t vocab,
                             const std::vector<std::int32_t>& eos);

/// A search of wide rows in which all that is among the best lies in one stretch of the vocabulary:
/// so many EOS ids before all others, then open tokens, far ahead of those elsewhere. Who shares
/// rows out by tokens has one part that all of them come from.
SolvedProblem stretch_problem(Rng& rng, std::int32_t policy, std::int64_t ids);

/// Three items of three hypotheses each, of wide rows: who shares out tokens may cut one in the
/// middle. EOS ids all over the vocabulary come before all others and are forbidden at first.
SolvedProblem cut_rows_problem(Rng& rng, std::int32_t policy);

/// Items of sums that differ, all of whose scores are 0 in the second step: the pool goes by tokens
/// then, and extensions beside a separate list by their sums all the same.
SolvedProblem equal_scores_problem(Rng& rng, std::int32_t policy, bool long_rows);

/// Items of rows in which few tokens are possible, after a first one that is so far down that a
/// float tells no sums apart that differ by less than 2, as most do: which parents go on is up to
/// float64.
SolvedProblem near_sums_problem(Rng& rng, std::int32_t policy, std::int64_t vocab);

/// Items of two or more hypotheses, whose sums are near 0. The first has many best extensions that
/// are equal; each of the others has one, which is better by less than half of what parts its
/// log-prob from the next float: what it has to exceed rounds to this log-prob.
SolvedProblem half_steps_problem(Rng& rng, std::int32_t policy, std::int64_t vocab);

/// Items whose scores are small numbers in the first step, and in the second below -1e300.
SolvedProblem vast_scores_problem(Rng& rng, std::int32_t policy);

/// Two items, of two hypotheses and of one. All are equal, and so are the best extensions of each,
/// and the next ones, of which some stay. Those of the hypothesis that comes first are the last of
/// the vocabulary, and those of the other one the first.
SolvedProblem far_equals_problem(Rng& rng, std::int32_t policy, std::int64_t vocab);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
