// SPDX-License-Identifier: Apache-2.0
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <map>

#include "harness/build/cache_contents.h"
#include "harness/cli/cache_explain.h"
#include "harness/cli/quantities.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/text.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

/// What people call the entries of a kind.
std::string kind_of(const CacheEntry& entry) {
  static const std::map<std::string, std::string> layers{
      {"solution", "solutions"},
      {"cuda", "solutions for CUDA"},
      {"tests", "tests of solutions"},
      {"assembly", "subjects of tests and audits, compiled"},
      {"subject", "subjects of tests and audits, linked"},
      {"headers", "precompiled headers"}};
  switch (entry.kind) {
    case CacheEntry::Kind::wild:
      return "wild mutants";
    case CacheEntry::Kind::unusable:
      return "of another key format, or damaged";
    case CacheEntry::Kind::unfinished:
      return "left by killed runs";
    case CacheEntry::Kind::build:
      break;
  }
  const auto known = layers.find(entry.layer);
  return known == layers.end() ? entry.layer : known->second;
}

std::string date_of(const fs::file_time_type& time) {
  const auto seconds =
      std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::file_clock::to_sys(time));
  return fmt::format("{:%F}", fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)));
}

struct Amount {
  std::size_t entries = 0;
  std::uint64_t bytes = 0;
  fs::file_time_type last_use = fs::file_time_type::min();

  void add(const CacheEntry& entry) {
    ++entries;
    bytes += entry.bytes;
    last_use = std::max(last_use, entry.last_use);
  }
};

std::map<std::string, Amount> by_kind(const std::vector<CacheEntry>& entries) {
  std::map<std::string, Amount> kinds;
  for (const CacheEntry& entry : entries) kinds[kind_of(entry)].add(entry);
  return kinds;
}

std::string table_of(const std::map<std::string, Amount>& kinds) {
  std::vector<std::vector<std::string>> rows{{"Kind", "Entries", "Size", "Last used"}};
  Amount all;
  for (const auto& [kind, amount] : kinds) {
    rows.push_back(
        {kind, std::to_string(amount.entries), size_text(amount.bytes), date_of(amount.last_use)});
    all.entries += amount.entries;
    all.bytes += amount.bytes;
  }
  rows.push_back({"all", std::to_string(all.entries), size_text(all.bytes), ""});
  return aligned(rows);
}

Json kinds_document(const std::map<std::string, Amount>& kinds) {
  Json list = Json::array();
  for (const auto& [kind, amount] : kinds)
    list.push_back({{"kind", kind},
                    {"entries", amount.entries},
                    {"bytes", amount.bytes},
                    {"last_used", date_of(amount.last_use)}});
  return list;
}

/// Observations, scores and receipts, of which nothing is pruned.
Amount results_in(const Context& context) {
  const ResultStore store = context.store();
  Amount results;
  for (const CellKey& key : store.keys()) {
    std::error_code none;
    if (!fs::exists(store.observation_file(key), none)) continue;
    ++results.entries;
    for (const fs::path& file :
         {store.observation_file(key), store.score_file(key), store.receipt_file(key)})
      if (const auto size = fs::file_size(file, none); !none) results.bytes += size;
  }
  return results;
}

VerbResult contents(const Context& context) {
  const fs::path& folder = context.environment.cache;
  const auto kinds = by_kind(cache_contents(folder));
  const Amount results = results_in(context);
  VerbResult answer;
  answer.text = fmt::format(
      "{}\n{}\n{}\n{} results, {}; they are never pruned\n"
      "Next: ./gauntlet cache explain MODEL CHALLENGE, ./gauntlet cache prune --older-than 30d\n",
      folder.string(), kinds.empty() ? "nothing is kept yet\n" : table_of(kinds),
      context.results.string(), results.entries, size_text(results.bytes));
  answer.document = {{"schema", "gauntlet.cache/1"},
                     {"folder", folder.string()},
                     {"kinds", kinds_document(kinds)},
                     {"results",
                      {{"folder", context.results.string()},
                       {"entries", results.entries},
                       {"bytes", results.bytes}}}};
  return answer;
}

VerbResult prune(const Context& context, const CacheOptions& options) {
  PruneRule rule;
  if (!options.older_than.empty()) rule.older_than = parse_age("--older-than", options.older_than);
  if (!options.max_size.empty()) rule.most_bytes = parse_size("--max-size", options.max_size);
  const Pruned pruned = prune_cache(context.environment.cache, rule, options.write);
  const auto kinds = by_kind(pruned.entries);
  VerbResult answer;
  if (!kinds.empty())
    answer.text = (options.write ? "Removed:\n" : "To be removed:\n") + table_of(kinds);
  if (pruned.in_use > 0)
    answer.text +=
        fmt::format("{} more may be in use by a gauntlet that runs, and stay\n", pruned.in_use);
  answer.text +=
      fmt::format("{} {} in {}.\n", size_text(pruned.bytes_left),
                  options.write ? "are left" : "would be left", context.environment.cache.string());
  if (!options.write && !kinds.empty())
    answer.text += "Nothing was removed: --write does what is listed.\n";
  answer.document = {{"schema", "gauntlet.cache-prune/1"},
                     {"written", options.write},
                     {"kinds", kinds_document(kinds)},
                     {"bytes_left", pruned.bytes_left},
                     {"in_use", pruned.in_use}};
  return answer;
}

/// A wish that the verb would pass over is a mistake.
void require_none(const std::string& what, bool prunes, const CacheOptions& options) {
  if (!prunes && (options.write || !options.older_than.empty() || !options.max_size.empty()))
    throw UserError("--older-than, --max-size and --write belong to ./gauntlet cache prune");
  if (what != "explain" && !options.submission.empty())
    throw UserError(fmt::format("cache {} takes no '{}'; see ./gauntlet help cache", what,
                                printable(options.submission, 80)));
}

}  // namespace

VerbResult cache(const Context& context, const CacheOptions& options) {
  const std::vector<std::string> known{"explain", "prune"};
  if (!options.what.empty() && !contains(known, options.what))
    throw UserError(fmt::format("cache does not know '{}'{}; known: {}",
                                printable(options.what, 80), did_you_mean(options.what, known),
                                sentence_list(known)));
  require_none(options.what, options.what == "prune", options);
  if (options.what == "prune") return prune(context, options);
  if (options.what.empty()) return contents(context);
  if (options.challenge.empty())
    throw UserError(
        "cache explain: name a submission and a challenge: ./gauntlet cache explain "
        "MODEL CHALLENGE");
  return explain_cell(context, options.submission, options.challenge);
}

}  // namespace gauntlet
