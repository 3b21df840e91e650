// SPDX-License-Identifier: Apache-2.0
// A solution.cu from its folder to a stored grade, by the program's own words.
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>

#include "harness/cli/exit_codes.h"
#include "harness/core/text.h"
#include "harness/grading/run_cell.h"
#include "harness/run/grading_run.h"
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
  CellRequest request = untimed_request("bravo", it.cuda());
  request.challenge = load_challenge(GAUNTLET_ROOT, kCudaChallenge);
  CHECK(why_not_reusable({cell}, reuse_key(request, {})).value_or("") == "");
}

TEST_CASE("how many checks are asked at a time changes nothing that is kept of them") {
  const Submission it;
  it.edit("kMostWinners = 1024", "kMostWinners = 31");  // more launches, and no lost winners
  it.edit("if (logit == 0) logit = 0;", "");            // -0 comes behind +0
  CellRequest request = untimed_request("bravo", it.cuda());
  request.challenge = load_challenge(GAUNTLET_ROOT, kCudaChallenge);
  request.solution.device = Device::cuda;
  request.seed = Seed(5);
  request.only_checks = {"ties", "near_ties", "speed", "race_free", "temperature", "strides"};
  const auto graded = [&](int at_once, int enough_failures) {
    GradingEnvironment terms = environment();
    terms.checks_at_once = at_once;
    request.enough_failures = enough_failures;
    return run_cell(terms, request, [](const CellEvent&) {});
  };
  const auto words = [](const GradedCell& cell) {
    std::string all;
    for (const CheckObservation& seen : cell.observation.checks)
      all += fmt::format("{} {} {} {}\n", seen.info.id, name_of(seen.verdict), seen.cases,
                         seen.finding ? seen.finding->summary : "");
    for (const CheckTrace& trace : cell.receipt->closing->checks)
      all += fmt::format("{} {} {} {} {} {}\n", trace.id, name_of(trace.verdict), trace.timed,
                         trace.calls, trace.inputs, trace.outputs);
    return all;
  };
  const std::string one = words(graded(1, 0));
  CHECK(contains(one, "ties wrong"));
  CHECK(contains(one, "race_free passed"));
  CHECK(words(graded(3, 0)) == one);
  CHECK(words(graded(3, 1)) == words(graded(1, 1)));
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
