// SPDX-License-Identifier: Apache-2.0
#include "domain_numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "graders/kit/inputs.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;
using kit::hiding;
using kit::ValueClass;

// q and k grow by this at most where scale is small, so that their product stays below 1e37.
constexpr double kMostFactor = 0x1p50;

/// By how much each of q and k is larger than usual, so that scores are the usual ones.
double factor_for(double ratio_of_scales) {
  return std::min(kMostFactor, std::exp2(std::round(std::log2(ratio_of_scales) / 2)));
}

// Where one of q and k is that much larger than usual, the other is smaller: scale times the larger
// leaves the range of float, and is nothing that the formulas name.
constexpr double kOneSided = 0x1p120;

// Its square, and so the square of a row's length, is 0 in float32. The row is not: the gradients
// that have it as a factor are far above the contract's 1e-36.
constexpr double kTiny = 1e-25;

// A subnormal number: the quotient of 1 by it is none of float32, its product with another a number
// of few bits. What is made of these is below the contract's 1e-36.
constexpr double kSubnormal = 1e-40;

/// Whether q or k is that small, and all scores with it.
bool has_tiny_factor(const Assignment& choice) {
  return choice["scores"].name.ends_with("below 1e-24");
}

/// Which of q and k it is, if any: "256, q large".
bool is_large(const Assignment& choice, char array) {
  const std::string& name = choice["scale"].name;
  return name.ends_with(" large") && name[5] == array;
}

bool is_one_sided(const Assignment& choice) {
  return is_large(choice, 'q') || is_large(choice, 'k');
}

bool has_heights(const Assignment& choice) {
  return choice["scores"].most > 0;
}

/// The height of key j of n; `only` is the key that lies apart.
double height_of(const std::string& name, std::int64_t j, std::int64_t keys, std::int64_t only,
                 double size, Rng& rng) {
  const double along = static_cast<double>(j) / static_cast<double>(keys);
  if (name == "climbing") return size * along;
  if (name == "falling") return -size * along;
  if (name.ends_with("above")) return j == only ? size : 0;
  if (name.ends_with("below")) return j == only ? -size : 0;
  if (name.ends_with("to 1e5 apart")) return rng.uniform(0, size);
  return name.find("near -") != std::string::npos ? -size : size;
}

/// Scores are the heights, with a little noise: for that, each key's height is its last column. In
/// the first, all that is added behind it would be rounded to its last bits.
void put_heights(const Assignment& choice, Rng& rng, Problem& problem) {
  constexpr float kNoise = 0.25f;
  if (!has_heights(choice) || problem.form.k_len == 0) return;
  const double size = choice.draw_real(rng, "scores");
  const std::int64_t only = rng.integer(0, problem.form.k_len - 1);
  kit::for_each_row(problem.q, [&](std::span<float> row, auto, auto, auto) {
    for (float& q : row) q *= kNoise;
    row.back() = static_cast<float>(1 / problem.form.scale);
  });
  kit::for_each_row(problem.k, [&](std::span<float> row, auto, auto, auto j) {
    row.back() = static_cast<float>(
        height_of(choice["scores"].name, j, problem.form.k_len, only, size, rng));
  });
}

void multiply(std::span<float> numbers, double factor) {
  for (float& number : numbers) number = static_cast<float>(number * factor);
}

/// By a number of the class; of "rows apart" and "rows 1e-25 to 1", by another for each row; of
/// "some rows 0", by 0 or 1.
void multiply_rows(const Assignment& choice, const char* argument, Rng& rng, kit::Tensor& tensor) {
  const bool apart = choice[argument].name.starts_with("rows");
  const bool some = choice.is(argument, "some rows 0");
  const double size = choice.draw_real(rng, argument);
  kit::for_each_row(tensor, [&](std::span<float> row, auto, auto, auto) {
    if (some && rng.chance(0.3)) std::ranges::fill(row, 0.0f);
    multiply(row, apart ? choice.draw_real(rng, argument) : size);
  });
}

