// SPDX-License-Identifier: Apache-2.0
#include "domain.h"

#include <doctest/doctest.h>
#include <set>
#include <string>
#include <vector>

#include "graders/kit/assignments.h"

namespace {

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

/// The classes that occur in these assignments of a domain: "rows 31 to 33".
std::set<std::string> asked_classes(const kit::Domain& domain,
                                    const std::vector<kit::Assignment>& assignments) {
  std::set<std::string> asked;
  for (const kit::Assignment& one : assignments)
    for (std::size_t k = 0; k < domain.arguments.size(); ++k) {
      const kit::Argument& argument = domain.arguments[k];
      asked.insert(argument.name + " " + argument.classes[one.chosen(k)].name);
    }
  return asked;
}

}  // namespace

TEST_CASE("a device is asked the classes that a CPU is asked, in cases of bounded work") {
  const kit::Domain on_device = kit::on_device(domain());
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto classes = [&](const auto& assignments, const kit::Domain& of) {
      Rng rng(seed);
      return asked_classes(of, assignments(of, rng));
    };
    CHECK(classes(kit::each_class_once, on_device) == classes(kit::each_class_once, domain()));
    CHECK(classes(kit::covering_assignments, on_device) ==
          classes(kit::covering_assignments, domain()));
    Rng rng(seed);
    for (const kit::Assignment& one : kit::covering_assignments(on_device, rng)) {
      INFO(one.words());
      const Problem problem = problem_of(one, rng);
      CHECK(problem.rows * problem.vocab <= 70'000);
      CHECK(problem.rows * problem.vocab * problem.k <= 51'000'000);
      CHECK((problem.k <= 8 || problem.rows * problem.k <= 12'300));
    }
  }
}
