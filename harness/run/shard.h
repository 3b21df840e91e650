// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/cell_key.h"

namespace gauntlet {

/// One of `of` parts of a plan, counted from 1.
struct Shard {
  int index = 1;
  int of = 1;

  static constexpr int kMost = 10'000;

  bool operator==(const Shard&) const = default;
  std::string text() const;  // "2/3"

  /// Throws UserError for a word that is no "2/3".
  static Shard named(const std::string& word);
};

/// The cells of `plan` that are a shard's, sorted. Cells are dealt challenge by challenge, so that
/// all shards have as many of each, give or take one; which cell is whose follows from the plan as
/// a set, and every cell is in exactly one shard.
std::vector<CellKey> cells_of(const Shard& shard, std::vector<CellKey> plan);

/// What a run of a shard leaves beside its results, so that whoever joins them knows what is
/// missing.
struct ShardRecord {
  Shard shard;
  std::string plan;            // digest of the whole plan: shards with the same one belong together
  std::size_t planned = 0;     // cells of all shards
  std::vector<CellKey> cells;  // of this one
};
ShardRecord record_of(const Shard& shard, const std::vector<CellKey>& plan);

/// <results>/shard-2-of-3.json, schema "gauntlet.shard/1".
std::filesystem::path shard_file(const std::filesystem::path& results, const Shard& shard);
void save_shard(const std::filesystem::path& results, const ShardRecord& record);

/// All that lie in the folder, by shard. Throws UserError for one that cannot be read.
std::vector<ShardRecord> load_shards(const std::filesystem::path& results);

}  // namespace gauntlet
