// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/run/shard.h"

namespace gauntlet {

/// Shards of one plan.
class ShardSet {
 public:
  /// Throws UserError for a shard of another plan than those before; `where` is the folder that it
  /// was found in.
  void add(const ShardRecord& record, const std::string& where);

  /// Adds those of the same plan; others are of a run that is over.
  void add_earlier(const std::vector<ShardRecord>& records);

  std::vector<ShardRecord> records() const;  // by index

  /// A sentence for each cell that a shard was to grade and of which there is nothing, and one for
  /// all shards that are not there.
  std::vector<std::string> missing(const std::function<bool(const CellKey&)>& is_there) const;

 private:
  std::string absent_shards() const;

  std::map<int, ShardRecord> shards_;  // by index
};

}  // namespace gauntlet
