// SPDX-License-Identifier: Apache-2.0
// Which device a solution is for, from the folder that it lies in to the words of the verbs.
#include <doctest/doctest.h>

#include "harness/cli/exit_codes.h"
#include "harness/core/text.h"
#include "harness/run/submissions.h"
#include "tests/cli/checkout.h"
#include "tests/support/text.h"

using namespace gauntlet;
namespace fs = std::filesystem;

namespace {

/// A checkout with two challenges, of which one is graded on both devices.
struct TwoDevices {
  Checkout checkout;
  std::string both{all_graders()[0].id};
  std::string cpu_only{all_graders()[1].id};

  TwoDevices() {
    const fs::path challenges = checkout.root() / "challenges";
    fs::remove(challenges);  // a link
    fs::create_directory(challenges);
    for (const std::string& id : {both, cpu_only})
      fs::copy(fs::path(GAUNTLET_ROOT) / "challenges" / id, challenges / id,
               fs::copy_options::recursive);
    declare(both, "[cpu, cuda]");
    declare(cpu_only, "[cpu]");
    write_file(challenges / both / "PROMPT.cuda.md", "Write kernels.\n");
    write_file(challenges / "cuda.md", "They may use shared memory.\n");
  }

  void solution(const std::string& folder, const std::string& file) const {
    write_file(checkout.root() / "submissions/bravo" / folder / file, "#include \"contract.h\"\n");
  }

 private:
  void declare(const std::string& id, const std::string& devices) const {
    const fs::path file = checkout.root() / "challenges" / id / "challenge.yaml";
    std::string yaml = read_file(file);
    if (const std::size_t at = yaml.find("\ndevices:"); at != std::string::npos)
      yaml.erase(at, yaml.find('\n', at + 1) - at);
    write_file(file, yaml + "devices: " + devices + "\n");
  }
};

bool exists(const fs::path& folder, const std::string& file) {
  return fs::exists(folder / file);
}

}  // namespace

TEST_CASE("a new submission for CUDA has a prompt of its own and a solution.cu") {
  const TwoDevices it;
  const Ran made = it.checkout.run({"new", "my-model", "--device", "cuda"});
  INFO(made.err);
  REQUIRE(made.code == kExitDone);
  CHECK(contains(made.out, "put its answer into solution.cu ("));
  const fs::path folder = it.checkout.root() / "submissions/my-model";
  CHECK(exists(folder / it.both, "solution.cu"));
  CHECK_FALSE(exists(folder / it.both, "solution.cpp"));
  CHECK_FALSE(exists(folder, it.cpu_only));
  CHECK(read_file(folder / it.both / "PROMPT.md") ==
        "Write kernels.\n\nThey may use shared memory.\n");
  CHECK(it.checkout.run({"validate", "my-model"}).out == "my-model ok\n");
  write_file(it.checkout.root() / "challenges/cuda.md", "They may use registers.\n");
  const Ran later = it.checkout.run({"validate", "my-model"});
  CHECK(contains(later.out, it.both + "/PROMPT.md differs from the challenge's"));
  CHECK(contains(later.out, "the prompts have changed since"));
}

TEST_CASE("a new submission for both devices has a folder for each") {
  const TwoDevices it;
  REQUIRE(it.checkout.run({"new", "my-model", "--device", "cuda", "--device", "cpu"}).code ==
          kExitDone);
  const fs::path folder = it.checkout.root() / "submissions/my-model";
  CHECK(exists(folder / it.both, "solution.cpp"));
  CHECK(exists(folder / (it.both + "@cuda"), "solution.cu"));
  CHECK(exists(folder / it.cpu_only, "solution.cpp"));
  CHECK(it.checkout.run({"validate", "my-model"}).out == "my-model ok\n");
}

TEST_CASE("what has no grader for a device is refused with a sentence") {
  const TwoDevices it;
  const std::string only = it.cpu_only + " is graded on cpu only, not on cuda";
  for (const auto& words :
       {std::vector<std::string>{"new", "m", "-c", it.cpu_only, "--device", "cuda"},
        {"list", "checks", "-c", it.cpu_only, "--device", "cuda"},
        {"list", "checks", "-c", it.cpu_only + "@cuda"},
        {"audit", "-c", it.cpu_only, "--device", "cuda"}}) {
    const Ran ran = it.checkout.run(words);
    CHECK(ran.code == kExitUsage);
    CHECK(contains(ran.err, only));
  }
  CHECK_FALSE(fs::exists(it.checkout.root() / "submissions/m"));
  it.checkout.add_submission("bravo");
  it.solution(it.cpu_only, "solution.cu");
  for (const char* verb : {"grade", "validate"}) {
    const Ran ran = it.checkout.run({verb, "bravo"});
    INFO(ran.out, ran.err);
    CHECK(ran.code == kExitInvalidSubmission);
    CHECK(contains(ran.out + ran.err, only));
  }
}

TEST_CASE("a solution lies in its challenge's folder, or in one that names its device") {
  const TwoDevices it;
  it.checkout.add_submission("bravo");
  const std::vector<std::string> known{it.both, it.cpu_only};
  const auto found = [&] {
    return find_submission(Folders::checkout(it.checkout.root()), "bravo");
  };
  const auto cells = [&] {
    std::string text;
    for (const SolutionFolder& one : solutions_of(found(), known))
      text += CellKey{"", one.challenge, "", one.device}.entry() + " ";
    return text;
  };
  it.solution(it.both + "@cuda", "solution.cu");
  CHECK(cells() == it.both + " " + it.both + "@cuda ");
  const CellKey key{"bravo", it.both, "", Device::cuda};
  CHECK(solution_folder(found(), key).filename() == it.both + "@cuda");
  fs::remove_all(it.checkout.root() / "submissions/bravo" / it.both);
  CHECK(cells() == it.both + "@cuda ");
  it.solution(it.both, "solution.cu");
  CHECK_THROWS_WITH_AS(cells(), doctest::Contains((" on cuda; keep one of them")), UserError);
  fs::remove_all(it.checkout.root() / "submissions/bravo" / (it.both + "@cuda"));
  CHECK(cells() == it.both + "@cuda ");
  CHECK(solution_folder(found(), key).filename() == it.both);
  const Ran named = it.checkout.run({"reward", "bravo", "-c", it.both});
  CHECK(named.code == kExitNothingMatched);
  CHECK(contains(named.err, "is for device cuda; name the cell bravo/" + it.both + "@cuda"));
  it.solution(it.both + "@cpu", "solution.cpp");
  CHECK_THROWS_WITH_AS(cells(), doctest::Contains("is no challenge"), UserError);
}

TEST_CASE("checks are listed by device") {
  const TwoDevices it;
  const Ran ran = it.checkout.run({"list", "checks", "-c", it.both, "--device", "cuda", "--json"});
  REQUIRE(ran.code == kExitDone);
  const Json document = Json::parse(ran.out);
  CHECK(document["device"] == "cuda");
  std::vector<std::string> ids;
  for (const Json& check : document["checks"]) ids.push_back(check["id"]);
  CHECK(contains(ids, "warning_free_build"));
  CHECK_FALSE(contains(ids, "tests_tell_right_from_wrong"));
  CHECK(contains(it.checkout.run({"list"}).out, "cpu, cuda"));
}
