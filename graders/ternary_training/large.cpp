// SPDX-License-Identifier: Apache-2.0
#include "large.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <initializer_list>
#include <string_view>

#include "domain.h"
#include "drawing.h"
#include "graders/kit/assignments.h"
#include "graders/kit/refusals.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Argument;
using kit::Assignment;
using kit::Domain;
using kit::sized;

// Weights of a matrix; products of a layer. From where on they are many is a solution's choice.
constexpr double kLeastOfMatrix = 66'000, kMostOfMatrix = 120'000;
constexpr double kLeastOfLayer = 300'000, kMostOfLayer = 1'500'000;

bool is_size(std::string_view argument) {
  return argument == "rows" || argument == "groups in a row" || argument == "group" ||
         argument == "vectors";
}

bool is_one_of(const Assignment& choice, const char* argument,
               std::initializer_list<const char*> classes) {
  return std::ranges::any_of(classes, [&](const char* name) { return choice.is(argument, name); });
}

/// Of classes that small matrices are asked beside, those that a path for large ones may not know.
bool may_be_forgotten(const Assignment& choice) {
  return is_one_of(choice, "weights",
                   {"usual", "a group of zeros", "subnormal scales", "one that is huge",
                    "groups far apart"}) &&
         (choice.is_simplest("alignment") || choice.is("alignment", "4 after 16")) &&
         choice["threads"].most <= 7;
}

bool may_be_forgotten_of_layers(const Assignment& choice) {
  for (const char* vectors : {"x", "output_gradient"})
    if (!is_one_of(choice, vectors, {"usual", "many zeros", "1e12 to 1e15", "vectors far apart"}))
      return false;
  return may_be_forgotten(choice) &&
         is_one_of(choice, "before",
                   {"nothing", "a weight differed", "an x differed", "a gradient differed"});
}

double weights_of(const Assignment& choice) {
  return choice["rows"].most * choice["groups in a row"].most * choice["group"].most;
}

const Domain& large_matrices() {
  static const Domain domain = [] {
    std::vector<Argument> all{
        {"rows",
         {sized(300, 400), sized(1), sized(2, 3), sized(33, 40), sized(1025, 1100),
          sized(4097, 4200), sized(16'385, 16'600)}},
        {"groups in a row",
         {sized(15, 18), sized(1), sized(2, 3), sized(33, 40), sized(129, 140), sized(1025, 1100),
          sized(16'385, 16'600)}},
        {"group", {sized(16), sized(4), sized(12), sized(64), sized(260), sized(1028)}}};
    for (const Argument& argument : quantize_domain().arguments)
      if (!is_size(argument.name)) all.push_back(argument);
    return Domain{std::move(all), [](const Assignment& choice) {
                    const double weights = weights_of(choice);
                    return weights >= kLeastOfMatrix && weights <= kMostOfMatrix &&
                           is_one_of(choice, "before", {"nothing", "a weight differed"}) &&
                           may_be_forgotten(choice);
                  }};
  }();
  return domain;
}

Domain made_of_layers(const std::function<bool(const Assignment&)>& is_asked) {
  std::vector<Argument> all{
      {"rows",
       {sized(130, 150), sized(5, 12), sized(24, 40), sized(257, 280), sized(513, 530),
        sized(1025, 1050)}},
      {"groups in a row", {sized(5, 6), sized(1), sized(9, 17), sized(33, 40)}},
      {"group",
       {sized(16), sized(12), sized(20), sized(64), sized(128), sized(132), sized(260),
        sized(1028)}},
      {"vectors", {sized(65, 71), sized(8, 16), sized(129, 135), sized(257, 270)}}};
  for (const Argument& argument : layer_domain().arguments)
    if (!is_size(argument.name)) all.push_back(argument);
  return {std::move(all), [is_asked](const Assignment& choice) {
            const double products = weights_of(choice) * choice["vectors"].most;
            return products >= kLeastOfLayer && products <= kMostOfLayer && is_asked(choice);
          }};
}

const Domain& large_layers() {
  static const Domain domain = made_of_layers(may_be_forgotten_of_layers);
  return domain;
}

