// SPDX-License-Identifier: Apache-2.0
#include "domain_numbers.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "graders/kit/attention_domain.h"
#include "graders/kit/inputs.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;
using kit::hiding;

// |q k| and |scale q k| stay below 1e36, the noise of the other dimensions included.
constexpr double kFarthest = 8e35;
constexpr double kLargestProduct = 1e32;

// Values are as much larger as their weights are smaller, up to this: beyond, weights underflow in
// float32, which the bound forgives.
constexpr double kLargestBoost = 45;

/// The scores are those of a profile along the keys, which says where weights are small.
bool has_heights(const Assignment& choice) {
  const std::string& scores = choice["scores"].name;
  return scores != "usual" && scores != "equal" && !scores.starts_with("all near");
}

float scale_of(const Assignment& choice, Rng& rng, std::int64_t dim) {
  const std::string& name = choice["scale"].name;
  const float usual = 1 / std::sqrt(static_cast<float>(dim));
  if (name == "usual") return usual;
  if (name == "minus the usual") return -usual;
  const auto size = static_cast<float>(choice.draw_real(rng, "scale"));
  return name.starts_with('-') ? -size : size;
}

float softcap_of(const Assignment& choice, Rng& rng) {
  if (choice.is("softcap", "-0")) return -0.0f;
  return static_cast<float>(choice.draw_real(rng, "softcap"));
}

using Heights = std::vector<double>;

Heights profile_of(const std::string& name, std::int64_t keys, Rng& rng) {
  if (name == "stairs") return heights(Profile::stairs, keys, rng);
  Heights height =
      heights(kit::one_of(rng, {Profile::gentle_ramp, Profile::steep_ramp}), keys, rng);
  if (name == "falling") std::ranges::reverse(height);
  return height;
}

/// How high the score of each key lies, the noise apart. Empty: nowhere.
Heights heights_of(const Assignment& choice, Rng& rng, const kit::AttentionProblem& form) {
  const std::string& name = choice["scores"].name;
  if (name == "usual" || name == "equal" || form.k_len == 0) return {};
  if (name == "climbing" || name == "falling" || name == "stairs")
    return profile_of(name, form.k_len, rng);
  Heights height(static_cast<std::size_t>(form.k_len), 0.0);
  const double farthest = kFarthest * std::min(1.0, std::abs(form.scale));
  const double most = name == "8e35 apart" ? farthest : kit::log_uniform(rng, 1e3, 1e6);
  if (name.ends_with("apart"))
    for (double& number : height) number = rng.uniform(-1, 1) * most;
  if (name.starts_with("all near"))
    std::ranges::fill(height, name == "all near -103"    ? -103
                              : name == "all near -150"  ? -150
                              : name == "all near -8e35" ? -farthest
                                                         : farthest);
  const bool below = name == "1e6 to 1e12 below one";
  if (below)
    for (double& number : height) number = -kit::log_uniform(rng, 1e6, 1e12);
  double& only = height[static_cast<std::size_t>(rng.integer(0, form.k_len - 1))];
  if (below) only = 0;
  if (name == "one 14 to 24 above") only = rng.uniform(14, 24);
  if (name == "one 14 to 24 below") only = -rng.uniform(14, 24);
  return height;
}

/// A product is made of two numbers of about its root: neither leaves the range of float because
/// scale is far from 1.
void balance(Problem& problem) {
  if (problem.form.scale == 0) return;
  const double root = std::clamp(std::sqrt(std::abs(problem.form.scale)), 0x1p-40, 0x1p40);
  const auto power = static_cast<float>(std::exp2(std::round(std::log2(root))));
  for (float& q : problem.q.data) q *= power;
  for (float& k : problem.k.data) k /= power;
}

void put_scores(const Assignment& choice, Rng& rng, Problem& problem, const Heights& height) {
  const double size = problem.form.scale == 0 ? 1 : std::abs(problem.form.scale);
  fill_scores(problem, rng, std::min(height.empty() ? 3.5 : 0.7, kLargestProduct * size),
              height.empty() ? 0 : 1);
  const bool by_row =
      !height.empty() && (choice.is("scores", "climbing") || choice.is("scores", "falling") ||
                          choice.is("scores", "stairs"));
  if (!height.empty())
    add_to_scores(
        problem, 0, [&](auto, auto, auto) { return by_row ? rng.uniform(0.5, 1.5) : 1.0; },
        [&](auto, auto, auto j) { return height[static_cast<std::size_t>(j)]; });
  if (choice.is("scores", "equal"))
    for (float& q : problem.q.data) q = rng.chance(0.5) ? 0.0f : -0.0f;
  balance(problem);
}

