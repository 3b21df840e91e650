// SPDX-License-Identifier: Apache-2.0
#include "harness/run/shard_set.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace gauntlet {

void ShardSet::add(const ShardRecord& record, const std::string& where) {
  if (!shards_.empty() && shards_.begin()->second.plan != record.plan)
    throw UserError(
        fmt::format("{}: shard {} is of another plan than shard {}: all have to be asked for the "
                    "same submissions and challenges, in as many shards",
                    where, record.shard.text(), shards_.begin()->second.shard.text()));
  shards_.emplace(record.shard.index, record);
}

void ShardSet::add_earlier(const std::vector<ShardRecord>& records) {
  for (const ShardRecord& record : records)
    if (shards_.empty() || record.plan == shards_.begin()->second.plan)
      shards_.emplace(record.shard.index, record);
}

std::vector<ShardRecord> ShardSet::records() const {
  std::vector<ShardRecord> all;
  for (const auto& [index, record] : shards_) all.push_back(record);
  return all;
}

std::vector<std::string> ShardSet::missing(
    const std::function<bool(const CellKey&)>& is_there) const {
  std::vector<std::string> sentences;
  for (const auto& [index, record] : shards_)
    for (const CellKey& key : record.cells)
      if (!is_there(key))
        sentences.push_back(fmt::format("{}: shard {} was to grade it, and there is no grade",
                                        key.text(), record.shard.text()));
  if (std::string absent = absent_shards(); !absent.empty()) sentences.push_back(std::move(absent));
  return sentences;
}

std::string ShardSet::absent_shards() const {
  if (shards_.empty()) return "";
  const ShardRecord& any = shards_.begin()->second;
  std::vector<std::string> absent;
  for (int i = 1; i <= any.shard.of; ++i)
    if (!shards_.contains(i)) absent.push_back(Shard{i, any.shard.of}.text());
  if (absent.empty()) return "";
  std::size_t known = 0;
  for (const auto& [index, record] : shards_) known += record.cells.size();
  return fmt::format("{} of the {} planned cells: nobody handed in {} {}",
                     any.planned - std::min(known, any.planned), any.planned,
                     absent.size() == 1 ? "shard" : "shards", sentence_list(absent));
}

}  // namespace gauntlet
