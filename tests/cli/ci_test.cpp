// SPDX-License-Identifier: Apache-2.0
// A change as CI sees it: a repository, a base, and what differs.
#include <cstdlib>
#include <doctest/doctest.h>
#include <pugixml.hpp>

#include "harness/cli/exit_codes.h"
#include "harness/report/data/report_data.h"
#include "harness/store/json_fields.h"
#include "tests/cli/checkout.h"

using namespace gauntlet;
namespace fs = std::filesystem;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A checkout whose first commit, `base`, has the submission `old`, a good result of it, and the
/// report of that; `old` takes part in one challenge, for which a stored result answers.
class Repository : public Checkout {
 public:
  Repository() {
    add_submission("old");
    add_result("old", 1);
    CellObservation published = *results().load(CellKey::of("old", challenge));
    published.provenance.submission_digest = "as it was";
    for (auto& check : published.checks) check = sample::passed(check.info.id);
    ReportData(root() / "reports/data").save({{published, "A 100", "", "", ""}}, {});
    git("init -q -b main");
    write_file(root() / ".gitignore", "/results/\n/build/\n");
    commit("first");
    git("branch base");
  }

  void git(const std::string& what) const {
    const std::string line = fmt::format(
        "cd '{}' && git -c user.name=x -c user.email=x@example.org -c core.hooksPath=/dev/null {} "
        ">/dev/null 2>&1",
        root().string(), what);
    REQUIRE(std::system(line.c_str()) == 0);
  }

  void commit(const std::string& what) const {
    git("add -A");
    git("commit -q -m " + what);
  }

  /// Adds a comment to a solution and a result that answers for it.
  void edit(const std::string& name) const {
    write_file(root() / "submissions" / name / challenge / "solution.cpp",
               "#include \"contract.h\"\n// again\n");
    add_result(name, 0.5);
  }

  Ran ci(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"ci", "--out", out().string()});
    return run(arguments);
  }
  Ran ci() const { return ci({"--base", "base"}); }

  fs::path out() const { return root() / "build/out"; }
  Json document() const { return Json::parse(read_file(out() / "ci.json")); }
};

}  // namespace

TEST_CASE("a change elsewhere grades nothing, and --all grades every submission") {
  const Repository repository;
  Ran ran = repository.ci();
  CHECK(ran.code == kExitDone);
  CHECK(ran.out.starts_with("no submission changed\n"));
  write_file(repository.root() / "README.md", "hello\n");
  repository.commit("second");
  ran = repository.ci({"--base", "base", "--min-grade", "A"});
  CHECK(ran.code == kExitDone);
  CHECK(has(ran.out, "no submission changed; 1 changed file elsewhere grades nothing"));
  ran = repository.ci({"--base", "base", "--all"});
  CHECK(ran.code == kExitDone);
  CHECK(repository.document()["submissions"][0]["change"] == "unchanged");
  CHECK(repository.document()["cells"].size() == 1);
}

TEST_CASE("an edit is graded, compared with the base's report, and held against the gates") {
  const Repository repository;
  repository.edit("old");  // not committed: what lies there counts
  Ran ran = repository.ci();
  CHECK(ran.code == kExitDone);
  CHECK(repository.document()["cells"][0]["before"] == "A 100");
  ran = repository.ci({"--base", "base", "--no-regression"});
  CHECK(ran.code == kExitGateFailed);
  CHECK(has(ran.out, "gate no-regression failed: old/"));
  CHECK(has(ran.out, "passed before: odd_sizes"));
  ran = repository.ci({"--base", "base", "--min-grade", "F"});
  CHECK(ran.code == kExitDone);
  ran = repository.ci({"--base", "base", "--min-grade", "B", "--json"});
  CHECK(ran.code == kExitGateFailed);
  CHECK(Json::parse(ran.out) == repository.document());
  pugi::xml_document junit;
  CHECK(junit.load_file((repository.out() / "junit.xml").c_str()).status == pugi::status_ok);
  CHECK(has(read_file(repository.out() / "summary.md"), "1 gate failed"));
  // Without a report to compare with, nothing can be worse.
  fs::create_directories(repository.root() / "empty");
  ran = repository.ci(
      {"--base", "base", "--no-regression", "--baseline", (repository.root() / "empty").string()});
  CHECK(ran.code == kExitDone);
  CHECK(has(ran.err, "there is no baseline"));
}

TEST_CASE("a folder that was renamed keeps its baseline, and one that was removed grades nothing") {
  const Repository repository;
  repository.git("mv submissions/old submissions/new");
  repository.commit("renamed");
  repository.add_result("new", 1);
  Ran ran = repository.ci({"--base", "base", "--no-regression"});
  CHECK(ran.code == kExitGateFailed);
  CHECK(has(ran.out, "new renamed\n"));
  CHECK(repository.document()["submissions"][0]["renamed_from"] == "old");
  repository.git("rm -rq submissions/new");
  repository.commit("gone");
  ran = repository.ci({"--base", "base", "--no-regression"});
  CHECK(ran.code == kExitDone);
  CHECK(ran.out.starts_with("old removed\n"));
}

