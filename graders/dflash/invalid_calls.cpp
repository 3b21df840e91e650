// SPDX-License-Identifier: Apache-2.0
#include "invalid_calls.h"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <limits>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;
using kit::kNarrowed16;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int32_t kLeast32 = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kMost32 = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kNarrowed = std::int64_t{1} << 32;  // gone where 32 bits are kept
constexpr const char* kPlaceNames[kPlaces] = {"first", "middle", "last"};

bool has_trees(const Assignment& choice) {
  return choice["trees"].least > 0;
}
bool has_nodes(const Assignment& choice) {
  return has_trees(choice) && choice["nodes"].least > 0;
}
bool has_requests(const Assignment& choice) {
  return choice["requests"].least > 0;
}

template <class Made>
using Numbers = decltype(Made::args);

template <class Made, class Field>
InvalidGroup<Made> values(const char* argument, Field Numbers<Made>::*field,
                          std::initializer_list<Field> numbers, std::int64_t want) {
  InvalidGroup<Made> group{argument, {}, want};
  for (const Field number : numbers)
    group.flaws.push_back({fmt::format("{}", number), [=](Made& c) { c.args.*field = number; }});
  return group;
}

/// Below the least that it may be, also by 2^32.
template <class Made>
InvalidGroup<Made> size_below(const char* argument, std::int64_t Numbers<Made>::*size,
                              std::int64_t least) {
  auto group = values<Made>(argument, size, {least - 1, least - 2, kLeast}, DFLASH_BAD_ARGUMENT);
  group.flaws.push_back({"- 2^32", [=](Made& c) { c.args.*size -= kNarrowed; }});
  return group;
}

/// What all functions refuse in the same way.
template <class Made>
std::vector<InvalidGroup<Made>> headers() {
  using Args = Numbers<Made>;
  return {
      values<Made>("abi", &Args::abi_version, {0, 2, -1, 257, 1 + kNarrowed16}, DFLASH_UNSUPPORTED),
      values<Made>("device", &Args::device, {1, 2, -1, 256, kNarrowed16}, DFLASH_UNSUPPORTED),
      values<Made>("threads", &Args::num_threads, {0, -1, kLeast32, 1 - kNarrowed16},
                   DFLASH_BAD_ARGUMENT)};
}

template <class What>
void add_at_places(InvalidGroup<What>& group, const std::string& name,
                   const std::function<void(What&, std::size_t place)>& spoil) {
  for (std::size_t place = 0; place < kPlaces; ++place)
    group.flaws.push_back({fmt::format("{}, the {}", name, kPlaceNames[place]),
                           [=](What& what) { spoil(what, place); }});
}

/// Negative, also where 32 bits are kept, in one place of a list.
template <class Made>
InvalidGroup<Made> negative(const char* argument, std::vector<std::int64_t> Made::*list,
                            std::function<bool(const Assignment&)> beside) {
  InvalidGroup<Made> group{argument, {}, DFLASH_BAD_ARGUMENT, std::move(beside)};
  for (const std::int64_t number : {std::int64_t{-1}, kLeast, -kNarrowed, 5 - kNarrowed})
    add_at_places<Made>(group, fmt::format("{}", number), [=](Made& c, std::size_t place) {
      auto& numbers = c.*list;
      numbers[at_place(place, numbers.size())] = number;
    });
  return group;
}

/// Nothing is wrong with parents wherever a tree begins.
void flatten(JoinedTrees& trees) {
  std::ranges::fill(trees.parent, -1);
}

template <class Made>
InvalidGroup<Made> first_start() {
  InvalidGroup<Made> group{"the first start"};
  for (const std::int64_t start : {std::int64_t{1}, std::int64_t{-1}, kNarrowed, kLeast})
    group.flaws.push_back({fmt::format("{}", start), [=](Made& c) {
                             flatten(c.trees);
                             c.trees.node_start[0] = start;
                           }});
  return group;
}

template <class Made>
InvalidGroup<Made> descending_starts() {
  InvalidGroup<Made> group{"a start", {}, DFLASH_BAD_ARGUMENT, has_trees};
  for (const std::int64_t back : {std::int64_t{1}, kNarrowed})
    add_at_places<Made>(group, fmt::format("{} back", back), [=](Made& c, std::size_t place) {
      flatten(c.trees);
      auto& start = c.trees.node_start;
      const std::size_t t = at_place(place, start.size() - 1);
      start[t + 1] = start[t] - back;
    });
  // Such that the difference is positive again in 64 bits, where there is any node before it.
  add_at_places<Made>(group, "least", [](Made& c, std::size_t place) {
    flatten(c.trees);
    auto& start = c.trees.node_start;
    start[at_place(place, start.size() - 1) + 1] = kLeast;
  });
  return group;
}

