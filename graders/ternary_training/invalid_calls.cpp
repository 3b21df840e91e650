// SPDX-License-Identifier: Apache-2.0
#include "invalid_calls.h"

#include <algorithm>
#include <span>

#include "graders/kit/inputs.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kNarrowed = std::int64_t{1} << 32;  // gone where 32 bits are kept

/// Below 1, also by 2^32.
template <class Group, class Args>
Group size_below_one(const char* argument, std::int64_t Args::*size) {
  Group group = values<Group>(argument, size, {std::int64_t{0}, std::int64_t{-1}, kLeast});
  add(group, "- 2^32", [=](Args& a) { a.*size -= kNarrowed; });
  return group;
}

// ---------------------------------------------------------------- matrices

template <class Group, class Args>
std::vector<Group> of_matrices() {
  std::vector<Group> all = of_all_functions<Group, Args>();
  all.push_back(size_below_one<Group>("rows", &Args::rows));
  Group columns = size_below_one<Group>("columns", &Args::columns);
  add(columns, "- group", [](Args& a) { a.columns = -a.group; });
  add(columns, "1", [](Args& a) { a.columns = 1; });
  add(columns, "a row and a half of two", [](Args& a) { a.columns -= a.group / 2; });
  add(columns, "one less", [](Args& a) { a.columns -= 1; });
  add(columns, "4 less than a group", [](Args& a) { a.columns = a.group == 4 ? 2 : a.group - 4; });
  all.push_back(std::move(columns));
  Group group = size_below_one<Group>("group", &Args::group);
  for (const std::int64_t size : {1, 2, 3, 6, -2, -4})
    add(group, fmt::format("{}", size).c_str(), [=](Args& a) { a.group = size; });
  add(group, "negative", [](Args& a) { a.group = -a.group; });
  add(group, "2 beyond a multiple of 4",
      [](Args& a) { a.group = a.group % 8 == 0 ? 2 : a.group / 2; });
  add(group, "twice a row", [](Args& a) { a.group = 2 * a.columns; });
  add(group, "largest", [](Args& a) { a.group = kMost - 3; });
  all.push_back(std::move(group));
  return all;
}

/// The first, a middle or the last group gets a mean from which on there is no finite half.
template <class Group, class Problem>
Group infinite_scales() {
  Group group{"weights", {}};
  const std::pair<const char*, std::int64_t> places[] = {{"first", 0}, {"middle", 1}, {"last", 2}};
  for (const auto& [place, halves] : places) {
    const auto put = [&group, place = place, halves = halves](const char* name, auto fill) {
      group.all.push_back(
          {.flaw = {fmt::format("{}, the {} group", name, place)},
           .misplace = [=](Problem& problem) {
             const std::int64_t last = std::ssize(problem.weight) / problem.group - 1;
             fill(std::span(problem.weight)
                      .subspan(static_cast<std::size_t>(last * halves / 2 * problem.group),
                               static_cast<std::size_t>(problem.group)));
           }});
    };
    for (const float size : {65520.0F, -65520.0F, std::numeric_limits<float>::max()})
      put(fmt::format("{}", size).c_str(),
          [size](std::span<float> weights) { std::ranges::fill(weights, size); });
    put("one of it all", [](std::span<float> weights) {
      std::ranges::fill(weights, 0.0F);
      weights.back() = -65520.0F * static_cast<float>(weights.size());
    });
    put("of two kinds", [](std::span<float> weights) {
      for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = i % 2 == 0 ? 131'040.0F : 0.0F;
    });
  }
  return group;
}

// ---------------------------------------------------------------- training

template <class Put>
void add_models(InvalidTraining& group, const char* name, const Put& put) {
  add(group, name, [=](TernaryTrainArgs& a) { put(a.model); });
}

