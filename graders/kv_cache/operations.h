// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cache.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// One step of a random life of a cache. What it means depends on the state that it meets, so that
/// it still means something when other steps are taken out.
struct Operation {
  enum Kind { append, append_two, fork, branch, truncate, free, attend, read, kinds };
  Kind kind = append;
  std::int64_t a = 0;  // sequences
  std::int64_t b = 0;
  std::int64_t tokens = 0;  // new, dropped, or queries
  std::int64_t more = 0;    // of the second sequence
  Seed seed;                // of its numbers

  bool operator==(const Operation&) const = default;
};

/// What it must lead to is judged by the cache.
void perform(Cache& cache, const Operation& operation);

std::vector<Operation> draw_operations(Rng& rng, const Setup& setup, std::int64_t count);

/// Does them to a new cache, and reads everything at the end. Returns how that failed, if it did:
/// the summary of the fault, and as evidence every step.
std::optional<Finding> play(Probe& probe, const Setup& setup,
                            const std::vector<Operation>& operations, const Seed& seed);

/// Takes out operations and tokens as long as `fails` stays true, trying it at most `budget` times.
/// What is returned fails.
std::vector<Operation> shrink(std::vector<Operation> operations,
                              const std::function<bool(const std::vector<Operation>&)>& fails,
                              int budget);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