/// Below a start that is beyond all nodes, all are ascending but for the next one. As many nodes as
/// a tree may have end there, none of which is in the array.
template <class Made>
InvalidGroup<Made> starts_beyond_all() {
  InvalidGroup<Made> group{
      "a start beyond all nodes", {}, DFLASH_BAD_ARGUMENT, [](const Assignment& choice) {
        return choice["trees"].least > 1;
      }};
  add_at_places<Made>(group, "+ 40,000", [](Made& c, std::size_t place) {
    flatten(c.trees);
    auto& start = c.trees.node_start;
    start[at_place(place, start.size() - 2) + 1] = start.back() + 40'000;
  });
  return group;
}

/// Parents that are none, by the number of the node in its tree and among all nodes.
template <class Made>
InvalidGroup<Made> parents() {
  InvalidGroup<Made> group{"a parent", {}, DFLASH_BAD_ARGUMENT, has_nodes};
  using Parent = std::int64_t (*)(std::int64_t node, std::int64_t of_all, std::int64_t parent);
  constexpr std::pair<const char*, Parent> kParents[] = {
      {"itself", [](std::int64_t node, auto, auto) { return node; }},
      {"the next", [](std::int64_t node, auto, auto) { return node + 1; }},
      {"counted through all trees",
       [](std::int64_t node, auto of_all, auto) { return std::max(node, of_all - 1); }},
      {"below the root", [](auto, auto, auto) -> std::int64_t { return -2; }},
      {"least", [](auto, auto, auto) -> std::int64_t { return kLeast32; }},
      {"largest", [](auto, auto, auto) -> std::int64_t { return kMost32; }},
      {"+ 2^16", [](auto, auto, std::int64_t parent) { return parent + kNarrowed16; }},
      {"- 2^16", [](auto, auto, std::int64_t parent) { return parent - kNarrowed16; }}};
  for (const auto& [name, of] : kParents)
    add_at_places<Made>(group, name, [of = of](Made& c, std::size_t place) {
      const std::size_t i = at_place(place, c.trees.parent.size());
      const auto& start = c.trees.node_start;
      const auto of_all = static_cast<std::int64_t>(i);
      const std::int64_t begin = *std::prev(std::ranges::upper_bound(start, of_all));
      std::int32_t& parent = c.trees.parent[i];
      parent = static_cast<std::int32_t>(of(of_all - begin, of_all, parent));
    });
  return group;
}

template <class Made>
std::vector<InvalidGroup<Made>> tree_groups() {
  std::vector<InvalidGroup<Made>> all = headers<Made>();
  all.push_back(size_below<Made>("num_trees", &Numbers<Made>::num_trees, 0));
  all.push_back(first_start<Made>());
  all.push_back(descending_starts<Made>());
  all.push_back(starts_beyond_all<Made>());
  all.push_back(parents<Made>());
  return all;
}

/// Also such that 64 times as many are none or enough again.
std::vector<InvalidGroup<BuildCall>> mask_words() {
  InvalidGroup<BuildCall> too_few{"words for the widest tree", {}, DFLASH_BAD_ARGUMENT, has_trees};
  too_few.flaws = {
      {"one too few", [](BuildCall& c) { c.args.mask_words = (c.trees.widest + 63) / 64 - 1; }},
      {"none", [](BuildCall& c) { c.args.mask_words = 0; }}};
  auto negative_words = size_below<BuildCall>("mask_words", &DflashBuildArgs::mask_words, 0);
  negative_words.flaws.push_back(
      {"+ the least", [](BuildCall& c) { c.args.mask_words += kLeast; }});
  return {negative_words, too_few};
}

