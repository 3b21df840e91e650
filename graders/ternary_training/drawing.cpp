// SPDX-License-Identifier: Apache-2.0
#include "drawing.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "graders/kit/inputs.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;

float with_a_sign(Rng& rng, double size) {
  return static_cast<float>(rng.chance(0.5) ? size : -size);
}

/// A normal half, as are twice of it and a quarter.
float any_half(Rng& rng) {
  return static_cast<float>(std::ldexp(static_cast<double>(rng.integer(1024, 2047)),
                                       static_cast<int>(rng.integer(-16, -6))));
}

void put_equal(Rng& rng, std::span<float> group, double size) {
  for (float& w : group) w = with_a_sign(rng, size);
}

/// Pairs about a scale, the smaller of which is half of it or a neighbour of that.
void put_threshold(Rng& rng, std::span<float> group) {
  const float scale = any_half(rng);
  for (std::size_t i = 0; i < group.size(); i += 2) {
    float small = scale / 2;
    const auto towards = rng.integer(-1, 1);
    if (towards != 0) small = std::nextafter(small, towards < 0 ? 0.0F : scale);
    group[i] = with_a_sign(rng, small);
    group[i + 1] = with_a_sign(rng, 2 * scale - scale / 2);
  }
}

/// A mean between two halves, or as near to it as one weight can move it.
void put_midpoint(Rng& rng, std::span<float> group, double middle) {
  put_equal(rng, group, middle);
  const auto towards = rng.integer(-1, 1);
  if (towards == 0) return;
  float& one = group[static_cast<std::size_t>(rng.integer(0, std::ssize(group) - 1))];
  const auto size = static_cast<float>(middle);
  one = with_a_sign(rng, std::nextafter(size, towards < 0 ? 0.0F : 2 * size));
}

/// Around the mean from which on there is no finite scale, and below it.
void put_largest(Rng& rng, std::span<float> group) {
  constexpr float kNoScale = 65520;
  const float below = std::nextafter(kNoScale, 0.0F);
  put_equal(rng, group, kit::one_of(rng, {below, 65504.0F, 65519.0F, 60000.0F}));
  // One that is as much above the limit as another is below it leaves the mean where it was.
  group[0] = with_a_sign(rng, 2 * std::fabs(group[0]));
  group[1] = rng.chance(0.5) ? 0.0F : -0.0F;
}

void put_ternary(Rng& rng, std::span<float> group) {
  const float scale = any_half(rng);
  for (float& w : group) w = scale * static_cast<float>(rng.integer(-1, 1));
}

using Put = std::function<void(Rng&, std::span<float>)>;

/// One weight of a group, of up to `most` times the group's size; the others are zeros.
Put one_weight(double most) {
  return [most](Rng& rng, std::span<float> group) {
    put_equal(rng, group, 0);
    group[static_cast<std::size_t>(rng.integer(0, std::ssize(group) - 1))] =
        with_a_sign(rng, rng.uniform(0.9, 1) * most * static_cast<double>(group.size()));
  };
}

Put multiplied(float factor) {
  return [factor](Rng&, std::span<float> group) {
    for (float& w : group) w *= factor;
  };
}

