// SPDX-License-Identifier: Apache-2.0
// A solution.cu from its folder to a stored grade, by the program's own words.
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>

#include "harness/cli/exit_codes.h"
#include "harness/core/text.h"
#include "harness/store/json_fields.h"
#include "harness/store/observation_json.h"
#include "tests/cli/checkout.h"
#include "tests/end_to_end/grading_environment.h"
#include "tests/support/text.h"

using namespace gauntlet;
namespace fs = std::filesystem;

namespace {

constexpr const char* kCudaChallenge = "softmax_topk";
const fs::path kRight = fs::path(GAUNTLET_ROOT) / "submissions/textbook/softmax_topk@cuda";

/// A checkout in which bravo has a C++ and a CUDA solution to the challenge.
struct Submission {
  Checkout checkout;
  fs::path folder = checkout.root() / "submissions/bravo";

  Submission() {
    checkout.challenge = kCudaChallenge;
    checkout.add_submission("bravo");
    fs::create_directories(cuda());
    fs::copy(kRight, cuda(), fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }

  fs::path cuda() const { return folder / fmt::format("{}@cuda", kCudaChallenge); }

  void edit(const std::string& old, const std::string& now) const {
    const fs::path file = cuda() / "solution.cu";
    std::string text = read_file(file);
    REQUIRE(contains(text, old));
    write_file(file, text.replace(text.find(old), old.size(), now));
  }

  /// What these checks see; kept nowhere.
  CellObservation rerun(const std::vector<std::string>& checks) const {
    std::vector<std::string> words{"rerun", "bravo", fmt::format("{}@cuda", kCudaChallenge),
                                   "--json"};
    for (const std::string& check : checks) words.insert(words.end(), {"--check", check});
    const Ran ran = checkout.run(words);
    INFO(ran.err);
    REQUIRE(ran.code == kExitDone);
    return observation_from_json(Json::parse(ran.out)["observation"].dump(), "the run");
  }
};

}  // namespace

TEST_CASE("a right CUDA solution passes, and of its speed nothing is said without a GPU") {
  const Submission it;
  const CellObservation cell = it.rerun({"warning_free_build", "race_free", "speed"});
  CHECK(cell.key.device == Device::cuda);
  INFO(cell.build.messages);
  REQUIRE(cell.build.ok);
  REQUIRE(cell.checks.size() == 3);
  CHECK(cell.checks[0].verdict == Verdict::passed);
  CHECK(cell.checks[1].verdict == Verdict::passed);
  CHECK(cell.checks[2].verdict == Verdict::unmeasured);
  REQUIRE(cell.checks[2].finding.has_value());
  CHECK(cell.checks[2].finding->summary == kNoGpu);
}

TEST_CASE("what is asked of a CUDA solution is what the grader declares for CUDA") {
  const auto ids_on = [](Device device) {
    std::vector<std::string> ids;
    for (const CheckInfo& check : checks_of(kCudaChallenge, device)) ids.push_back(check.id);
    return ids;
  };
  const auto cuda = ids_on(Device::cuda);
  const auto cpu = ids_on(Device::cpu);
  CHECK(contains(cuda, "race_free"));
  CHECK_FALSE(contains(cpu, "race_free"));
  CHECK(contains(cpu, "thread_limit"));
  CHECK_FALSE(contains(cuda, "thread_limit"));
  CHECK(contains(cuda, "speed"));
  CHECK(grader_for(kCudaChallenge).digest(Device::cpu) !=
        grader_for(kCudaChallenge).digest(Device::cuda));
}
