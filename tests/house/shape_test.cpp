// SPDX-License-Identifier: Apache-2.0
// Whoever knows one grader finds the same thing at the same place in every other.
#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "harness/build/challenge.h"
#include "harness/core/files.h"
#include "harness/grading/grader.h"

namespace fs = std::filesystem;
using gauntlet::read_file;

namespace {

using Names = std::set<std::string>;

// What every grader has. fixtures/ and honest/ are folders.
const Names kRoles{"README.md", "call.cpp",   "call.h",     "contract.yaml", "domain.cpp",
                   "domain.h",  "fixtures",   "grader.cpp", "honest",        "judge.cpp",
                   "judge.h",   "lap.cpp",    "lap.h",      "mutants.yaml",  "oracle.h",
                   "problem.h", "problem.cpp"};
// What only some have: a model is the state that a caller owns between calls; the oracle of one
// forward attention is the kit's; cuda/ has what an audit tries there.
const Names kSometimes{"cuda", "equivalents.yaml", "model.cpp", "model.h", "oracle.cpp"};
// The themes of checks that every grader has a file for.
const char* const kThemes[] = {"domain", "execution", "refusals", "speed"};
const char* const kSections[] = {"## Traps", "## Tolerances", "## Left out on purpose"};

/// Where a grader's folder leaves the shape of all, one sentence each. What only its domain has, a
/// tree or a tokenizer, its README names.
std::vector<std::string> odd_places(const Names& files, const std::string& readme) {
  static const std::regex kChecksOrTest("checks_[a-z]+\\.cpp|[a-z_]+_(test|fuzz)\\.cpp");
  std::vector<std::string> odd;
  for (const std::string& role : kRoles)
    if (!files.contains(role)) odd.push_back(role + " is missing");
  for (const std::string& file : files)
    if (!kRoles.contains(file) && !kSometimes.contains(file) &&
        !std::regex_match(file, kChecksOrTest) &&
        readme.find("`" + fs::path(file).stem().string() + ".h`") == std::string::npos)
      odd.push_back(file + " is no role of a grader, and README.md does not say what it is");
  for (const char* theme : kThemes)
    if (const std::string file = fmt::format("checks_{}.cpp", theme); !files.contains(file))
      odd.push_back(file + " is missing");
  return odd;
}

Names files_of(const fs::path& folder) {
  Names files;
  for (const auto& entry : fs::directory_iterator(folder))
    files.insert(entry.path().filename().string());
  return files;
}

fs::path folder_of(const std::string& id) {
  return fs::path(GAUNTLET_ROOT) / "graders" / id;
}

std::string readme_of(const std::string& id) {
  return read_file(folder_of(id) / "README.md");
}

}  // namespace

TEST_CASE("a grader has the same files for the same roles as every other") {
  for (const std::string& id : gauntlet::challenge_ids(GAUNTLET_ROOT)) {
    INFO(id);
    for (const std::string& odd : odd_places(files_of(folder_of(id)), readme_of(id)))
      FAIL_CHECK(odd);
    CHECK(fs::exists(folder_of(id) / "honest" / "common.h"));
  }
}

TEST_CASE("a file without a role and a role without a file are seen") {
  Names files = kRoles;
  for (const char* theme : kThemes) files.insert(fmt::format("checks_{}.cpp", theme));
  CHECK(odd_places(files, "").empty());
  files.insert("helpers.cpp");
  CHECK(odd_places(files, "").size() == 1);
  CHECK(odd_places(files, "`helpers.h` is a tree").empty());
  files.erase("judge.h");
  files.erase("checks_speed.cpp");
  CHECK(odd_places(files, "`helpers.h` is a tree").size() == 2);
}

TEST_CASE("a grader's README has the same sections, and tells of every check that is its own") {
  for (const std::string& id : gauntlet::challenge_ids(GAUNTLET_ROOT)) {
    INFO(id);
    const std::string text = readme_of(id);
    std::size_t at = 0;
    for (const std::string section : kSections) {
      const std::size_t found = text.find("\n" + section + "\n", at);
      CHECK_MESSAGE(found != std::string::npos, section);
      at = std::min(found, text.size());
    }
  }
  for (const gauntlet::GraderEntry& entry : gauntlet::all_graders()) {
    INFO(entry.id);
    const std::string text = readme_of(std::string(entry.id));
    for (const gauntlet::Check& check : entry.make().checks)
      CHECK_MESSAGE(text.find("`" + check.id + "`") != std::string::npos, check.id);
  }
}
