// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/attention_refusals.h"

namespace gauntlet::kit {
namespace {

constexpr std::int32_t kLeast32 = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kLargest32 = std::numeric_limits<std::int32_t>::max();

using Numbers = std::vector<std::int32_t>;
using OfEntry = std::function<void(std::int32_t& start, std::int32_t& length, std::int32_t keys)>;

/// Lists of what exists, also where the problem has none, but for one entry.
Misplace in_entry(double place, const OfEntry& spoil) {
  return [=](AttentionProblem& form) {
    Numbers starts, lengths;
    for (std::int64_t b = 0; b < form.batch; ++b) {
      const KeyRange keys = form.existing_keys(b);
      starts.push_back(static_cast<std::int32_t>(keys.first));
      lengths.push_back(static_cast<std::int32_t>(keys.size()));
    }
    const auto at = static_cast<std::size_t>(place * static_cast<double>(form.batch - 1));
    spoil(starts[at], lengths[at], static_cast<std::int32_t>(form.k_len));
    form.kv_start = std::move(starts);
    form.kv_len = std::move(lengths);
  };
}

/// One list, whose last entry is wrong, without the other.
Misplace alone(Numbers AttentionProblem::*list, std::int32_t (*of_keys)(std::int32_t)) {
  return [=](AttentionProblem& form) {
    form.kv_start.clear();
    form.kv_len.clear();
    (form.*list).assign(static_cast<std::size_t>(form.batch), 0);
    (form.*list).back() = of_keys(static_cast<std::int32_t>(form.k_len));
  };
}

std::int32_t minus_one(std::int32_t) {
  return -1;
}
std::int32_t one_more(std::int32_t keys) {
  return keys + 1;
}

}  // namespace

std::vector<ListFlaw> list_flaws() {
  const std::pair<const char*, OfEntry> of_entry[] = {
      {"kv_start -1", [](auto& start, auto& length, auto) { start = -1, length = 0; }},
      {"kv_start least", [](auto& start, auto&, auto) { start = kLeast32; }},
      {"kv_start k_len + 1",
       [](auto& start, auto& length, auto keys) { start = keys + 1, length = 0; }},
      {"kv_len -1", [](auto& start, auto& length, auto keys) { start = keys, length = -1; }},
      {"kv_len least", [](auto&, auto& length, auto) { length = kLeast32; }},
      {"one key too many", [](auto& start, auto& length, auto keys) { length = keys - start + 1; }},
      {"kv_start + kv_len 2^31",
       [](auto& start, auto& length, auto) { start = 1, length = kLargest32; }},
      {"kv_start + kv_len 2^32 - 2",
       [](auto& start, auto& length, auto) { start = length = kLargest32; }}};
  constexpr std::pair<const char*, double> kPlaces[] = {{"first", 0}, {"middle", 0.5}, {"last", 1}};
  std::vector<ListFlaw> all;
  for (const auto& [name, spoil] : of_entry)
    for (const auto& [place, share] : kPlaces)
      all.push_back({fmt::format("{}, {} entry", name, place), in_entry(share, spoil)});
  all.push_back({"kv_start -1, no kv_len", alone(&AttentionProblem::kv_start, minus_one)});
  all.push_back({"kv_start k_len + 1, no kv_len", alone(&AttentionProblem::kv_start, one_more)});
  all.push_back({"kv_len -1, no kv_start", alone(&AttentionProblem::kv_len, minus_one)});
  all.push_back({"kv_len k_len + 1, no kv_start", alone(&AttentionProblem::kv_len, one_more)});
  return all;
}

bool keeps_struct(const AttentionProblem& form, const Misplace& misplace) {
  if (!misplace) return false;
  AttentionProblem spoilt = form;
  misplace(spoilt);
  return spoilt.kv_start.empty() == form.kv_start.empty() &&
         spoilt.kv_len.empty() == form.kv_len.empty();
}

}  // namespace gauntlet::kit