/// What becomes of the groups of a class that makes all of them alike; nothing of the others.
Put put_of(const Assignment& choice) {
  const auto is = [&](const char* name) { return choice.is("weights", name); };
  if (is("zeros")) return multiplied(0);
  if (is("subnormal scales")) return multiplied(0x1p-19F);
  if (is("subnormal")) return multiplied(0x1p-135F);
  if (is("one in a group")) return one_weight(1);
  if (is("one that is huge")) return one_weight(60'000);
  if (is("at the threshold")) return put_threshold;
  if (is("about the largest scale")) return put_largest;
  if (is("ternary")) return put_ternary;
  if (is("equal in size"))
    return [](Rng& rng, std::span<float> group) { put_equal(rng, group, rng.uniform(0.1, 3)); };
  if (is("full mantissas"))
    return [](Rng& rng, std::span<float> group) {
      for (float& w : group) w = static_cast<float>(rng.uniform(-1, 1));
    };
  if (is("one sign"))
    return [](Rng&, std::span<float> group) {
      for (float& w : group) w = -std::fabs(w);
    };
  if (is("means between halves"))
    return [](Rng& rng, std::span<float> group) {
      const double half = any_half(rng);
      put_midpoint(rng, group, half + std::ldexp(1.0, std::ilogb(half) - 11));
    };
  if (is("about the smallest scale"))
    return [](Rng& rng, std::span<float> group) {
      put_midpoint(rng, group, static_cast<double>(rng.integer(0, 3)) * 0x1p-24 + 0x1p-25);
    };
  return {};
}

template <class Problem>
void put_weights(const Assignment& choice, Rng& rng, Problem& problem) {
  const Put put = put_of(choice);
  const auto size = static_cast<std::size_t>(problem.group);
  const std::int64_t groups = std::ssize(problem.weight) / problem.group;
  // How many groups one after the other are of one size.
  const std::int64_t run = choice.is("weights", "rows far apart") ? problem.columns / problem.group
                           : choice.is("weights", "groups far apart") ? 1
                                                                      : groups;
  const std::int64_t lone =
      choice.is("weights", "a group of zeros") ? rng.integer(0, groups - 1) : -1;
  for (std::int64_t g = 0; g < groups; ++g) {
    const auto group = std::span(problem.weight).subspan(static_cast<std::size_t>(g) * size, size);
    if (put) put(rng, group);
    if (g / run % 2 == 1) multiplied(0x1p-14F)(rng, group);
    if (g == lone) put_equal(rng, group, 0);
  }
}

/// `all` are vectors of `size` numbers.
void put_vectors(const Assignment& choice, Rng& rng, const char* argument, std::int64_t size,
                 std::vector<float>& all) {
  const auto is = [&](const char* name) { return choice.is(argument, name); };
  if (is("usual")) return;
  const std::int64_t lone = is("one number") ? rng.integer(0, std::ssize(all) - 1) : -1;
  const double zeros = is("zeros") || is("one number") ? 1 : is("many zeros") ? 0.7 : 0;
  const bool everything = is("all magnitudes");
  const double least = everything ? 1e-12 : choice[argument].least;
  const double most = everything ? 1e12 : choice[argument].most;
  const float far = is("vectors far apart") ? 0x1p-20F : 1;
  const bool positive = is("one sign");
  const std::int64_t silent = is("zeros but the last 64") ? size - 64 : 0;
  for (std::int64_t i = 0; i < std::ssize(all); ++i) {
    float& x = all[static_cast<std::size_t>(i)];
    if (most > 0) x = with_a_sign(rng, kit::log_uniform(rng, least, most));
    if (i != lone && rng.chance(zeros)) x = with_a_sign(rng, 0);
    if (i / size % 2 == 1) x *= far;
    if (i % size < silent) x = 0;
    if (positive) x = std::fabs(x);
  }
}

}  // namespace

QuantizeProblem quantize_problem_of(const Assignment& choice, Rng& rng) {
  const std::int64_t rows = choice.draw(rng, "rows");
  QuantizeProblem problem =
      coarse_matrix(rng, rows, choice.draw(rng, "groups in a row"), choice.draw(rng, "group"));
  put_weights(choice, rng, problem);
  return problem;
}

LinearProblem linear_problem_of(const Assignment& choice, Rng& rng) {
  const std::int64_t rows = choice.draw(rng, "rows");
  const std::int64_t groups = choice.draw(rng, "groups in a row");
  LinearProblem problem =
      linear_problem(rng, rows, groups, choice.draw(rng, "group"), choice.draw(rng, "vectors"));
  put_weights(choice, rng, problem);
  put_vectors(choice, rng, "x", problem.columns, problem.x);
  put_vectors(choice, rng, "output_gradient", problem.rows, problem.output_gradient);
  return problem;
}

std::vector<float> with_another_weight(const Assignment& choice, Rng& rng,
                                       std::vector<float> weight) {
  // The first of a group about the largest scale is its largest; a larger zero is too much.
  const bool largest = choice.is("weights", "about the largest scale");
  (largest ? weight.front() : any_of(rng, weight)) = 2.5F;
  return weight;
}

kit::CallOptions options_of(const Assignment& choice) {
  kit::CallOptions options;
  options.threads = static_cast<int>(choice["threads"].least);
  kit::put_alignment(choice, options);
  return options;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