/// Another scale with the same scores, as far as q and k reach.
void put_scale(const Assignment& choice, Rng& rng, Problem& problem) {
  const std::string& name = choice["scale"].name;
  if (name == "minus the usual") problem.form.scale = -problem.form.scale;
  if (name.ends_with("usual")) return;
  const double before = problem.form.scale;
  const auto size = static_cast<float>(choice.draw_real(rng, "scale"));
  problem.form.scale = name.starts_with('-') ? -size : size;
  if (size == 0) return;
  if (is_one_sided(choice)) {
    multiply((is_large(choice, 'q') ? problem.q : problem.k).data, kOneSided);
    multiply((is_large(choice, 'q') ? problem.k : problem.q).data, before / size / kOneSided);
    return;
  }
  const double of_q = factor_for(before / size);
  multiply(problem.q.data, of_q);
  multiply(problem.k.data, std::min(kMostFactor, before / size / of_q));
}

void put_softcap(const Assignment& choice, Rng& rng, Problem& problem) {
  problem.form.softcap =
      choice.is("softcap", "-0") ? -0.0f : static_cast<float>(choice.draw_real(rng, "softcap"));
}

void put_scores(const Assignment& choice, Rng& rng, Problem& problem) {
  constexpr double kUsualDeviation = 3;
  const std::string& name = choice["scores"].name;
  put_heights(choice, rng, problem);
  if (name == "equal")
    for (float& q : problem.q.data) q = rng.chance(0.5) ? 0.0f : -0.0f;
  if (name == "rows apart")
    kit::for_each_row(problem.q, [&](std::span<float> row, auto, auto, auto) {
      multiply(row, kit::log_uniform(rng, 1e-6, 10));
    });
  if (name == "of the cap's size") multiply(problem.q.data, problem.form.softcap / kUsualDeviation);
  if (has_tiny_factor(choice))
    kit::for_each_row(name.starts_with('q') ? problem.q : problem.k,
                      [&](std::span<float> row, auto, auto, auto) {
                        multiply(row, rng.chance(0.5) ? kTiny : kSubnormal);
                      });
}

float lse_of(const Assignment& choice, Rng& rng, float own) {
  const std::string& name = choice["lse"].name;
  if (name == "-infinity" || (name == "-infinity in some rows" && rng.chance(0.3)))
    return -kit::kInfinity;
  if (name == "finite where nothing is seen" && std::isinf(own))
    return kit::one_of(rng, {0.0f, -1e3f, 1e3f, -1e30f, 1e30f});
  if (name.starts_with("lowered")) return own - static_cast<float>(choice.draw_real(rng, "lse"));
  if (name.starts_with("raised")) return own + static_cast<float>(choice.draw_real(rng, "lse"));
  return own;
}

/// A number of this size, or 1 where there are only zeros: then something else makes dx what it is.
double least_size(const ValueClass& numbers) {
  return numbers.least == 0 ? 1 : numbers.least;
}

/// The weight of any key that some query sees is no less than this. Where it may be as good as 0,
/// 0.
double least_weight(const Assignment& choice) {
  const std::string& scores = choice["scores"].name;
  if (choice["lse"].name.starts_with("raised")) return 0;
  if (scores == "equal" || has_tiny_factor(choice)) return 1e-4;
  if (scores == "usual") return 1e-13;  // of a normal distribution with deviation 3
  if (scores.starts_with("near")) return 1e-7;
  return scores.starts_with("one 14") ? 1e-15 : 0;
}

/// Sums of dx k and dx q do not underflow where scale makes much of little, nor does a dx that is
/// multiplied by something large. Where scale does not, the contract's 1e-36 forgives that.
bool sums_stay(const Assignment& choice, double factor) {
  constexpr double kLeast = std::numeric_limits<float>::min();
  if (choice["scale"].most <= 1) return true;
  const double dp = 0.1 * least_size(choice["v"]) * least_size(choice["dout"]);
  const double dx = least_weight(choice) * dp * 0.01;
  return is_one_sided(choice) ? dx >= 0x1p24 * kLeast : dx * factor >= kLeast;
}

/// By how much the larger of q and k is larger than usual.
double factor_beside(const Assignment& choice, double size) {
  constexpr double kUsualScale = 0.1;
  if (is_one_sided(choice)) return kOneSided;
  return size == 0 ? 1 : factor_for(kUsualScale / size);
}

}  // namespace

