// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "call.h"
#include "graders/kit/domain.h"
#include "graders/kit/refusals.h"

/// What the contract refuses, but for checkpoints.
namespace gauntlet::GAUNTLET_CHALLENGE {

/// One thing wrong with a call: with its arguments, or with the problem that it is made of.
template <class Problem, class Args>
struct InvalidCall {
  kit::Flaw<Args> flaw;
  std::function<void(Problem&)> misplace = [](Problem&) {};
  std::int64_t want = TERNARY_BAD_ARGUMENT;
};

/// What may be wrong with one argument, and what it can stand beside.
template <class Problem, class Args>
struct InvalidGroup {
  std::string name;
  std::vector<InvalidCall<Problem, Args>> all;
  std::function<bool(const kit::Assignment&)> beside = [](const kit::Assignment&) { return true; };
};

template <class Group, class Spoil>
void add(Group& group, const char* name, const Spoil& spoil,
         std::int64_t want = TERNARY_BAD_ARGUMENT) {
  group.all.push_back({.flaw = {name, spoil}, .want = want});
}

template <class Group, class Args, class Field>
Group values(const char* argument, Field Args::*field, std::initializer_list<Field> numbers,
             std::int64_t want = TERNARY_BAD_ARGUMENT) {
  Group group{argument, {}};
  for (const Field number : numbers)
    add(
        group, fmt::format("{}", number).c_str(), [=](Args& a) { a.*field = number; }, want);
  return group;
}

/// What begins all argument structs; and which of two complaints comes first.
template <class Group, class Args>
std::vector<Group> of_all_functions() {
  std::vector<Group> all{
      values<Group>("threads", &Args::num_threads,
                    {0, -1, std::numeric_limits<std::int32_t>::min(), 1 - kit::kNarrowed16}),
      values<Group>("abi", &Args::abi_version, {0, 2, -1, 257, 1 + kit::kNarrowed16},
                    TERNARY_UNSUPPORTED),
      values<Group>("device", &Args::device, {1, 2, -1, 256, kit::kNarrowed16},
                    TERNARY_UNSUPPORTED)};
  Group both{"two at once", {}};
  add(
      both, "abi and threads", [](Args& a) { a.abi_version = 2, a.num_threads = 0; },
      TERNARY_UNSUPPORTED);
  add(
      both, "device and threads", [](Args& a) { a.device = TERNARY_CUDA, a.num_threads = -1; },
      TERNARY_UNSUPPORTED);
  all.push_back(std::move(both));
  return all;
}

using InvalidQuantize = InvalidGroup<QuantizeProblem, TernaryQuantizeArgs>;
using InvalidLayer = InvalidGroup<LinearProblem, TernaryLinearGradientArgs>;
using InvalidTraining = InvalidGroup<TrainingRequest, TernaryTrainArgs>;

std::vector<InvalidQuantize> invalid_quantize_calls();
std::vector<InvalidLayer> invalid_layer_calls();

/// Without what is wrong with the text of a call, which has to be put into it.
std::vector<InvalidTraining> invalid_training_calls();

/// What spoils tokens and bounds of documents.
struct InvalidText {
  std::string name;
  std::function<void(TrainingCall&)> spoil;
  std::function<bool(const kit::Assignment&)> beside = [](const kit::Assignment&) { return true; };
};
std::vector<InvalidText> invalid_texts();

}  // namespace gauntlet::GAUNTLET_CHALLENGE
