// SPDX-License-Identifier: Apache-2.0
#include "invalid_calls.h"

#include <fmt/format.h>
#include <initializer_list>
#include <limits>

#include "graders/kit/inputs.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;
using kit::kNarrowed16;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int32_t kLeast32 = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kMost32 = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kNarrowed = std::int64_t{1} << 32;  // gone where 32 bits are kept

bool has_items(const Assignment& choice) {
  return choice["batch"].least > 0;
}
bool has_steps(const Assignment& choice) {
  return has_items(choice) && choice["max_new"].least > 0;
}
/// An empty batch may come without the ids.
bool has_eos(const Assignment& choice) {
  const bool one_token = choice["vocab"].least == 1;
  if (choice.is("EOS ids", "0") || (choice.is("EOS ids", "all but one") && one_token)) return false;
  return has_items(choice) || choice.is("pointers", "given");
}
bool needs_eos(const Assignment& choice) {
  return has_items(choice) && has_eos(choice);
}

template <class Number, class Field>
InvalidGroup values(const char* argument, Field BeamArgs::*field,
                    std::initializer_list<Number> numbers, std::int64_t want = BEAM_BAD_ARGUMENT) {
  InvalidGroup group{argument, {}};
  for (const Number number : numbers)
    group.all.push_back(
        {{fmt::format("{}", number), [=](BeamArgs& a) { a.*field = static_cast<Field>(number); }},
         [](Settings&) {},
         want});
  return group;
}

void add(InvalidGroup& group, const char* name, const std::function<void(BeamArgs&)>& spoil) {
  group.all.push_back({{name, spoil}});
}

/// Below the least that it may be, also by 2^32.
InvalidGroup size_below(const char* argument, std::int64_t BeamArgs::*size, std::int64_t least) {
  InvalidGroup group = values(argument, size, {least - 1, least - 2, kLeast});
  add(group, "- 2^32", [=](BeamArgs& a) { a.*size -= kNarrowed; });
  return group;
}

/// The first, a middle or the last id, and nothing else.
InvalidGroup misplaced_eos() {
  InvalidGroup group{"EOS ids", {}, has_eos};
  const std::pair<const char*, std::size_t> places[] = {{"first", 0}, {"middle", 1}, {"last", 2}};
  for (const auto& [place, halves] : places) {
    const auto put = [&group, place = place, halves = halves](const std::string& name, auto id_of) {
      group.all.push_back({{fmt::format("{}, the {}", name, place)}, [=](Settings& settings) {
                             auto& eos = settings.eos;
                             eos[(eos.size() - 1) * halves / 2] = id_of(settings.vocab);
                           }});
    };
    put("vocab", [](std::int64_t vocab) { return static_cast<std::int32_t>(vocab); });
    for (const std::int32_t id : {-1, kLeast32, kMost32})
      put(fmt::format("{}", id), [id](std::int64_t) { return id; });
  }
  return group;
}

std::vector<InvalidGroup> missing_arrays() {
  InvalidGroup always{"arrays", {}, has_items};
  for (const char* array : {"prompt_lengths", "root_states", "root_log_probs", "hypotheses",
                            "lengths", "finished", "log_probs", "scores"})
    always.all.push_back({{.name = fmt::format("no {}", array), .missing = array}});
  InvalidGroup of_steps{"arrays of steps", {}, has_steps};
  for (const char* array : {"step", "tokens"})
    of_steps.all.push_back({{.name = fmt::format("no {}", array), .missing = array}});
  return {always, of_steps, {"eos", {{{.name = "not there", .missing = "eos"}}}, needs_eos}};
}

InvalidGroup invalid_min_new() {
  InvalidGroup group = size_below("min_new", &BeamArgs::min_new, 0);
  add(group, "max_new + 1", [](BeamArgs& a) { a.min_new = a.max_new + 1; });
  add(group, "+ 2^32", [](BeamArgs& a) { a.min_new += kNarrowed; });
  add(group, "largest", [](BeamArgs& a) { a.min_new = kMost; });
  return group;
}

InvalidGroup invalid_n_return() {
  InvalidGroup group = size_below("n_return", &BeamArgs::n_return, 1);
  add(group, "beam + 1", [](BeamArgs& a) { a.n_return = a.beam + 1; });
  add(group, "+ 2^32", [](BeamArgs& a) { a.n_return += kNarrowed; });
  add(group, "largest", [](BeamArgs& a) { a.n_return = kMost; });
  return group;
}

}  // namespace

std::vector<InvalidGroup> invalid_calls() {
  const double infinity = kit::kInfinity;
  const double nan = kit::kNan;
  std::vector<InvalidGroup> all{
      size_below("batch", &BeamArgs::batch, 0),
      size_below("beam", &BeamArgs::beam, 1),
      size_below("vocab", &BeamArgs::vocab, 1),
      size_below("max_new", &BeamArgs::max_new, 0),
      invalid_min_new(),
      invalid_n_return(),
      size_below("eos_count", &BeamArgs::eos_count, 0),
      misplaced_eos(),
      values("alpha", &BeamArgs::alpha, {infinity, -infinity, nan, -nan}),
      values("penalty", &BeamArgs::penalty, {-1, 3, 256, kNarrowed16, kLeast32, kMost32}),
      values("policy", &BeamArgs::policy, {-1, 2, 256, kNarrowed16, kLeast32, kMost32}),
      values("stop", &BeamArgs::stop, {-1, 3, 256, kNarrowed16, kLeast32, kMost32}),
      values("threads", &BeamArgs::num_threads, {0, -1, kLeast32, 1 - kNarrowed16}),
      values("abi", &BeamArgs::abi_version, {0, 2, -1, 257, 1 + kNarrowed16}, BEAM_UNSUPPORTED),
      values("device", &BeamArgs::device, {1, 2, -1, 256, kNarrowed16}, BEAM_UNSUPPORTED)};
  for (InvalidGroup& group : missing_arrays()) all.push_back(std::move(group));
  return all;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
