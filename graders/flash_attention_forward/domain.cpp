// SPDX-License-Identifier: Apache-2.0
#include "domain.h"

#include <algorithm>

#include "domain_numbers.h"
#include "graders/kit/attention_domain.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Argument;
using kit::Assignment;
using kit::sized;
using kit::threads_argument;

constexpr double kMostWork = 3e6;      // multiplications of the oracle
constexpr double kMostNumbers = 60e3;  // of an array, gaps included

std::vector<Argument> arguments() {
  std::vector<Argument> all;
  for (const auto& part :
       {kit::attention_size_arguments(), kit::attention_mask_arguments(), number_arguments(),
        kit::attention_place_arguments({"q", "k", "v"}, {"o"}, {"lse"})})
    all.insert(all.end(), part.begin(), part.end());
  all.push_back({"lse", {{"wanted"}, {"not wanted"}}});
  all.push_back({"outputs hold", {{"poison"}, {"a number"}, {"infinity"}}});
  all.push_back(threads_argument());
  all.push_back({"before",
                 {{"nothing"},
                  {"one element of q differed"},
                  {"one element of k differed"},
                  {"one element of v differed"},
                  {"scale differed"},
                  {"softcap differed"},
                  {"lse or not"},
                  {"another group"},
                  {"mask differed"},
                  {"lists differed"},
                  {"another size"},
                  {"other threads"}}});
  return all;
}

bool small(const Assignment& choice) {
  const double keys = choice["kv heads"].most * choice["k_len"].most;
  const double queries = choice["kv heads"].most * choice["group"].most * choice["q_len"].most;
  const double dim = choice["head_dim"].most;
  const double value_dim = choice["value_dim"].most;
  return kit::most_pairs(choice) * (dim + value_dim) <= kMostWork &&
         kit::most_numbers(choice, "q", queries, dim) <= kMostNumbers &&
         kit::most_numbers(choice, "k", keys, dim) <= kMostNumbers &&
         kit::most_numbers(choice, "v", keys, value_dim) <= kMostNumbers &&
         kit::most_numbers(choice, "o", queries, value_dim) <= kMostNumbers;
}

/// Weights, or values, are so nearly equal that the roundings of their sum do not cancel: a chain
/// of n terms may err by n / 3 roundings, which the contract allows for few keys only.
constexpr double kMostAlike = 65;
bool alike(const Assignment& choice) {
  return choice.is("scale", "1e-38") || choice.is("softcap", "1e-6 to 1e-3") ||
         choice.is("v layout", "one row") || choice.is("v layout", "one of all");
}

/// Weights that grow before they are rescaled overflow where values are the largest and scores
/// climb, and nowhere else: such a pair is not asked where a third argument hides the climb.
bool climbs(const Assignment& choice) {
  return choice.is("scores", "climbing") || choice.is("scores", "falling") ||
         choice.is("scores", "stairs");
}
bool shows_climb(const Assignment& choice) {
  constexpr double kLeastKeys = 20;  // of which a climb is 10 in all, or more
  constexpr double kLeastRows = 3;   // each as steep as it is drawn
  constexpr double kFar = 0x1p31;
  const kit::ValueClass& window = choice["window left"];
  return choice["k_len"].least >= kLeastKeys && choice["q_len"].least >= kLeastRows &&
         shows_heights(choice) &&
         (window.most < 0 || window.most >= kFar || window.name.starts_with("k_len")) &&
         (choice.is("kv_start", "absent") || choice.is("kv_start", "0")) &&
         (choice.is("kv_len", "absent") || choice.is("kv_len", "to the end") ||
          choice.is("kv_len", "one less"));
}

bool valid(const Assignment& choice) {
  const std::string& before = choice["before"].name;
  if (before.starts_with("one element") && !(kit::has_queries(choice) && kit::has_keys(choice)))
    return false;
  if (choice.is("before", "lists differed") && choice.is("kv_start", "absent") &&
      choice.is("kv_len", "absent"))
    return false;
  if (choice["k_len"].most > kMostAlike && alike(choice)) return false;
  if (choice.is("values", "9e35 in all") && climbs(choice) && !shows_climb(choice)) return false;
  return kit::places_are_valid(choice) && kit::mask_is_valid(choice) && small(choice) &&
         numbers_reachable(choice);
}

