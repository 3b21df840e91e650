// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/groups.h"

#include <doctest/doctest.h>
#include <set>

using namespace gauntlet;

namespace {

Check named(const char* id, Section section) {
  return {{id, "a fault", section, 1, Severity::major}, {}};
}

}  // namespace

TEST_CASE("joined groups stand by section, and as they came within one") {
  const auto checks =
      kit::joined({{named("a", Section::robustness), named("b", Section::correctness)},
                   {named("c", Section::correctness)}});
  std::string order;
  for (const Check& check : checks) order += check.id;
  CHECK(order == "bca");
}

TEST_CASE("every check of a grader has a name of its own and says what it attacks") {
  for (const GraderEntry& grader : all_graders()) {
    INFO(grader.id);
    std::set<std::string> ids;
    for (const Check& check : grader.make().checks) {
      INFO(check.id);
      CHECK(ids.insert(check.id).second);
      CHECK_FALSE(check.detects.empty());
      CHECK(check.weight > 0);
      CHECK(check.ask);
    }
  }
}

TEST_CASE("a check is asked on the CPU, on every device or on CUDA, as its group says") {
  const Grader grader{kit::joined({{named("host", Section::correctness)},
                                   kit::on_every_device({named("both", Section::correctness)}),
                                   kit::on_cuda({named("kernels", Section::correctness)})})};
  const auto asked = [&](Device device) {
    std::string ids;
    for (const Check& check : grader.on(device).checks) ids += check.id + " ";
    return ids;
  };
  CHECK(asked(Device::cpu) == "host both ");
  CHECK(asked(Device::cuda) == "both kernels ");
}
