// SPDX-License-Identifier: Apache-2.0
#include "large.h"

#include <string>
#include <vector>

#include "graders/kit/assignments.h"
#include "graders/kit/device.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;
using kit::hiding;
using kit::sized;

const kit::Domain& large_domain() {
  static const kit::Domain made{
      {{"elements", {sized(131'100, 135'000), sized(262'200, 265'000)}},  // 2^17, 2^18 and more
       {"cols",
        {sized(600, 900), sized(2, 4), sized(30, 60), sized(16'400, 17'000),
         sized(kit::kDivisible)}},
       {"gamma", {{"usual"}, {"absent"}}},
       {"beta", {{"usual"}, {"absent"}}},
       {"statistics", {{"own"}, hiding({"given"}, {"beta", "y"})}},
       {"y", {{"wanted"}, hiding({"not wanted"}, {"beta"})}},
       {"gradients",
        {{"all"},
         {"dx"},
         {"dgamma"},
         {"dbeta"},
         {"dx and dgamma"},
         {"dx and dbeta"},
         {"dgamma and dbeta"}}},
       {"x gaps", {sized(0), sized(1, 20)}},
       {"dy gaps", {sized(0), sized(1, 20)}},
       {"y gaps", {sized(0), sized(1, 20)}},
       {"dx gaps", {sized(0), sized(1, 20)}},
       {"a row", {{"as others"}, {"NaN"}, {"infinity"}}},
       {"x", {{"usual"}, {"far from zero", 100, 500}}},
       {"deterministic", {sized(0), sized(1)}},
       {"threads", {sized(2), sized(1), sized(3), sized(7)}}},
      // A running float sum of long rows uses up what it may, see honest_columns in
      // checks_scale.cpp; and a variance of few columns is small by chance.
      [](const Assignment& choice) {
        return choice.is("x", "usual") || choice.is("cols", "30 to 60");
      },
      // One array alone that is not as the others are.
      {{{"x gaps"}}, {{"dy gaps"}}, {{"y gaps"}}, {{"dx gaps"}}}};
  return made;
}

Problem problem_of(const Assignment& choice, Rng& rng) {
  const Gaps gaps{choice.draw(rng, "x gaps"), choice.draw(rng, "dy gaps"),
                  choice.draw(rng, "y gaps"), choice.draw(rng, "dx gaps")};
  const std::int64_t cols = choice.draw(rng, "cols");
  const std::int64_t rows = choice.draw(rng, "elements") / cols + 1;
  const double mean = choice["x"].most > 0 ? choice.draw_real(rng, "x") : 0;
  Problem problem = make_big_problem(rng, rows, cols, {mean, 1, 0.3, 1}, gaps);
  if (choice.is("gamma", "absent")) problem.gamma.clear();
  if (choice.is("beta", "absent")) problem.beta.clear();
  if (choice.is("statistics", "given")) give_drawn_statistics(rng, problem);
  if (choice.is("a row", "as others")) return problem;
  const std::int64_t bad = rng.integer(0, rows / 3);  // with others behind it
  const auto column = static_cast<std::size_t>(rng.integer(0, cols - 1));
  (rng.chance(0.5) ? problem.x : problem.dy).row(bad)[column] =
      choice.is("a row", "NaN") ? kit::kNan : kit::kInfinity;
  problem.bad_rows = {bad};
  return problem;
}

void ask_step(Probe& probe, const Assignment& choice, Rng& rng) {
  const Problem problem = problem_of(choice, rng);
  const std::string& wanted = choice["gradients"].name;
  CallOptions options;
  options.threads = static_cast<int>(choice.draw(rng, "threads"));
  options.deterministic = static_cast<std::int32_t>(choice.draw(rng, "deterministic"));
  options.y = choice.is("y", "wanted");
  options.dx = wanted == "all" || wanted.starts_with("dx");
  options.dgamma = wanted == "all" || wanted.find("dgamma") != std::string::npos;
  options.dbeta = wanted == "all" || wanted.ends_with("dbeta");
  require_right_with_y(probe, problem, options);
}

void ask_all(Probe& probe, const std::vector<Assignment>& assignments) {
  kit::ask_each(probe, large_domain(), assignments,
                [&](const Assignment& choice, Rng& rng) { ask_step(probe, choice, rng); });
}

}  // namespace

void ask_large_pairs(Probe& probe) {
  if (kit::on_device(probe)) return;
  Rng rng = probe.common_stream("large pairs");
  ask_all(probe, kit::covering_assignments(large_domain(), rng));
}

void ask_large(Probe& probe, const kit::Corner& corner) {
  if (!kit::on_device(probe)) ask_all(probe, kit::combinations(large_domain(), corner));
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