InvalidTraining model_size(const char* argument, std::int64_t TernaryModel::*size) {
  InvalidTraining group{argument, {}};
  for (const std::int64_t number : {std::int64_t{0}, std::int64_t{-1}, kLeast})
    add_models(group, fmt::format("{}", number).c_str(),
               [=](TernaryModel& m) { m.*size = number; });
  add_models(group, "- 2^32", [=](TernaryModel& m) { m.*size -= kNarrowed; });
  add_models(group, "negative", [=](TernaryModel& m) { m.*size = -(m.*size); });
  return group;
}

std::vector<InvalidTraining> invalid_models() {
  using M = TernaryModel;
  InvalidTraining vocab = model_size("vocab", &M::vocab);
  add_models(vocab, "65537", [](M& m) { m.vocab = 65'537; });
  add_models(vocab, "2^32 more", [](M& m) { m.vocab += kNarrowed; });
  add_models(vocab, "largest", [](M& m) { m.vocab = kMost; });
  InvalidTraining heads = model_size("heads", &M::heads);
  add_models(heads, "width", [](M& m) { m.heads = m.width; });
  add_models(heads, "twice the width", [](M& m) { m.heads = 2 * m.width; });
  add_models(heads, "one less than the width", [](M& m) { m.heads = m.width - 1; });
  add_models(heads, "2^62", [](M& m) { m.heads = std::int64_t{1} << 62; });
  add_models(heads, "largest", [](M& m) { m.heads = kMost; });
  InvalidTraining width = model_size("width", &M::width);
  add_models(width, "two more", [](M& m) { m.width += 2; });
  add_models(width, "half a group more", [](M& m) { m.width += m.group / 2; });
  InvalidTraining hidden = model_size("hidden", &M::hidden);
  add_models(hidden, "one more", [](M& m) { m.hidden += 1; });
  add_models(hidden, "half a group less", [](M& m) { m.hidden -= m.group / 2; });
  add_models(hidden, "half a group more", [](M& m) { m.hidden += m.group / 2; });
  InvalidTraining context = model_size("context", &M::context);
  add_models(context, "largest", [](M& m) { m.context = kMost; });
  add(context, "num_tokens", [](TernaryTrainArgs& a) { a.model.context = a.num_tokens; });
  InvalidTraining group = model_size("group", &M::group);
  for (const std::int64_t size : {1, 2, 3, -2, -4})
    add_models(group, fmt::format("{}", size).c_str(), [=](M& m) { m.group = size; });
  add_models(group, "of width and hidden", [](M& m) { m.group = 2 * (m.width + m.hidden); });
  add_models(group, "2^62", [](M& m) { m.group = std::int64_t{1} << 62; });
  return {vocab, heads, width, hidden, context, group, model_size("layers", &M::layers)};
}

InvalidTraining no_limits() {
  constexpr double kForever = std::numeric_limits<double>::infinity();
  InvalidTraining group{"limits", {}};
  for (const double seconds : {-1.0, -5e-324, -1e300, -kForever})
    for (const std::int64_t tokens : {std::int64_t{-1}, kLeast, -kNarrowed})
      add(group, fmt::format("{} s and {} tokens", seconds, tokens).c_str(),
          [=](TernaryTrainArgs& a) { a.max_seconds = seconds, a.max_tokens = tokens; });
  return group;
}

InvalidTraining before_no_space() {
  InvalidTraining group{"no space and more", {}};
  add(group, "no layers", [](TernaryTrainArgs& a) {
    a.checkpoint_capacity = 0;
    a.model.layers = 0;
  });
  add(group, "no limit", [](TernaryTrainArgs& a) {
    a.checkpoint_capacity -= 4097;
    a.max_seconds = -1;
    a.max_tokens = -1;
  });
  add(
      group, "another version and no layers",
      [](TernaryTrainArgs& a) {
        a.abi_version = 0;
        a.checkpoint_capacity = a.model.layers = 0;
      },
      TERNARY_UNSUPPORTED);
  return group;
}

/// One token short of a window and its last prediction.
InvalidTraining too_short() {
  InvalidTraining group{"num_tokens", {}};
  group.all.push_back({.flaw = {"context"}, .misplace = [](TrainingRequest& request) {
                         request.documents = {
                             Text(static_cast<std::size_t>(request.model.context), 0)};
                       }});
  for (const std::int64_t number : {std::int64_t{0}, std::int64_t{-1}, kLeast})
    add(group, fmt::format("{}", number).c_str(),
        [=](TernaryTrainArgs& a) { a.num_tokens = number; });
  return group;
}

}  // namespace

std::vector<InvalidQuantize> invalid_quantize_calls() {
  std::vector<InvalidQuantize> all = of_matrices<InvalidQuantize, TernaryQuantizeArgs>();
  all.push_back(infinite_scales<InvalidQuantize, QuantizeProblem>());
  return all;
}

std::vector<InvalidLayer> invalid_layer_calls() {
  std::vector<InvalidLayer> all = of_matrices<InvalidLayer, TernaryLinearGradientArgs>();
  all.push_back(infinite_scales<InvalidLayer, LinearProblem>());
  all.push_back(size_below_one<InvalidLayer>("count", &TernaryLinearGradientArgs::count));
  return all;
}

std::vector<InvalidTraining> invalid_training_calls() {
  std::vector<InvalidTraining> all = of_all_functions<InvalidTraining, TernaryTrainArgs>();
  for (InvalidTraining& group : invalid_models()) all.push_back(std::move(group));
  all.push_back(no_limits());
  all.push_back(before_no_space());
  all.push_back(too_short());
  all.push_back(size_below_one<InvalidTraining>("num_documents", &TernaryTrainArgs::num_documents));
  return all;
}

std::vector<InvalidText> invalid_texts() {
  std::vector<InvalidText> all;
  const auto two = [](const Assignment& choice) { return !choice.is("documents", "one"); };
  const auto starts = [&](const char* name, auto spoil, auto beside) {
    all.push_back({fmt::format("document_start, {}", name),
                   [spoil](TrainingCall& call) { spoil(call.document_start()); }, beside});
  };
  using Starts = std::vector<std::int64_t>;
  const auto always = [](const Assignment&) { return true; };
  starts(
      "the first 1", [](Starts& s) { s.front() = 1; }, always);
  starts(
      "the first -1", [](Starts& s) { s.front() = -1; }, always);
  starts(
      "the first by 2^32", [](Starts& s) { s.front() -= kNarrowed; }, always);
  starts(
      "the last one less", [](Starts& s) { --s.back(); }, always);
  starts(
      "the last one more", [](Starts& s) { ++s.back(); }, always);
  starts(
      "the last by 2^32", [](Starts& s) { s.back() += kNarrowed; }, always);
  starts(
      "the second -1", [](Starts& s) { s[1] = -1; }, two);
  starts(
      "the second beyond all", [](Starts& s) { s[1] = s.back() + 1; }, two);
  starts(
      "the last but one beyond all", [](Starts& s) { s[s.size() - 2] = s.back() + 1; }, two);
  starts(
      "the last but one by 2^32", [](Starts& s) { s[s.size() - 2] -= kNarrowed; }, two);
  const std::pair<const char*, std::size_t> places[] = {{"first", 0}, {"middle", 1}, {"last", 2}};
  for (const auto& [place, halves] : places) {
    const auto put = [&, place = place, halves = halves](const char* name, auto id_of) {
      all.push_back({fmt::format("the {} token {}", place, name), [=](TrainingCall& call) {
                       call.token()[(call.token().size() - 1) * halves / 2] =
                           id_of(call.args.model.vocab);
                     }});
    };
    put("vocab", [](std::int64_t vocab) { return static_cast<std::uint16_t>(vocab); });
    put("65535", [](std::int64_t) { return std::uint16_t{65'535}; });
  }
  return all;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