TEST_CASE("an invalid submission ends with 3, and the others are graded") {
  const Repository repository;
  repository.add_submission("new");
  repository.add_result("new", 1);
  repository.add_submission("bad");
  write_file(repository.root() / "submissions/bad/model.yaml", "name: x\nprovidr: y\n");
  repository.add_submission("Odd\x1b[31m");
  repository.add_submission("reference");
  fs::create_directory_symlink("../reference", repository.root() / "submissions/linked");
  write_file(repository.root() / "submissions/new/attempts/x/model.yaml", "");
  const Ran ran = repository.ci({"--base", "base", "--min-grade", "A"});
  CHECK(ran.code == kExitInvalidSubmission);
  CHECK(has(ran.out, "bad INVALID\n"));
  CHECK(has(ran.out, "linked INVALID\n"));
  CHECK(has(ran.out, "is a link; a submission is a folder"));
  CHECK(has(ran.out, "new#x INVALID\n"));
  CHECK_FALSE(has(ran.out, "\x1b"));
  const Json document = repository.document();
  REQUIRE(document["cells"].size() == 1);
  CHECK(document["cells"][0]["submission"] == "new");
  CHECK(has(read_file(repository.out() / "annotations.txt"),
            "::error file=submissions/bad/model.yaml,line=1,"));
}

TEST_CASE("a solution that is gone, of a submission that is not, is a regression") {
  const Repository repository;
  const std::string other = "other";
  repository.git("mv submissions/old/" + repository.challenge + " submissions/old/" + other);
  Ran ran = repository.ci({"--base", "base", "--no-regression"});
  CHECK(ran.code == kExitInvalidSubmission);  // it is no challenge
  fs::remove_all(repository.root() / "submissions/old" / other);
  const auto graders = all_graders();
  if (graders.size() < 2) {
    MESSAGE("built with one challenge only: nothing else to take part in");
    return;
  }
  const std::string second(graders[1].id);
  write_file(repository.root() / "submissions/old" / second / "solution.cpp",
             "#include \"contract.h\"\n");
  ran = repository.ci({"--base", "base", "--no-regression", "-c", repository.challenge});
  CHECK(ran.code == kExitGateFailed);
  CHECK(has(ran.out, "there is no solution any more"));
}

TEST_CASE("GitHub gets commands, and its summary is appended to") {
  Repository repository;
  repository.edit("old");
  const fs::path summary = repository.root() / "summary";
  write_file(summary, "of another step\n");
  repository.environment = [&](const std::string& name) {
    if (name == "GITHUB_STEP_SUMMARY") return summary.string();
    return std::string(name == "GITHUB_ACTIONS" ? "true" : "");
  };
  const Ran ran = repository.ci();
  CHECK(has(ran.out, "\n::warning file=submissions/old/"));
  CHECK(has(read_file(summary), "of another step\n## Gauntlet\n"));
  const Ran json = repository.ci({"--base", "base", "--json"});
  CHECK(Json::parse(json.out).is_object());
  CHECK(has(json.err, "::warning file=submissions/old/"));
  repository.environment = [](const std::string& name) {
    return std::string(name == "GITHUB_STEP_SUMMARY" ? "/proc/none/summary" : "");
  };
  const Ran lost = repository.ci();
  CHECK(lost.code == kExitUsage);
  CHECK(has(lost.err, "GITHUB_STEP_SUMMARY"));
}

TEST_CASE("a grader that cannot work ends with 5 and blames nobody") {
  Repository repository;
  repository.add_submission("new");
  repository.worker_folder = repository.root() / "nowhere";
  const Ran ran = repository.ci({"--base", "base", "--min-grade", "A", "--no-regression", "-q"});
  CHECK(ran.code == kExitIncomplete);
  CHECK(has(ran.out, "no fault of a submission"));
  CHECK_FALSE(has(read_file(repository.out() / "annotations.txt"), "::error"));
  // It has no tests.cpp, which is its own doing, whatever else could not be asked.
  pugi::xml_document junit;
  REQUIRE(junit.load_file((repository.out() / "junit.xml").c_str()).status == pugi::status_ok);
  CHECK(junit.child("testsuites").attribute("failures").as_int() == 1);
  CHECK(junit.child("testsuites").attribute("errors").as_int() > 1);
}

TEST_CASE("what was asked wrongly is told with what would be right") {
  const Repository repository;
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{}, "ci needs --base REF"},
      {{"--base", ""}, "is empty"},
      {{"--base", "nope"}, "--base nope: is no commit that this checkout has; fetch it first"},
      {{"--base", "--upload-pack=x"}, "is no name of a commit"},
      {{"--base", "base", "--min-grade", "Z"}, "must be a score from 0 to 100 or one of"},
      {{"--base", "base", "-c", repository.challenge + "x"}, "did you mean"},
      {{"--base", "base", "--baseline", "/nowhere"}, "--baseline /nowhere: is no folder"},
  };
  write_file(repository.out() / "junit.xml", "of another run");
  for (const auto& [arguments, says] : wrong) {
    const Ran ran = repository.ci(arguments);
    INFO(ran.err);
    CHECK(ran.code == kExitUsage);
    CHECK(has(ran.err, says));
  }
  CHECK_FALSE(fs::exists(repository.out() / "junit.xml"));
  repository.git("checkout -q --orphan alone");
  repository.commit("unrelated");
  CHECK(has(repository.ci().err, "has no common ancestor with what is checked out"));
  const Checkout bare;
  CHECK(has(bare.run({"ci", "--base", "main"}).err, "is no git checkout"));
}

TEST_CASE("git runs no program that a submission brings") {
  const Repository repository;
  const fs::path mark = repository.root() / "build/ran";
  fs::create_directories(mark.parent_path());
  for (const char* file : {".gitconfig", "submissions/.gitconfig"})
    write_file(repository.root() / file,
               fmt::format("[core]\n fsmonitor = \"touch {0}\"\n[diff]\n external = \"touch {0}\"\n"
                           "[filter \"x\"]\n clean = \"touch {0}\"\n",
                           mark.string()));
  write_file(repository.root() / ".gitattributes", "* filter=x diff=x\n");
  repository.edit("old");
  CHECK(repository.ci().code == kExitDone);
  CHECK_FALSE(fs::exists(mark));
}
