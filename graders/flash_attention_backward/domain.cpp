// SPDX-License-Identifier: Apache-2.0
#include "domain.h"

#include <limits>

#include "domain_numbers.h"
#include "graders/kit/attention_domain.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Argument;
using kit::Assignment;
using kit::hiding;
using kit::sized;

constexpr double kMostWork = 1e6;      // multiplications of one product of the oracle
constexpr double kMostNumbers = 60e3;  // of an array, gaps included

// Roundings of equal terms do not cancel: a chain of n may err by n / 4 roundings, of which the
// contract allows 32.
constexpr double kMostAlike = 33;

// This many threads take long to start: they are asked of what starts them once, or a few times.
constexpr double kManyThreads = 33;
constexpr double kFewEntries = 3;

constexpr std::int64_t kNegative = std::numeric_limits<std::int32_t>::min();

std::vector<Argument> arguments() {
  std::vector<Argument> all;
  for (const auto& part :
       {kit::attention_size_arguments(), kit::attention_mask_arguments(), number_arguments(),
        kit::attention_place_arguments({"q", "k", "v", "o", "dout"}, {"dq", "dk", "dv"},
                                       {"lse", "dlse", "delta"})})
    all.insert(all.end(), part.begin(), part.end());
  all.push_back({"causal is", {sized(1), sized(-1), sized(256), sized(65536), sized(kNegative)}});
  all.push_back({"results",
                 {{"dq, dk, dv"},
                  {"dq, dk, dv, delta"},
                  hiding({"dq"}, {"dk layout", "dv layout"}),
                  hiding({"dk"}, {"dq layout", "dv layout"}),
                  hiding({"dv"}, {"dq layout", "dk layout", "given o", "dlse", "v"}),
                  hiding({"delta"}, {"dq layout", "dk layout", "dv layout", "v", "scale", "softcap",
                                     "scores"}),
                  hiding({"dk, dv"}, {"dq layout"}),
                  hiding({"dq, delta"}, {"dk layout", "dv layout"}),
                  hiding({"dv, delta"}, {"dq layout", "dk layout", "v"}),
                  hiding({"none"})}});
  all.push_back({"outputs hold", {{"poison"}, {"a number"}, {"infinity"}}});
  all.push_back({"deterministic", {sized(0), sized(1), sized(256), sized(65536)}});
  // One thread gives equal bits anyway, and of many it is not asked.
  const auto alone = [](std::int64_t threads) { return hiding(sized(threads), {"deterministic"}); };
  all.push_back(
      {"threads", {sized(2), alone(1), sized(3), sized(7), costly(alone(33)), costly(alone(200))}});
  all.push_back({"before",
                 {{"nothing"},
                  {"one element of q differed"},
                  {"one element of k differed"},
                  {"one element of v differed"},
                  {"one element of dout differed"},
                  {"one element of o differed"},
                  {"lse differed"},
                  {"scale differed"},
                  {"softcap differed"},
                  {"dlse differed"},
                  {"mask differed"},
                  {"fewer keys existed"},
                  {"other results"},
                  {"another size"},
                  {"other strides"},
                  {"other threads"}}});
  return all;
}

bool small(const Assignment& choice) {
  const double keys = choice["kv heads"].most * choice["k_len"].most;
  const double queries = choice["kv heads"].most * choice["group"].most * choice["q_len"].most;
  const double dim = choice["head_dim"].most;
  const double value_dim = choice["value_dim"].most;
  const auto fits = [&](const char* array, double rows, double columns) {
    return kit::most_numbers(choice, array, rows, columns) <= kMostNumbers;
  };
  return kit::most_pairs(choice) * (dim + value_dim) <= kMostWork && fits("q", queries, dim) &&
         fits("dq", queries, dim) && fits("k", keys, dim) && fits("dk", keys, dim) &&
         fits("v", keys, value_dim) && fits("dv", keys, value_dim) &&
         fits("o", queries, value_dim) && fits("dout", queries, value_dim);
}

bool few_alike(const Assignment& choice) {
  bool alike = false;
  for (const char* array : {"q", "k", "v", "o", "dout"})
    alike = alike || kit::repeats_rows(choice, array) ||
            choice[std::string(array) + " layout"].name == "one head";
  return !alike || (choice["k_len"].most <= kMostAlike &&
                    choice["group"].most * choice["q_len"].most <= kMostAlike);
}

bool threads_start_seldom(const Assignment& choice) {
  if (choice["threads"].most < kManyThreads) return true;
  return choice["batch"].most <= kFewEntries &&
         (choice.is("before", "nothing") || choice.is("before", "other threads"));
}

bool valid(const Assignment& choice) {
  const std::string& before = choice["before"].name;
  if (before.starts_with("one element") && !(kit::has_queries(choice) && kit::has_keys(choice)))
    return false;
  if (choice.is("before", "fewer keys existed") && choice.is("kv_len", "absent")) return false;
  if (choice.is("before", "dlse differed") && choice["scale"].most > 1) return false;
  // What is quickly seen first: there are 100,000 tries.
  return threads_start_seldom(choice) && kit::places_are_valid(choice) &&
         kit::mask_is_valid(choice) && numbers_representable(choice) && few_alike(choice) &&
         small(choice);
}

