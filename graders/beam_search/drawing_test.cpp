// SPDX-License-Identifier: Apache-2.0
#include "drawing.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <limits>
#include <map>
#include <set>

#include "domain.h"
#include "graders/kit/assignments.h"

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

namespace {

bool allowed(const Settings& s) {
  for (const std::int32_t id : s.eos)
    if (id < 0 || id >= s.vocab) return false;
  const std::set<std::int32_t> different(s.eos.begin(), s.eos.end());
  return s.beam >= 1 && s.beam <= 1024 && s.vocab >= 1 && s.min_new >= 0 && s.threads >= 1 &&
         s.min_new <= s.max_new && s.n_return >= 1 && s.n_return <= s.beam &&
         different.size() == s.eos.size() && s.eos.size() <= 64;
}

/// All rows of the roots are log-probabilities.
bool sane(const Problem& problem) {
  std::vector<float> row(static_cast<std::size_t>(problem.settings.vocab));
  for (std::int64_t item = 0; item < problem.batch(); ++item) {
    problem.language(root_of(item), row);
    for (const float value : row)
      if (!(value <= 0)) return false;
  }
  return true;
}

/// The simplest of everything but these classes.
kit::Assignment classes(const std::map<std::string, std::string>& names) {
  const std::vector<kit::Argument>& all = domain().arguments;
  kit::Assignment choice(all);
  for (const auto& [argument, name] : names) {
    const auto k = std::ranges::find(all, argument, &kit::Argument::name);
    REQUIRE(k != all.end());
    const auto c = std::ranges::find(k->classes, name, &kit::ValueClass::name);
    REQUIRE(c != k->classes.end());
    choice = choice.with(static_cast<std::size_t>(k - all.begin()),
                         static_cast<std::size_t>(c - k->classes.begin()));
  }
  return choice;
}

std::vector<float> row_of(const Problem& problem, const Context& at) {
  std::vector<float> row(static_cast<std::size_t>(problem.settings.vocab));
  problem.language(at, row);
  return row;
}

}  // namespace

TEST_CASE("what is drawn of the domain is within the contract, and hangs nowhere on rounding") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Rng rng(seed);
    std::vector<kit::Assignment> all = kit::covering_assignments(domain(), rng);
    for (const kit::Assignment& one : kit::random_assignments(domain(), rng, 250))
      all.push_back(one);
    for (const kit::Assignment& choice : all) {
      CAPTURE(choice.words());
      const SolvedProblem solved = solved_problem_of(choice, rng);  // or it throws
      CHECK(allowed(solved.problem.settings));
      CHECK(sane(solved.problem));
      CHECK(std::ssize(solved.want) == solved.problem.batch());
    }
  }
}

TEST_CASE("classes of which every item hangs on rounding have no search, and nothing is broken") {
  // Sums near 2^24 of many lengths, whose lp differ by some 1e-7.
  std::map<std::string, std::string> names{{"batch", "1"},
                                           {"beam", "63 to 65"},
                                           {"vocab", "3"},
                                           {"max_new", "15 to 17"},
                                           {"policy", "pooled"},
                                           {"alpha", "1e-7"},
                                           {"log-probs", "far down"},
                                           {"possible", "all"},
                                           {"EOS come", "often"}};
  const kit::Assignment hanging = classes(names);
  Rng rng(1);
  REQUIRE(domain().valid(hanging));
  CHECK_FALSE(judgeable_problem_of(hanging, rng));
  // Wide beams take longer each, and so fewer of them are tried.
  const auto tried = [&] {
    try {
      solved_problem_of(classes(names), rng);
    } catch (const HangsOnRounding& hanging) {
      return std::stoi(hanging.what());
    }
    return 0;
  };
  const int narrow = tried();
  names["beam"] = "255 to 257";
  const int wide = tried();
  CHECK(narrow > 3 * wide);
  CHECK(wide > 9);
  CHECK(wide < 100);
  // As few lengths as one leave rounding no decision.
  names["max_new"] = "1";
  CHECK(judgeable_problem_of(classes(names), rng));
}

TEST_CASE("sizes of which a few do give way to the others") {
  const kit::Assignment simple(domain().arguments);
  Rng rng(5);
  for (std::size_t k = 0; k < domain().arguments.size(); ++k) {
    if (domain().arguments[k].name != "vocab") continue;
    const kit::Assignment widest = simple.with(k, domain().arguments[k].classes.size() - 1);
    REQUIRE(domain().valid(widest));
    const Sizes sizes = sizes_of(widest, rng);
    CHECK(sizes.vocab == 65'537);
    CHECK(sizes.batch == 1);
    CHECK(sizes.beam * (sizes.max_new - 1) <= 3);
  }
}

TEST_CASE("a model that goes by the last token answers with the state of the prompt") {
  Rng rng(8);
  const auto choice = classes({{"states", "of the prompt"}});
  REQUIRE(domain().valid(choice));
  REQUIRE(options_of(choice).states == StateNumbers::of_the_prompt);
  const Problem problem = problem_of(choice, rng);
  const auto row_at = [&](const Context& at) { return row_of(problem, at); };
  const Context root = root_of(0);
  CHECK(row_at(root.extended(1)) == row_at(root.extended(2).extended(1)));
  CHECK(row_at(root.extended(1)) != row_at(root.extended(2)));
  CHECK(row_at(root.extended(1)) != row_at(root));
}

TEST_CASE(
    "hypotheses that converge are answered alike, and have one state where they are as long") {
  Rng rng(7);
  const auto choice =
      classes({{"states", "that converge"}, {"log-probs", "mostly the lowest float"}});
  REQUIRE(domain().valid(choice));
  CHECK(options_of(choice).states == StateNumbers::converging);
  const Problem problem = problem_of(choice, rng);
  const auto row_at = [&](const Context& at) { return row_of(problem, at); };
  const Context root = root_of(0);
  CHECK(row_at(root.extended(1)) == row_at(root.extended(2)));
  CHECK(row_at(root.extended(1)) != row_at(root.extended(1).extended(1)));
  int lowest = 0;
  int others = 0;
  for (Context at = root; at.depth < 40; at = at.extended(0))
    for (const float value : row_at(at)) {
      const bool is_lowest = value == std::numeric_limits<float>::lowest();
      if (value != kForbidden) ++(is_lowest ? lowest : others);
    }
  CHECK(lowest > others);
  CHECK(others > 10);
}
