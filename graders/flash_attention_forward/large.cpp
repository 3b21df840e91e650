// SPDX-License-Identifier: Apache-2.0
#include "large.h"

#include <string>
#include <vector>

#include "domain.h"
#include "graders/kit/assignments.h"
#include "graders/kit/attention_domain.h"
#include "lap.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Argument;
using kit::Assignment;
using kit::sized;

constexpr double kMostPairs = 1.3e6;  // of a query and a key, which a solution takes 10 ms for
constexpr double kMostWork = 2.4e7;   // multiplications of these
constexpr double kMostNumbers = 8e5;  // of an array, gaps included

std::vector<kit::ValueClass> window_ends() {
  return {{"-1", -1, -1}, sized(0, 60), sized(600, 1000), {"k_len - 1"}, {"k_len"}};
}

std::vector<Argument> arguments() {
  const std::vector<kit::ValueClass> columns{sized(8), sized(3, 15), sized(64)};
  std::vector<Argument> all{
      {"q_len",
       {sized(130, 140), sized(1), sized(2, 4), sized(260, 300), sized(kit::kDivisible / 64),
        sized(1025, 1100)}},
      {"k_len",
       {sized(2060, 2300), sized(1030, 1100), sized(2048), sized(kit::kDivisible / 16), sized(4096),
        sized(4100, 4500)}},
      {"batch", {sized(1), sized(2), sized(3)}},
      {"kv heads", {sized(1), sized(2)}},
      {"group", {sized(1), sized(2), sized(3, 4)}},
      {"head_dim", columns},
      {"value_dim", columns},
      {"causal", {sized(0), sized(1)}},
      {"window left", window_ends()},
      {"window right", window_ends()},
      {"kv_start",
       {{"absent", 0, 0}, sized(1, 9), sized(500, 600), kit::hiding({"k_len"}), {"different"}}},
      {"kv_len", {{"absent"}, {"one less"}, {"half"}, {"different"}}},
      {"missing keys hold", {{"numbers"}, {"NaN"}}},
      {"scale", {{"usual"}, {"minus the usual"}}},
      {"softcap", {sized(0), sized(2, 20)}},
      {"scores", {{"near each other"}, {"climbing"}, {"sharp"}}}};
  for (const std::string array : {"q", "k", "v", "o"})
    all.push_back({array + " layout", {{"dense"}, {"odd gaps"}, {"rows outside"}}});
  all.push_back({"strides of one", {{"as if of many"}, {"0"}, {"2^60"}}});
  all.push_back({"lse", {{"wanted"}, {"not wanted"}}});
  all.push_back({"threads", {sized(2), sized(1), sized(3), sized(7)}});
  all.push_back({"before",
                 {{"nothing"},
                  {"some rows of q differed"},
                  {"some rows of k differed"},
                  {"some rows of v differed"},
                  {"scale differed"},
                  {"mask differed"},
                  {"lists differed"}}});
  return all;
}

bool valid(const Assignment& choice) {
  const double columns = choice["head_dim"].most + choice["value_dim"].most;
  const double rows = choice["kv heads"].most * choice["k_len"].most;
  if (choice.is("before", "lists differed") && choice.is("kv_start", "absent") &&
      choice.is("kv_len", "absent"))
    return false;
  return kit::most_pairs(choice) <= kMostPairs && kit::most_pairs(choice) * columns <= kMostWork &&
         kit::most_numbers(choice, "k", rows, columns) <= kMostNumbers;
}

const kit::Domain& large_domain() {
  static const kit::Domain made{arguments(), valid};
  return made;
}

/// Scores that are near each other show each key: the least weight is far above what is allowed.
Problem large_problem(const Assignment& choice, Rng& rng) {
  constexpr double kNear = 0.7;
  Problem problem(kit::attention_sizes_of(choice, rng));
  kit::put_mask(choice, rng, problem.form);
  if (choice.is("scale", "minus the usual")) problem.form.scale *= -1;
  problem.form.softcap = static_cast<float>(choice.draw(rng, "softcap"));
  if (choice.is("scores", "sharp")) fill_sharp(problem, rng);
  if (choice.is("scores", "climbing")) fill_climbing(problem, rng);
  if (choice.is("scores", "near each other")) {
    fill_scores(problem, rng, kNear);
    fill_values(problem, rng);
  }
  kit::put_missing_keys(choice, problem.form, problem.k);
  kit::put_missing_keys(choice, problem.form, problem.v);
  return problem;
}

/// So few rows were others that who looks at some numbers finds these as they were.
void change_rows(kit::Tensor& tensor, Rng& rng) {
  constexpr double kShare = 0.005;
  kit::for_each_row(tensor, [&](std::span<float> row, auto, auto, auto) {
    if (!rng.chance(kShare)) return;
    for (float& number : row) number = 3 - number;
  });
}

/// What the solution is asked before the problem that is judged.
Problem large_earlier(const Assignment& choice, Rng& rng, const Problem& problem) {
  if (!choice["before"].name.starts_with("some rows")) return earlier(choice, rng, problem);
  Problem other = problem;
  change_rows(choice.is("before", "some rows of q differed")   ? other.q
              : choice.is("before", "some rows of k differed") ? other.k
                                                               : other.v,
              rng);
  return other;
}

void ask_call(Probe& probe, const Assignment& choice, Rng& rng) {
  constexpr int kJudged = 10;
  const Problem problem = large_problem(choice, rng);
  CallOptions options;
  options.q = kit::layout_of(choice, rng, "q");
  options.k = kit::layout_of(choice, rng, "k");
  options.v = kit::layout_of(choice, rng, "v");
  options.o = kit::layout_of(choice, rng, "o");
  options.want_lse = choice.is("lse", "wanted");
  options.threads = static_cast<int>(choice.draw(rng, "threads"));
  if (!choice.is("before", "nothing")) ask(probe, large_earlier(choice, rng, problem), options);
  const JudgedRows rows = some_rows(problem, rng, kJudged);
  if (const auto miss = rows.miss(ask(probe, problem, options)))
    probe.fail(*miss, {kit::describe(problem.form)});
}

void ask_all(Probe& probe, const std::vector<Assignment>& assignments) {
  kit::ask_each(probe, large_domain(), assignments,
                [&](const Assignment& choice, Rng& rng) { ask_call(probe, choice, rng); });
}

}  // namespace

void ask_large_pairs(Probe& probe) {
  Rng rng = probe.common_stream("large pairs");
  ask_all(probe, kit::covering_assignments(large_domain(), rng));
}

void ask_large(Probe& probe, const kit::Corner& corner) {
  ask_all(probe, kit::combinations(large_domain(), corner));
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