/// What arguments decide together, beside nothing that may hide it: a window that begins where the
/// keys do, or ends before them, a weight that is as good as 0, one of a score beyond exp, more
/// heads than some start threads, strides that nothing is multiplied with, heads apart where there
/// is nothing to compute, and heads that share some inputs and not others.
std::vector<kit::Corner> corners() {
  std::vector<kit::Corner> all = kit::attention_corners();
  all.insert(
      all.end(),
      {{{"q_len"}, {"kv_start", {"1 to 9"}}},
       {{"q_len"}, {"kv_len", {"half"}}},
       {{"scores", {"q below 1e-24", "k below 1e-24"}}},
       {{"kv heads", {"65 to 67"}}, {"k_len", {"7 to 9"}}, {"threads"}},
       {{"window left", {"0"}},
        {"window right", {"0"}},
        {"causal"},
        {"q_len", {"31 to 33"}},
        {"kv_start", {"1 to 9", "15 to 17"}},
        {"lse", {"finite where nothing is seen"}}},
       {{"strides of one"}},
       {{"q_len", {"0"}},
        {"kv heads", {"2"}},
        {"dk layout", {"dense", "heads apart"}},
        {"dv layout", {"dense", "heads apart"}}},
       {{"k_len", {"0"}}, {"kv heads", {"2"}}, {"dq layout", {"heads apart"}}},
       {{"q layout", {"one head", "one of all"}},
        {"group", {"2"}},
        {"lse", {"lowered by up to 19", "-infinity in some rows"}}},
       {{"dout layout", {"one head"}}, {"group", {"2"}}, {"given o", {"another"}}},
       {{"group"}, {"deterministic", {"256"}}},
       {{"q_len"}, {"deterministic", {"256"}}},
       {{"k_len"}, {"deterministic", {"256"}}},
       {{"softcap"},
        {"scores",
         {"equal", "rows apart", "of the cap's size", "one 14 to 24 above", "1e4 to 1e5 apart"}}},
       {{"scores", {"near 92"}}, {"lse", {"lowered by up to 19", "lowered by 19.5"}}}});
  return all;
}

}  // namespace

const kit::Domain& domain() {
  static const kit::Domain made{arguments(), valid, corners(), kit::attention_integers()};
  return made;
}

Problem problem_of(const Assignment& choice, Rng& rng) {
  Problem problem = drawn_problem(choice, rng, kit::attention_sizes_of(choice, rng));
  kit::put_mask(choice, rng, problem.form);
  kit::repeat_shared(problem.q, kit::layout_of(choice, rng, "q"));
  kit::repeat_shared(problem.k, kit::layout_of(choice, rng, "k"));
  kit::repeat_shared(problem.v, kit::layout_of(choice, rng, "v"));
  kit::repeat_shared(problem.dout, kit::layout_of(choice, rng, "dout"));
  kit::put_missing_keys(choice, problem.form, problem.k);
  kit::put_missing_keys(choice, problem.form, problem.v);
  put_given(choice, rng, problem);
  kit::repeat_shared(problem.o, kit::layout_of(choice, rng, "o"));
  return problem;
}

Problem uncomputed_problem_of(const Assignment& choice, Rng& rng) {
  Problem problem = zero_problem(choice, rng, kit::attention_sizes_of(choice, rng));
  kit::put_mask(choice, rng, problem.form);
  return problem;
}

CallOptions options_of(const Assignment& choice, Rng& rng) {
  CallOptions options;
  kit::put_places(choice, options);
  options.threads = static_cast<int>(choice.draw(rng, "threads"));
  options.deterministic = static_cast<std::int32_t>(choice.draw(rng, "deterministic"));
  options.causal = static_cast<std::int32_t>(choice.draw(rng, "causal is"));
  options.q = kit::layout_of(choice, rng, "q");
  options.k = kit::layout_of(choice, rng, "k");
  options.v = kit::layout_of(choice, rng, "v");
  options.o = kit::layout_of(choice, rng, "o");
  options.dout = kit::layout_of(choice, rng, "dout");
  options.dq = kit::layout_of(choice, rng, "dq");
  options.dk = kit::layout_of(choice, rng, "dk");
  options.dv = kit::layout_of(choice, rng, "dv");
  const std::string& results = choice["results"].name;
  const auto wants = [&](const char* name) { return results.find(name) != std::string::npos; };
  options.want_dq = wants("dq");
  options.want_dk = wants("dk");
  options.want_dv = wants("dv");
  options.want_delta = wants("delta");
  if (choice.is("outputs hold", "a number")) options.old = static_cast<float>(rng.normal());
  if (choice.is("outputs hold", "infinity")) options.old = kit::kInfinity;
  return options;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
