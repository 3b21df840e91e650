// SPDX-License-Identifier: Apache-2.0
#include "harness/run/shard.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <tuple>

#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/store/json_fields.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kShardSchema = "gauntlet.shard/1";

/// Cells of one challenge side by side, since these take about as long as each other.
auto dealing_order(const CellKey& key) {
  return std::tie(key.challenge, key.size, key.device, key.submission, key.attempt);
}

/// Sorted, and each cell once.
void deal_out(std::vector<CellKey>& plan) {
  std::sort(plan.begin(), plan.end(),
            [](const CellKey& a, const CellKey& b) { return dealing_order(a) < dealing_order(b); });
  plan.erase(std::unique(plan.begin(), plan.end()), plan.end());
}

std::optional<int> number_in(std::string_view digits) {
  int number = 0;
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

std::optional<Shard> shard_in(std::string_view word, std::string_view between) {
  const std::size_t at = word.find(between);
  if (at == std::string_view::npos) return std::nullopt;
  const auto index = number_in(word.substr(0, at));
  const auto of = number_in(word.substr(at + between.size()));
  if (!index || !of || *index < 1 || *of < *index || *of > Shard::kMost) return std::nullopt;
  return Shard{*index, *of};
}

/// Of "shard-2-of-3.json".
std::optional<Shard> shard_of_file(std::string_view name) {
  constexpr std::string_view kBefore = "shard-";
  constexpr std::string_view kBehind = ".json";
  if (!name.starts_with(kBefore) || !name.ends_with(kBehind)) return std::nullopt;
  name.remove_prefix(kBefore.size());
  name.remove_suffix(kBehind.size());
  return shard_in(name, "-of-");
}

ShardRecord shard_from_json(const std::string& text, const std::string& shown_name) {
  const JsonFields in = JsonFields::of_document(text, shown_name, kShardSchema);
  ShardRecord record;
  record.shard = Shard::named(in.text("shard"));
  record.plan = in.text("plan");
  record.planned = static_cast<std::size_t>(in.integer("planned"));
  for (const JsonFields& cell : in.list("cells")) record.cells.push_back(cell.cell_key());
  return record;
}

}  // namespace

std::string Shard::text() const {
  return fmt::format("{}/{}", index, of);
}

Shard Shard::named(const std::string& word) {
  if (const auto shard = shard_in(word, "/")) return *shard;
  throw UserError(
      fmt::format("'{}' is no shard: 2/3 is the second of three, and there are at most {}",
                  printable(word, 40), kMost));
}

std::vector<CellKey> cells_of(const Shard& shard, std::vector<CellKey> plan) {
  deal_out(plan);
  std::vector<CellKey> mine;
  for (std::size_t i = static_cast<std::size_t>(shard.index) - 1; i < plan.size();
       i += static_cast<std::size_t>(shard.of))
    mine.push_back(plan[i]);
  return mine;
}

ShardRecord record_of(const Shard& shard, const std::vector<CellKey>& plan) {
  std::vector<CellKey> all = plan;
  deal_out(all);
  Digest digest;
  digest.add("shards", std::to_string(shard.of));
  for (const CellKey& key : all) digest.add("cell", key.text());
  return {shard, digest.hex(), all.size(), cells_of(shard, plan)};
}

fs::path shard_file(const fs::path& results, const Shard& shard) {
  return results / fmt::format("shard-{}-of-{}.json", shard.index, shard.of);
}

void save_shard(const fs::path& results, const ShardRecord& record) {
  Json json{{"schema", kShardSchema},
            {"shard", record.shard.text()},
            {"plan", record.plan},
            {"planned", record.planned},
            {"cells", Json::array()}};
  for (const CellKey& key : record.cells) {
    Json cell = Json::object();
    put_cell_key(cell, key);
    json["cells"].push_back(std::move(cell));
  }
  write_file(shard_file(results, record.shard), json_text(json));
}

std::vector<ShardRecord> load_shards(const fs::path& results) {
  std::vector<ShardRecord> records;
  for (const auto& entry : fs::directory_iterator(results))
    if (shard_of_file(entry.path().filename().string()))
      records.push_back(
          shard_from_json(read_file(entry.path(), kResultFile), entry.path().string()));
  std::sort(records.begin(), records.end(), [](const ShardRecord& a, const ShardRecord& b) {
    return std::tie(a.shard.of, a.shard.index) < std::tie(b.shard.of, b.shard.index);
  });
  return records;
}

}  // namespace gauntlet
