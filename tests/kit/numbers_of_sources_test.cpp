// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/numbers_of_sources.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>
#include <string>

#include "harness/core/error.h"

using namespace gauntlet;
using namespace gauntlet::kit;

namespace {

/// Of three arguments, two of which are sizes. Sixty rows of a hundred, or so, are the most.
Domain table() {
  Domain made;
  made.arguments = {{"rows", {sized(3), hiding(sized(0)), sized(63, 65), sized(1000)}},
                    {"cols", {sized(5, 9), sized(1), sized(2), sized(31, 33), sized(2000)}},
                    {"group", {sized(4), sized(64), {"all"}}},
                    {"threads", {sized(2), sized(1), costly(sized(40))}}};
  made.valid = [](const Assignment& choice) {
    return choice["rows"].most * choice["cols"].most <= 6500;
  };
  made.any_integer = {"rows", "cols", "threads"};
  return made;
}

/// What is asked of an argument, of a few hundred assignments.
std::set<std::string> asked(const std::vector<std::int64_t>& numbers, const char* argument) {
  Rng rng(7);
  const NumberedDomain numbered = with_numbers(table(), numbers, rng);
  std::set<std::string> names;
  for (const Assignment& one : assignments_of_numbers(numbered, rng, 400)) {
    CHECK(numbered.domain.valid(one));
    names.insert(one[argument].name);
  }
  return names;
}

}  // namespace

TEST_CASE("a number is asked with its neighbours and its double, as far as classes reach") {
  const std::set<std::string> rows = asked({100, 700, 1000, 5000}, "rows");
  for (const char* size : {"99 to 101", "200 to 201", "699 to 701", "999 to 1000"})
    CHECK(rows.contains(size));
  for (const char* size : {"1400 to 1401", "999 to 1001"}) CHECK_FALSE(rows.contains(size));
  CHECK(asked({700}, "cols").contains("1400 to 1401"));
}

TEST_CASE("of threads no more are asked than a worker has room for") {
  Domain domain = table();
  domain.arguments[3].classes.push_back(costly(sized(1024)));
  Rng rng(7);
  const NumberedDomain numbered =
      with_numbers(std::move(domain), std::vector<std::int64_t>{100, 200, 512}, rng);
  std::set<std::string> added;
  for (const ValueClass& one : numbered.domain.arguments[3].classes) added.insert(one.name);
  CHECK(added == std::set<std::string>{"2", "1", "40", "1024", "99 to 101", "200", "199 to 200"});
}

TEST_CASE("what a class asks for with its neighbours is no class more") {
  Rng rng(7);
  const NumberedDomain numbered = with_numbers(table(), std::vector<std::int64_t>{64}, rng);
  const auto classes = [&](std::size_t argument) {
    return numbered.domain.arguments[argument].classes.size();
  };
  CHECK(classes(0) == table().arguments[0].classes.size() + 1);  // 128 to 129
  CHECK(classes(1) == table().arguments[1].classes.size() + 2);
  CHECK(numbered.sizes.size() == 3);
}

TEST_CASE("small numbers are left to the classes of the domain") {
  Rng rng(7);
  const NumberedDomain numbered =
      with_numbers(table(), std::vector<std::int64_t>{2, 3, 4, 5, 6, 7}, rng);
  CHECK(numbered.sizes.empty());
  CHECK(with_numbers(table(), std::vector<std::int64_t>{8}, rng).sizes.size() == 6);
}

TEST_CASE("an argument that may not be any integer has the classes that it had") {
  Rng rng(7);
  const NumberedDomain numbered = with_numbers(table(), std::vector<std::int64_t>{20}, rng);
  CHECK(numbered.domain.arguments[2].classes.size() == 3);
}

TEST_CASE("an argument that the domain does not have is a fault of ours") {
  Domain domain = table();
  domain.any_integer.push_back("row");
  Rng rng(7);
  CHECK_THROWS_AS(with_numbers(domain, {}, rng), Broken);
}

TEST_CASE("two sizes multiply to about a number that neither of them may be") {
  Rng rng(7);
  const NumberedDomain numbered = with_numbers(table(), std::vector<std::int64_t>{4096}, rng);
  CHECK(numbered.sizes.empty());
  const std::vector<Assignment> all = assignments_of_numbers(numbered, rng, 40);
  CHECK(std::ranges::any_of(all, [](const Assignment& one) {
    const double product = one["rows"].least * one["cols"].least;
    return product >= 4000 && product <= 4096 + 1000;
  }));
}

TEST_CASE("a number of threads is as costly as those of the classes around it") {
  Rng rng(7);
  const NumberedDomain numbered = with_numbers(table(), std::vector<std::int64_t>{20}, rng);
  for (const ValueClass& one : numbered.domain.arguments[3].classes)
    CHECK(one.costly == (one.least >= 40));
}

TEST_CASE("there are as many cases as asked for at most, each once, and none without numbers") {
  Rng rng(7);
  std::vector<std::int64_t> many;
  for (std::int64_t n = 300; n < 400; ++n) many.push_back(n);
  const NumberedDomain numbered = with_numbers(table(), many, rng);
  std::vector<Assignment> all = assignments_of_numbers(numbered, rng, 50);
  CHECK(all.size() >= 40);
  CHECK(all.size() <= 50);
  for (std::size_t i = 0; i < all.size(); ++i)
    CHECK(std::find(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i), all[i]) ==
          all.begin() + static_cast<std::ptrdiff_t>(i));
  CHECK(assignments_of_numbers(with_numbers(table(), {}, rng), rng, 50).empty());
}

TEST_CASE("the same seed gives the same cases") {
  const auto words = [](std::uint64_t seed) {
    Rng rng(seed);
    const NumberedDomain numbered = with_numbers(table(), std::vector<std::int64_t>{100, 700}, rng);
    std::string all;
    for (const Assignment& one : assignments_of_numbers(numbered, rng, 30))
      all += one.words() + ";";
    return all;
  };
  CHECK(words(1) == words(1));
  CHECK(words(1) != words(2));
}