InvalidGroup<VerifyCall> strides() {
  InvalidGroup<VerifyCall> group{"logits_stride and vocab"};
  group.always = {{{"trees", {"1"}}, {"nodes", {"0"}}}};  // a stride with nothing to stride over
  group.flaws = {
      {"stride vocab - 1", [](VerifyCall& c) { c.args.logits_stride = c.args.vocab - 1; }},
      {"stride 0", [](VerifyCall& c) { c.args.logits_stride = 0; }},
      {"stride -vocab", [](VerifyCall& c) { c.args.logits_stride = -c.args.vocab; }},
      {"stride least", [](VerifyCall& c) { c.args.logits_stride = kLeast; }},
      {"stride - 2^32", [](VerifyCall& c) { c.args.logits_stride = c.args.vocab - kNarrowed; }},
      {"vocab stride + 1", [](VerifyCall& c) { c.args.vocab = c.args.logits_stride + 1; }},
      {"vocab as it is in 32 bits, beyond the stride",
       [](VerifyCall& c) {
         const std::int64_t spare = c.args.logits_stride - c.args.vocab;
         c.args.vocab += (spare / kNarrowed + 1) * kNarrowed;
       }},
      {"vocab largest", [](VerifyCall& c) { c.args.vocab = kMost; }}};
  return group;
}

InvalidGroup<GenerateCall> emit_strides() {
  InvalidGroup<GenerateCall> group{"emit_stride", {}, DFLASH_BAD_ARGUMENT, has_requests};
  group.flaws = {{"one too few",
                  [](GenerateCall& c) { c.args.emit_stride = std::ranges::max(c.max_new) - 1; }},
                 {"-1", [](GenerateCall& c) { c.args.emit_stride = -1; }},
                 {"least", [](GenerateCall& c) { c.args.emit_stride = kLeast; }},
                 {"- 2^32", [](GenerateCall& c) {
                    c.args.emit_stride = std::ranges::max(c.max_new) - kNarrowed;
                  }}};
  return group;
}

InvalidGroup<GenerateCall> limits_beyond() {
  InvalidGroup<GenerateCall> group{"max_new beyond", {}, DFLASH_BAD_ARGUMENT, has_requests};
  using Limit = std::int64_t (*)(std::int64_t stride);
  constexpr std::pair<const char*, Limit> kLimits[] = {
      {"emit_stride + 1", [](std::int64_t stride) { return stride + 1; }},
      {"emit_stride + 2^32", [](std::int64_t stride) { return stride + kNarrowed; }},
      {"largest", [](std::int64_t) { return kMost; }}};
  for (const auto& [name, of] : kLimits)
    add_at_places<GenerateCall>(group, name, [of = of](GenerateCall& c, std::size_t place) {
      c.max_new[at_place(place, c.max_new.size())] = of(c.args.emit_stride);
    });
  return group;
}

InvalidGroup<GenerateCall> first_prompt() {
  InvalidGroup<GenerateCall> group{"the first prompt's start"};
  for (const std::int64_t start : {std::int64_t{1}, std::int64_t{-1}, kNarrowed, kLeast})
    group.flaws.push_back(
        {fmt::format("{}", start), [=](GenerateCall& c) { c.prompt_start[0] = start; }});
  return group;
}

InvalidGroup<GenerateCall> empty_prompts() {
  InvalidGroup<GenerateCall> group{"a prompt", {}, DFLASH_BAD_ARGUMENT, has_requests};
  for (const std::int64_t tokens : {std::int64_t{0}, std::int64_t{-1}, -kNarrowed})
    add_at_places<GenerateCall>(group, fmt::format("of {} tokens", tokens),
                                [=](GenerateCall& c, std::size_t place) {
                                  auto& start = c.prompt_start;
                                  const std::size_t r = at_place(place, start.size() - 1);
                                  start[r + 1] = start[r] + tokens;
                                });
  return group;
}