void put_values(const Assignment& choice, Rng& rng, Problem& problem, const Heights& height) {
  fill_values(problem, rng);
  if (choice["values"].most > 0) {
    const double size = choice.draw_real(rng, "values");
    for (float& v : problem.v.data) v = static_cast<float>(v * size);
  }
  if (choice.is("values", "9e35 in all")) grow_values(problem);
  if (choice.is("values", "zeros")) std::ranges::fill(problem.v.data, 0.0f);
  if (choice.is("values", "columns apart"))
    kit::for_each_row(problem.v, [](std::span<float> row, auto, auto, auto) {
      for (std::size_t d = 0; d < row.size(); ++d)
        row[d] *= static_cast<float>(std::pow(10.0, static_cast<double>(d % 9) - 4));
    });
  if (height.empty()) return;
  if (choice.is("values", "1e35 behind none")) grow_unweighted(problem, height);
  if (!choice.is("values", "huge behind small weights")) return;
  const double top = *std::ranges::max_element(height);
  kit::for_each_row(problem.v, [&](std::span<float> row, auto, auto, auto j) {
    const double below = top - height[static_cast<std::size_t>(j)];
    for (float& v : row) v = static_cast<float>(v * std::exp(std::min(below, kLargestBoost)));
  });
}

}  // namespace

std::vector<kit::Argument> number_arguments() {
  return {{"scale",
           {{"usual"},
            {"minus the usual"},
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
            {"-3e38", 3e38, 3e38}}},
          {"softcap",
           {{"0", 0, 0},
            {"-0", 0, 0},
            {"1e-45", 1.4e-45, 1.4e-45},
            {"1e-30", 1e-30, 1e-30},
            {"1e-6 to 1e-3", 1e-6, 1e-3},
            {"0.5 to 5", 0.5, 5},
            {"10 to 60", 10, 60},
            {"70 to 700", 70, 700},
            {"1e3 to 1e4", 1e3, 1e4},
            {"1e6", 1e6, 1e6},
            {"1e30", 1e30, 1e30},
            {"3e38", 3e38, 3e38}}},
          {"scores",
           {{"usual"},
            {"equal"},
            {"climbing"},
            {"falling"},
            {"stairs"},
            {"one 14 to 24 above"},
            {"one 14 to 24 below"},
            {"all near -103"},
            {"all near -150"},
            {"all near -8e35"},
            {"all near 8e35"},
            {"1e3 to 1e6 apart"},
            {"1e6 to 1e12 below one"},
            {"8e35 apart"}}},
          {"values",
           {{"usual"},
            hiding({"zeros"}),
            {"1e-33 to 1e-25", 1e-33, 1e-25},
            {"9e35 in all"},
            {"huge behind small weights"},
            {"1e35 behind none"},
            {"columns apart"}}}};
}

bool shows_heights(const Assignment& choice) {
  constexpr double kLeastSoftcap = 1e3;  // leaves them as they are
  return has_heights(choice) && !kit::repeats_rows(choice, "k") &&
         (choice["softcap"].most == 0 || choice["softcap"].least >= kLeastSoftcap);
}

bool numbers_reachable(const Assignment& choice) {
  // Beside one huge value whose weight is like the others', a float32 chain may lose these others.
  if (choice.is("values", "huge behind small weights") && !shows_heights(choice)) return false;
  if (choice.is("values", "1e35 behind none") && !has_heights(choice)) return false;
  if (choice.is("scores", "usual") || choice.is("scores", "equal")) return true;
  constexpr double kUsual = 1.0 / 16;  // of 256 dimensions
  const bool usual = choice["scale"].name.ends_with("usual");
  const double scale = usual ? kUsual : choice["scale"].least;
  return scale >= (choice["scores"].name.find("8e35") != std::string::npos ? kUsual : 1e-26);
}

void put_numbers(const Assignment& choice, Rng& rng, Problem& problem) {
  problem.form.scale = scale_of(choice, rng, problem.form.dim);
  problem.form.softcap = softcap_of(choice, rng);
  const Heights height = heights_of(choice, rng, problem.form);
  put_scores(choice, rng, problem, height);
  put_values(choice, rng, problem, height);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
