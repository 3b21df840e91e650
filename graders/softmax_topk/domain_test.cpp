// SPDX-License-Identifier: Apache-2.0
#include "domain.h"

#include <doctest/doctest.h>

#include "graders/kit/assignments.h"
#include "tests/support/asked_classes.h"

namespace {

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

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
    }
  }
}