/// So that the next prompt has less than no token.
InvalidGroup<GenerateCall> prompts_beyond_all() {
  InvalidGroup<GenerateCall> group{
      "a prompt beyond all tokens", {}, DFLASH_BAD_ARGUMENT, [](const Assignment& choice) {
        return choice["requests"].least > 1;
      }};
  for (const std::int64_t tokens : {std::int64_t{40'000}, kNarrowed})
    add_at_places<GenerateCall>(
        group, fmt::format("by {}", tokens), [=](GenerateCall& c, std::size_t place) {
          auto& start = c.prompt_start;
          start[at_place(place, start.size() - 2) + 1] = start.back() + tokens;
        });
  return group;
}

bool is_drafted(const Assignment& choice) {
  return has_requests(choice) && choice["max_new"].least > 0;
}

InvalidGroup<DraftAnswer> wrong_counts() {
  InvalidGroup<DraftAnswer> group{"nodes of a draft", {}, DFLASH_BAD_ARGUMENT, is_drafted};
  using Count = std::int64_t (*)(std::int64_t budget);
  constexpr std::pair<const char*, Count> kCounts[] = {
      {"one more than asked for", [](std::int64_t budget) { return budget + 1; }},
      {"2^32", [](std::int64_t) { return kNarrowed; }},
      {"2^32 + budget", [](std::int64_t budget) { return kNarrowed + budget; }},
      {"largest", [](std::int64_t) { return kMost; }},
      {"-1", [](std::int64_t) -> std::int64_t { return -1; }},
      {"least", [](std::int64_t) { return kLeast; }}};
  for (const auto& [name, of] : kCounts)
    group.flaws.push_back({name, [of = of](DraftAnswer& answer) {
                             answer.raw.array<std::int64_t>(3)[answer.k] = of(answer.ask.budget);
                           }});
  return group;
}

InvalidGroup<DraftAnswer> wrong_parents() {
  InvalidGroup<DraftAnswer> group{
      "parents of a draft", {}, DFLASH_BAD_ARGUMENT, [](const Assignment& choice) {
        return is_drafted(choice) && choice["budget"].least > 0;
      }};
  using Parent = std::int32_t (*)(std::int32_t node);
  constexpr std::pair<const char*, Parent> kParents[] = {
      {"itself", [](std::int32_t node) { return node; }},
      {"the next", [](std::int32_t node) { return node + 1; }},
      {"below the root", [](std::int32_t) { return -2; }},
      {"least", [](std::int32_t) { return kLeast32; }},
      {"largest", [](std::int32_t) { return kMost32; }},
      {"root - 2^16", [](std::int32_t) { return -1 - kNarrowed16; }}};
  for (const auto& [name, of] : kParents)
    add_at_places<DraftAnswer>(group, name, [of = of](DraftAnswer& answer, std::size_t place) {
      std::int64_t& nodes = answer.raw.array<std::int64_t>(3)[answer.k];
      nodes = std::max<std::int64_t>(nodes, 1);
      if (answer.ask.budget == 0) return;  // one more than asked for
      const std::size_t node = at_place(place, static_cast<std::size_t>(nodes));
      answer.raw.array<std::int32_t>(
          4)[answer.k * static_cast<std::size_t>(answer.ask.budget) + node] =
          of(static_cast<std::int32_t>(node));
    });
  return group;
}

}  // namespace

std::vector<InvalidGroup<BuildCall>> invalid_builds() {
  auto all = tree_groups<BuildCall>();
  for (auto& group : mask_words()) all.push_back(std::move(group));
  all.push_back(negative("context_length", &BuildCall::context_length, has_trees));
  return all;
}

std::vector<InvalidGroup<VerifyCall>> invalid_verifies() {
  auto all = tree_groups<VerifyCall>();
  all.push_back(size_below<VerifyCall>("vocab", &DflashVerifyArgs::vocab, 1));
  all.push_back(size_below<VerifyCall>("num_eos", &DflashVerifyArgs::num_eos, 0));
  all.push_back(strides());
  all.push_back(negative("max_emit", &VerifyCall::max_emit, has_trees));
  return all;
}

std::vector<InvalidGroup<GenerateCall>> invalid_generates() {
  auto all = headers<GenerateCall>();
  all.push_back(size_below<GenerateCall>("num_requests", &DflashGenerateArgs::num_requests, 0));
  all.push_back(size_below<GenerateCall>("vocab", &DflashGenerateArgs::vocab, 1));
  all.push_back(size_below<GenerateCall>("num_eos", &DflashGenerateArgs::num_eos, 0));
  all.push_back(size_below<GenerateCall>("draft_budget", &DflashGenerateArgs::draft_budget, 0));
  all.push_back(negative("max_new", &GenerateCall::max_new, has_requests));
  for (auto& group :
       {emit_strides(), limits_beyond(), first_prompt(), empty_prompts(), prompts_beyond_all()})
    all.push_back(group);
  return all;
}

std::vector<InvalidGroup<DraftAnswer>> invalid_drafts() {
  return {wrong_counts(), wrong_parents()};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