std::vector<kit::Argument> number_arguments() {
  return {{"scale",
           {{"usual", 0.1, 0.1},
            {"minus the usual", 0.1, 0.1},
            {"1", 1, 1},
            hiding({"0", 0, 0}, {"scores", "softcap"}),
            hiding({"-0", 0, 0}, {"scores", "softcap"}),
            hiding({"1e-45", 1.4e-45, 1.4e-45}, {"scores", "softcap"}),
            hiding({"1e-38", 1e-38, 1e-38}, {"scores", "softcap"}),
            {"1e-30 to 1e-10", 1e-30, 1e-10},
            {"-1e-20", 1e-20, 1e-20},
            {"1e10 to 1e30", 1e10, 1e30},
            {"-1e20", 1e20, 1e20},
            {"3e38", 3e38, 3e38},
            {"-3e38", 3e38, 3e38},
            {"256, q large", 256, 256},
            {"256, k large", 256, 256}}},
          {"softcap",
           {{"0", 0, 0},
            {"-0", 0, 0},
            {"1e-45", 1.4e-45, 1.4e-45},
            {"1e-30", 1e-30, 1e-30},
            {"1e-6 to 1e-3", 1e-6, 1e-3},
            {"0.5 to 5", 0.5, 5},
            {"10 to 60", 10, 60},
            {"1e3 to 1e4", 1e3, 1e4},
            {"1e6", 1e6, 1e6},
            {"1e30", 1e30, 1e30},
            {"3e38", 3e38, 3e38}}},
          {"scores",
           {{"usual"},
            {"equal"},
            {"of the cap's size"},
            {"rows apart"},
            {"climbing", 20, 60},
            {"falling", 20, 60},
            {"one 14 to 24 above", 14, 24},
            {"one 14 to 24 below", 14, 24},
            {"near 92", 89, 95},  // beyond exp alone, and not beyond it after a lowered lse
            {"near -150", 150, 150},
            {"near -1e5", 1e5, 1e5},
            {"near 1e5", 1e5, 1e5},
            {"1e4 to 1e5 apart", 1e4, 1e5},
            {"q below 1e-24"},
            {"k below 1e-24"}}},
          {"v",
           {{"usual", 1, 1},
            {"zeros", 0, 0},
            {"1e8", 1e8, 1e8},
            {"1e-12", 1e-12, 1e-12},
            {"1e-25", kTiny, kTiny},
            {"1e-40", kSubnormal, kSubnormal},
            {"1e25", 1e25, 1e25},
            {"some rows 0", 1, 1},
            {"rows apart", 1e-6, 1e6}}},
          {"dout",
           {{"usual", 1, 1},
            hiding({"zeros", 0, 0}),
            {"1e8", 1e8, 1e8},
            {"1e-12", 1e-12, 1e-12},
            {"1e-25", kTiny, kTiny},
            {"1e-40", kSubnormal, kSubnormal},
            {"1e25", 1e25, 1e25},
            {"some rows 0", 1, 1},
            {"rows apart", 1e-8, 1e8},
            {"rows 1e-25 to 1", kTiny, 1}}},
          {"given o", {{"own"}, {"another"}, {"zeros"}}},
          {"lse",
           {{"own"},
            {"lowered by up to 19", 0.1, 19},
            {"lowered by 19.5", 19.5, 19.5},
            {"raised by up to 60", 0.1, 60},
            {"raised by 95 to 105", 95, 105},
            {"raised by 2e4 to 1e5", 2e4, 1e5},
            {"raised by 1e30", 1e30, 1e30},
            {"finite where nothing is seen"},
            {"-infinity in some rows"},
            hiding({"-infinity"})}},
          {"dlse", {{"absent"}, {"usual", 2, 2}, {"zeros", 0, 0}, {"1e6", 1e6, 1e6}}}};
}

