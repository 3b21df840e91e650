// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cache.h"
#include "graders/kit/domain.h"

/// Caches, questions and merges of given classes.
namespace gauntlet::GAUNTLET_CHALLENGE {

/// How a cache comes to be: its sizes, and how many tokens each sequence is given.
struct Life {
  Setup setup;
  Ids lengths;
};
Life life_of(const kit::Assignment& choice, Rng& rng);

/// Tokens whose numbers are of the classes; the first is spoilt where they say so.
Tokens tokens_of(const kit::Assignment& choice, Rng& rng, const Setup& setup, std::int64_t tokens);

/// What is asked of the cache as it is then.
Problem problem_of(const kit::Assignment& choice, Rng& rng, const Cache& cache);

/// Partial results of the classes of the merge domain, and how they are put to the solution.
Parts parts_of(const kit::Assignment& choice, Rng& rng);
CallOptions merge_options_of(const kit::Assignment& choice, Rng& rng);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