/// Beside the simplest of all else.
const Domain& sizes_of_large_layers() {
  static const Domain domain = made_of_layers([](const Assignment& choice) {
    return std::ranges::all_of(layer_domain().arguments, [&](const Argument& argument) {
      return is_size(argument.name) || choice.is_simplest(argument.name);
    });
  });
  return domain;
}

/// Some numbers are others, so few that who looks at every 64th finds these as they were.
void change_few(Rng& rng, std::vector<float>& numbers) {
  for (int n = 0; n < 3; ++n) any_of(rng, numbers) *= -0.5F;
}

void ask_large_matrix(Probe& probe, const Assignment& choice, Rng& rng) {
  const QuantizeProblem problem = quantize_problem_of(choice, rng);
  const kit::CallOptions options = options_of(choice);
  if (!choice.is("before", "nothing")) {
    QuantizeProblem other = problem;
    change_few(rng, other.weight);
    require_quantized(probe, other, options);
  }
  require_quantized(probe, problem, options);
}

void ask_large_layer(Probe& probe, const Assignment& choice, Rng& rng) {
  const LinearProblem problem = linear_problem_of(choice, rng);
  const kit::CallOptions options = options_of(choice);
  if (!choice.is("before", "nothing")) {
    LinearProblem other = problem;
    change_few(rng, choice.is("before", "an x differed")         ? other.x
                    : choice.is("before", "a gradient differed") ? other.output_gradient
                                                                 : other.weight);
    GradientCall call(other, options);
    probe.run_ok(call);
  }
  require_layer(probe, problem, options);
}

void ask_pairs(Probe& probe, const Domain& domain, const char* stream,
               const kit::AskAssignment& ask) {
  Rng rng = probe.common_stream(stream);
  kit::ask_each(probe, domain, kit::covering_assignments(domain, rng), ask);
}

}  // namespace

void ask_large_matrices(Probe& probe) {
  ask_pairs(probe, large_matrices(), "large matrices",
            [&](const Assignment& choice, Rng& rng) { ask_large_matrix(probe, choice, rng); });
}

void ask_large_matrices(Probe& probe, std::size_t cases) {
  Rng rng = probe.common_stream("some large matrices");
  kit::ask_each(probe, large_matrices(), kit::random_assignments(large_matrices(), rng, cases),
                [&](const Assignment& choice, Rng& own) { ask_large_matrix(probe, choice, own); });
}

void ask_large_layers(Probe& probe) {
  ask_pairs(probe, large_layers(), "large layers",
            [&](const Assignment& choice, Rng& rng) { ask_large_layer(probe, choice, rng); });
}

void ask_sizes_of_large_layers(Probe& probe) {
  ask_pairs(probe, sizes_of_large_layers(), "sizes of large layers",
            [&](const Assignment& choice, Rng& rng) { ask_large_layer(probe, choice, rng); });
}

void refuse_large_matrices(Probe& probe) {
  struct Shape {
    std::int64_t rows, groups, group;
  };
  for (const auto& [rows, groups, group] :
       {Shape{67'000, 1, 4}, Shape{1, 67'000, 4}, Shape{300, 4, 128}, Shape{40, 2, 1'028}}) {
    Rng rng = probe.begin_case(fmt::format("one_mean_of_{}x{}x{}", rows, groups, group));
    LinearProblem layer = linear_problem(rng, rows, groups, group, 1);
    // Behind most of them, where others have been quantised.
    const std::int64_t all = rows * groups;
    const std::int64_t place = rng.chance(0.5) ? all - 1 : all - 1 - rng.integer(0, all / 100);
    std::fill_n(layer.weight.begin() + place * group, group, 7e4F);
    GradientCall of_layer(layer);
    kit::require_refused(probe, of_layer, TERNARY_BAD_ARGUMENT);
    const QuantizeProblem matrix{rows, layer.columns, group, std::move(layer.weight)};
    QuantizeCall of_matrix(matrix);
    kit::require_refused(probe, of_matrix, TERNARY_BAD_ARGUMENT);
  }
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