/// Keys that nobody sees beside scores that are lower than any number that may stand for them; keys
/// of no weight beside values that show the least, at any distance at which an exponent may leave
/// its bits; scores at either end of a cap that floats would bear without a maximum, beside values
/// that they would not; scores far below what bounds them, of few keys; more heads than some start
/// threads; a call that is like the one before but for one argument; and keys that were others at
/// the same address, some of them only, or that existed, by lists that were others at the same
/// address. A copy of rows is kept where these lie apart, if anywhere, by a thread that the next
/// call has again, or for the next batch entry, which shares them and has others of them.
std::vector<kit::Corner> corners() {
  std::vector<kit::Corner> all = kit::attention_corners();
  all.insert(all.end(), {{{"causal", {"1"}}, {"scores", {"all near -8e35", "8e35 apart"}}},
                         {{"scores", {"1e3 to 1e6 apart"}}, {"values", {"1e35 behind none"}}},
                         {{"scores", {"1e6 to 1e12 below one"}},
                          {"values", {"1e35 behind none"}},
                          {"k_len", {"127 to 129", "255 to 257"}}},
                         {{"scores", {"all near -150"}}, {"k_len", {"1", "7 to 9"}}},
                         {{"softcap", {"10 to 60", "70 to 700"}},
                          {"scores", {"all near -150", "all near 8e35"}},
                          {"values", {"9e35 in all", "1e-33 to 1e-25"}}},
                         {{"softcap", {"1e-45"}}, {"scores", {"equal"}}, {"scale", {"usual"}}},
                         {{"kv heads", {"65 to 67"}}, {"k_len", {"7 to 9"}}, {"threads"}},
                         {{"before", {"one element of k differed"}}, {"threads", {"1", "2"}}},
                         {{"before", {"softcap differed", "lse or not"}}, {"k_len", {"31 to 33"}}},
                         {{"before", {"another group"}}, {"kv heads", {"2"}}, {"group", {"2"}}},
                         {{"before", {"lists differed"}}, {"kv_len", {"one less"}}},
                         {{"before", {"lists differed"}}, {"kv_start", {"1 to 9"}}}});
  for (const std::string array : {"q", "k", "v"})
    all.push_back({{"before", {"one element of " + array + " differed"}},
                   {array + " layout", {"one more", "odd gaps", "packed", "a page between rows"}},
                   {"q_len", {"5 to 12", "1"}},
                   {"k_len", {"20 to 30", "1"}},
                   {"threads", {"1"}}});
  for (const std::string array : {"k", "v"})
    all.push_back({{array + " layout", {"one batch entry"}},
                   {"batch", {"7 to 9", "31 to 33"}},
                   {"kv_start", {"different"}},
                   {"group", {"1", "2"}},
                   {"q_len", {"5 to 12", "1", "2"}},
                   {"threads", {"1"}}});
  return all;
}

std::int64_t columns_near(Rng& rng, std::int64_t columns) {
  constexpr std::int64_t kMost = 256;
  return std::min(kMost, kit::near_to(rng, columns));
}

/// Of other sizes, at the same addresses.
Problem another_size(Rng& rng, const kit::AttentionProblem& form) {
  Problem other({1, 2, 1, kit::near_to(rng, form.q_len), kit::near_to(rng, form.k_len),
                 columns_near(rng, form.dim), columns_near(rng, form.value_dim)});
  fill_sharp(other, rng);
  return other;
}

/// Of as many query heads, each on keys of its own or all on the same.
Problem another_group(Rng& rng, const kit::AttentionProblem& form) {
  const std::int64_t heads = form.kv_heads < form.q_heads ? form.q_heads : form.kv_heads > 0;
  Problem other(
      {form.batch, form.q_heads, heads, form.q_len, form.k_len, form.dim, form.value_dim});
  fill_sharp(other, rng);
  return other;
}

/// Only about half of the keys existed, none that does not now: those may be no numbers.
void halve_lists(kit::AttentionProblem& form) {
  for (std::int64_t b = 0; b < form.batch; ++b) {
    const auto at = static_cast<std::size_t>(b);
    const auto half = static_cast<std::int32_t>(form.existing_keys(b).size() / 2);
    if (!form.kv_start.empty()) form.kv_start[at] += half;
    if (!form.kv_len.empty()) form.kv_len[at] -= half;
  }
}

}  // namespace

const kit::Domain& domain() {
  static const kit::Domain made{arguments(), valid, corners(), kit::attention_integers()};
  return made;
}

Problem problem_of(const Assignment& choice, Rng& rng) {
  Problem problem(kit::attention_sizes_of(choice, rng));
  kit::put_mask(choice, rng, problem.form);
  put_numbers(choice, rng, problem);
  kit::repeat_shared(problem.q, kit::layout_of(choice, rng, "q"));
  kit::repeat_shared(problem.k, kit::layout_of(choice, rng, "k"));
  kit::repeat_shared(problem.v, kit::layout_of(choice, rng, "v"));
  kit::put_missing_keys(choice, problem.form, problem.k);
  kit::put_missing_keys(choice, problem.form, problem.v);
  return problem;
}

CallOptions options_of(const Assignment& choice, Rng& rng) {
  CallOptions options;
  kit::put_places(choice, options);
  options.threads = static_cast<int>(choice.draw(rng, "threads"));
  options.q = kit::layout_of(choice, rng, "q");
  options.k = kit::layout_of(choice, rng, "k");
  options.v = kit::layout_of(choice, rng, "v");
  options.o = kit::layout_of(choice, rng, "o");
  options.want_lse = choice.is("lse", "wanted");
  if (choice.is("outputs hold", "a number")) options.old = static_cast<float>(rng.normal());
  if (choice.is("outputs hold", "infinity")) options.old = kit::kInfinity;
  return options;
}

Problem earlier(const Assignment& choice, Rng& rng, const Problem& problem) {
  const std::string& before = choice["before"].name;
  if (before == "another size") return another_size(rng, problem.form);
  if (before == "another group") return another_group(rng, problem.form);
  Problem other = problem;
  kit::put_difference(before, rng, other.form, {{"q", &other.q}, {"k", &other.k}, {"v", &other.v}});
  if (before == "softcap differed") {
    other.form.softcap = problem.form.softcap > 0 ? problem.form.softcap / 2 : 1.0f;
  }
  if (before == "lists differed") halve_lists(other.form);
  return other;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