/// What is tiny stays representable: dP, and what a scale makes of q and k. With a larger scale,
/// which q and k have to be smaller for, they would not be. A sum of 256 subnormal products is off
/// by 2e-43 at most, which is nothing beside 1e-36, unless weights are far above 1 or a cap is as
/// small.
bool tiny_stays(const Assignment& choice) {
  constexpr double kLeast = 1e-32;
  const ValueClass& scale = choice["scale"];
  if (has_tiny_factor(choice) &&
      (scale.least < 1e-30 || scale.most > 1 || choice.is("softcap", "1e-45")))
    return false;
  if (choice.is("v", "1e-40") || choice.is("dout", "1e-40"))
    return scale.most <= 1 && !choice["lse"].name.starts_with("lowered");
  return least_size(choice["v"]) * least_size(choice["dout"]) >= kLeast;
}

/// Where scale is near the end of float32, q.k of a small x is subnormal and x off by scale times
/// half of the least number, which is 2e-7 for 3e38. The slope of a cap c changes by at most 0.77
/// of that / c, for which a quarter of what M allows is left; smaller caps are not representable,
/// but where no drawn x is that near 0.
bool cap_is_resolved(const Assignment& choice) {
  constexpr double kNoScore = 1e-12, kQuarter = 8 * 0x1p-24;
  const double off = choice["scale"].most * 0x1p-150;
  const double cap = choice["softcap"].least;
  return cap == 0 || off < kNoScore || off <= kQuarter * cap;
}

bool numbers_representable(const Assignment& choice) {
  const ValueClass& scale = choice["scale"];
  const ValueClass& cap = choice["softcap"];
  if (!tiny_stays(choice) || !cap_is_resolved(choice)) return false;
  if (has_heights(choice) && scale.least < 1e-30) return false;  // q k is as large as it can be
  constexpr double kLeastCap = 1e-30, kMostCap = 60;
  if (choice.is("scores", "of the cap's size") &&
      (scale.least < 1e-30 || cap.least < kLeastCap || cap.most > kMostCap))
    return false;
  constexpr double kUsualNumber = 25, kTerms = 1e3, kLargest = 1e37, kLargestInput = 3e38;
  const double weight = choice["lse"].name.starts_with("lowered") ? 5e8 : 1;
  const double dp = 100 * choice["dout"].most * std::max(1.0, choice["v"].most);
  const double dx = weight * (dp + 5 * choice["dlse"].most);
  const auto sums = [&](double size) {
    const double factor = factor_beside(choice, size);
    const double input = factor * std::max(kUsualNumber, choice["scores"].most);
    return input < kLargestInput && std::max(1.0, size) * kTerms * dx * input < kLargest &&
           sums_stay(choice, factor);
  };
  return sums(scale.least) && sums(scale.most);
}

Problem drawn_problem(const Assignment& choice, Rng& rng, const Sizes& sizes) {
  Problem problem = random_problem(rng, sizes);
  put_softcap(choice, rng, problem);
  put_scores(choice, rng, problem);
  put_scale(choice, rng, problem);
  multiply_rows(choice, "v", rng, problem.v);
  multiply_rows(choice, "dout", rng, problem.dout);
  return problem;
}

void put_given(const Assignment& choice, Rng& rng, Problem& problem) {
  attend(problem);
  for (float& lse : problem.lse) lse = lse_of(choice, rng, lse);
  if (choice.is("given o", "another"))
    for (float& o : problem.o.data) o = static_cast<float>(rng.normal());
  if (choice.is("given o", "zeros")) std::ranges::fill(problem.o.data, 0.0f);
  if (choice.is("dlse", "absent")) return;
  const double size = choice.draw_real(rng, "dlse");
  for (std::int64_t row = 0; row < problem.q_rows(); ++row)
    problem.dlse.push_back(static_cast<float>(size * rng.normal()));
}

Problem zero_problem(const Assignment& choice, Rng& rng, const Sizes& sizes) {
  Problem problem(sizes);
  for (kit::Tensor* tensor : {&problem.q, &problem.k, &problem.v, &problem.dout, &problem.o})
    std::ranges::fill(tensor->data, 0.0f);
  std::ranges::fill(problem.lse, 1.0f);
  if (!choice.is("dlse", "absent")) problem.dlse.assign(problem.lse.size(), 0.0f);
  put_softcap(choice, rng, problem);
  put_scale(choice, rng, problem);
  return problem;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
