// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/seed.h"
#include "harness/store/cache_key.h"
#include "harness/store/result_store.h"

namespace gauntlet {

/// Everything that an observation of a cell depends on.
struct ReuseKey {
  std::string submission_digest;
  std::string grader_digest;
  std::string compiler;
  std::string flags;
  std::string cpu;
  int cores = 0;
  std::optional<Seed> seed;  // absent: the run would draw one
  Device device = Device::cpu;
  std::string sandbox;                 // the walls that hold now
  std::vector<FileDigest> files = {};  // that submission_digest is over
  std::string contract_digest = {};
  /// Of a cluster's nodes, which are other machines than this one: asked instead of `cpu` and
  /// `cores`. Absent: it would be graded here.
  std::optional<std::string> constraint = {};
};

/// A stored observation that its receipt vouches for.
struct ProvenCell {
  CellObservation observation;
  bool seed_drawn = true;
  std::string interrupted =
      {};  // a run since then did not end, in words; empty when none was begun
};

/// What the store holds of a cell, if nothing in it contradicts its receipt. Nothing, with a
/// sentence in `why_not`, when it was never graded, when there is no receipt, when that is not
/// signed or is of something else, or when a file cannot be read.
std::optional<ProvenCell> load_proven(const ResultStore& store, const CellKey& key,
                                      std::string& why_not);

/// Everything that is stored, as ResultStore::load_all, with what no receipt vouches for marked so.
std::vector<CellObservation> load_all_marked(const ResultStore& store,
                                             const ResultStore::Wanted& wanted = {});

/// The key of what would be observed now. Its field "submission" stands before those of its files.
CacheKey observation_key(const ReuseKey& wanted);

/// The key of a stored observation, for a comparison with what is wanted: a seed or a sandbox that
/// may stand for the wanted one is written as that.
CacheKey observation_key(const ProvenCell& stored, const ReuseKey& wanted);

/// Why a stored observation does not answer for the cell that `wanted` describes, as a sentence:
/// "the compiler changed: g++ 12.2.0 -> g++ 13.1.0". Nothing when it does. Observations that blame
/// the place or the moment (broken, unmeasured, timed_out) never do, but for kNoGpu. Nor do those
/// of a sandbox that lacked a wall which holds now; one with more walls took nothing from the
/// solution that this one gives. A chosen seed answers only for the run that chooses it again. None
/// answers where a run was begun since that has not ended: whoever kills a run that goes badly does
/// not keep the grade before it.
std::optional<std::string> why_not_reusable(const ProvenCell& stored, const ReuseKey& wanted);

}  // namespace gauntlet
