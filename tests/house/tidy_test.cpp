// SPDX-License-Identifier: Apache-2.0
// The architecture, held by a test: who may include whom, and how big a file may grow.
#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "harness/core/files.h"

namespace fs = std::filesystem;
using gauntlet::read_file;

namespace {

// A room may include itself and what is listed. contract.h files include nothing of ours.
const std::map<std::string, std::set<std::string>> kMayInclude{
    {"harness/core", {}},
    {"harness/store", {"harness/core"}},
    {"harness/sandbox", {"harness/core"}},
    {"harness/simt", {"harness/core"}},
    {"harness/worker", {"harness/sandbox", "harness/core"}},
    {"harness/device", {"harness/simt", "harness/worker", "harness/sandbox", "harness/core"}},
    {"harness/build",
     {"harness/device", "harness/worker", "harness/sandbox", "harness/store", "harness/core"}},
    {"harness/measure", {"harness/worker", "harness/store", "harness/core"}},
    {"harness/grading",
     {"harness/measure", "harness/build", "harness/device", "harness/simt", "harness/worker",
      "harness/sandbox", "harness/store", "harness/core"}},
    {"harness/run",
     {"harness/grading", "harness/measure", "harness/build", "harness/worker", "harness/sandbox",
      "harness/score", "harness/store", "harness/core"}},
    {"harness/audit",
     {"harness/run", "harness/grading", "harness/build", "harness/worker", "harness/store",
      "harness/core"}},
    {"harness/attacks",
     {"harness/grading", "harness/build", "harness/sandbox", "harness/store", "harness/core"}},
    {"harness/score", {"harness/store", "harness/core"}},
    {"harness/report",
     {"harness/report/terminal", "harness/report/html", "harness/report/plots",
      "harness/report/pages", "harness/report/data", "harness/report/model", "harness/report/text",
      "harness/score", "harness/store", "harness/core"}},
    {"harness/report/terminal",
     {"harness/report/model", "harness/report/text", "harness/score", "harness/store",
      "harness/core"}},
    {"harness/report/html",
     {"harness/report/model", "harness/report/text", "harness/score", "harness/store",
      "harness/core"}},
    {"harness/report/plots",
     {"harness/report/model", "harness/report/text", "harness/score", "harness/store",
      "harness/core"}},
    {"harness/report/pages",
     {"harness/report/model", "harness/report/text", "harness/score", "harness/store",
      "harness/core"}},
    {"harness/report/data", {"harness/report/model", "harness/store", "harness/core"}},
    {"harness/report/model",
     {"harness/report/text", "harness/score", "harness/store", "harness/core"}},
    {"harness/report/text", {"harness/score", "harness/store", "harness/core"}},
    {"harness/ci", {"harness/report", "harness/score", "harness/store", "harness/core"}},
    {"harness/publish", {"harness/core"}},
    {"harness/export", {"harness/build", "harness/store", "harness/core"}},
    {"harness/cli",
     {"harness/ci", "harness/publish", "harness/export", "harness/report", "harness/score",
      "harness/attacks", "harness/audit", "harness/run", "harness/grading", "harness/measure",
      "harness/build", "harness/worker", "harness/sandbox", "harness/store", "harness/core"}},
    {"graders/kit",
     {"harness/grading", "harness/measure", "harness/device", "harness/simt", "harness/worker",
      "harness/core"}},
    {"graders/*",
     {"graders/kit", "harness/grading", "harness/measure", "harness/device", "harness/simt",
      "harness/worker", "harness/core"}},
};

// Files that are run as a stranger's: a contract stands alone, a solution sees its contract only.
const std::vector<std::string> kSolutions{"challenges", "reference", "submissions"};

struct Include {
  std::string file;
  std::string included;
};

std::string room_of(const std::string& path) {
  const auto first = path.find('/');
  const auto second = path.find('/', first + 1);
  return second == std::string::npos ? path.substr(0, first) : path.substr(0, second);
}

/// A room whose folders are rooms of their own: there, one may not include whom it likes.
bool has_rooms(const std::string& room) {
  return std::any_of(kMayInclude.begin(), kMayInclude.end(),
                     [&](const auto& rule) { return rule.first.rfind(room + "/", 0) == 0; });
}

/// "harness/report/model" for a file in it, where the room has rooms; else the room.
std::string inner_room_of(const std::string& path) {
  const std::string room = room_of(path);
  return has_rooms(room) ? path.substr(0, path.rfind('/')) : room;
}

std::vector<Include> includes_of(const std::string& file, const std::string& text) {
  static const std::regex kInclude(R"re(^\s*#\s*include\s+"([^"]+)")re");
  std::vector<Include> found;
  std::istringstream lines(text);
  std::smatch match;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_search(line, match, kInclude)) found.push_back({file, match[1]});
  return found;
}

/// Complaints about one file's includes. "contract.h", a grader's own headers and its fixtures need
/// no room.
std::vector<std::string> upward_includes(const std::string& file, const std::string& text) {
  std::vector<std::string> complaints;
  const std::string room = room_of(file);
  const bool grader = room.rfind("graders/", 0) == 0 && room != "graders/kit";
  const std::string inner = inner_room_of(file);
  const auto rule = kMayInclude.find(grader ? "graders/*" : inner);
  for (const Include& include : includes_of(file, text)) {
    if (include.included.find('/') == std::string::npos && grader) continue;
    if (include.included.rfind("fixtures/", 0) == 0 && grader) continue;
    // From outside, a room is one, whatever rooms it has.
    const bool inside = room_of(include.included) == room;
    const std::string target = inside ? inner_room_of(include.included) : room_of(include.included);
    if (target == inner) continue;
    if (rule == kMayInclude.end() || !rule->second.contains(target))
      complaints.push_back(fmt::format("{} may not include {}", file, include.included));
  }
  return complaints;
}

bool is_cpp(const fs::path& path) {
  static const std::set<std::string> kKinds{".h", ".cpp", ".cu", ".cuh", ".hpp"};
  return kKinds.contains(path.extension().string());
}

template <class Visit>
void for_each_source(const std::string& top, const Visit& visit) {
  const fs::path root = GAUNTLET_ROOT;
  if (!fs::is_directory(root / top)) return;
  for (const auto& entry : fs::recursive_directory_iterator(root / top))
    if (entry.is_regular_file() && is_cpp(entry.path()))
      visit(fs::relative(entry.path(), root).generic_string(), read_file(entry.path()));
}

// Where one idea per file is the rule; mutants and solutions are whole programs by nature, fixtures
// are written by scripts.
bool is_our_room(const std::string& file) {
  for (const char* folder : {"/mutants/", "/honest/", "fixture"})
    if (file.find(folder) != std::string::npos) return false;
  return true;
}

}  // namespace

TEST_CASE("includes point downwards only") {
  int seen = 0;
  for (const std::string top : {"harness", "graders"})
    for_each_source(top, [&](const std::string& file, const std::string& text) {
      if (!is_our_room(file)) return;
      ++seen;
      for (const std::string& complaint : upward_includes(file, text)) FAIL_CHECK(complaint);
    });
  CHECK(seen > 50);
}

TEST_CASE("a planted upward include is seen") {
  CHECK(upward_includes("harness/core/x.h", "#include \"harness/cli/verbs.h\"\n").size() == 1);
  CHECK(upward_includes("harness/grading/x.h", "#include \"graders/kit/compare.h\"\n").size() == 1);
  CHECK(upward_includes("graders/kit/x.h", "#include \"harness/core/rng.h\"\n").empty());
  CHECK(upward_includes("graders/abc/x.h", "#include \"contract.h\"\n").empty());
  CHECK(upward_includes("graders/abc/x.h", "#include \"graders/other/x.h\"\n").size() == 1);
  const auto complaints = [](const std::string& file, const std::string& included) {
    return upward_includes("harness/" + file, "#include \"harness/" + included + "\"\n").size();
  };
  CHECK(complaints("report/model/x.h", "report/text/x.h") == 0);
  CHECK(complaints("report/report.cpp", "report/pages/x.h") == 0);
  CHECK(complaints("cli/x.cpp", "report/terminal/x.h") == 0);
  CHECK(complaints("cli/x.cpp", "run/x.h") == 0);
  CHECK(complaints("ci/x.cpp", "run/x.h") == 1);
  CHECK(complaints("audit/x.cpp", "run/x.h") == 0);
  for (const char* below : {"grading/x.h", "score/x.h", "store/x.h", "report/model/x.h"})
    CHECK(complaints(below, "run/x.h") == 1);
  CHECK(complaints("run/x.cpp", "cli/x.h") == 1);
  CHECK(complaints("report/text/x.h", "report/model/x.h") == 1);
  CHECK(complaints("report/pages/x.h", "report/plots/x.h") == 1);
  CHECK(complaints("report/model/x.h", "report/report.h") == 1);
  CHECK(complaints("report/unknown/x.h", "core/x.h") == 1);
}

TEST_CASE("a contract includes nothing of ours, and a solution its contract alone") {
  for (const std::string& top : kSolutions)
    for_each_source(top, [&](const std::string& file, const std::string& text) {
      for (const Include& include : includes_of(file, text)) {
        INFO(file);
        CHECK(include.included.find('/') == std::string::npos);
      }
    });
}

TEST_CASE("the harness names no challenge, and nothing that a contract declares") {
  std::vector<std::string> names;
  const std::regex declared(R"(\b(?:struct|enum) ([A-Z]\w*))");
  for (const auto& entry : fs::directory_iterator(fs::path(GAUNTLET_ROOT) / "challenges")) {
    if (!entry.is_directory()) continue;  // what is said of all challenges
    names.push_back(entry.path().filename().string());
    const std::string contract = gauntlet::read_file(entry.path() / "contract.h");
    for (std::sregex_iterator match(contract.begin(), contract.end(), declared), end; match != end;
         ++match)
      names.push_back((*match)[1]);
  }
  REQUIRE(std::find(names.begin(), names.end(), "LayernormArgs") != names.end());
  for_each_source("harness", [&](const std::string& file, const std::string& text) {
    for (const std::string& name : names) {
      INFO(file);
      INFO(name);
      CHECK(text.find(name) == std::string::npos);
    }
  });
}

TEST_CASE("a grader does not name its own folder, so that a copy of it is another challenge") {
  for (const auto& entry : fs::directory_iterator(fs::path(GAUNTLET_ROOT) / "challenges")) {
    const std::string id = entry.path().filename().string();
    for_each_source("graders/" + id, [&](const std::string& file, const std::string& text) {
      INFO(file);
      CHECK(text.find("namespace gauntlet::" + id) == std::string::npos);
      CHECK(text.find("/" + id + "/") == std::string::npos);
    });
  }
}

TEST_CASE("a finding that excuses a submission is made of a fault on the closed list only") {
  static const std::regex kMade(
      R"re(Finding\s*\{\s*Verdict::broken|finding = \{\s*Verdict::broken|)re"
      R"re(return \{\s*Verdict::broken|CheckEnded\s*\{+\s*Verdict::broken)re");
  std::set<std::string> makers;
  for (const std::string top : {"harness", "graders"})
    for_each_source(top, [&](const std::string& file, const std::string& text) {
      if (std::regex_search(text, kMade)) makers.insert(file);
    });
  CHECK(makers == std::set<std::string>{"harness/core/own_fault.cpp"});
}

TEST_CASE("lines fit on a screen and files have one idea") {
  for (const std::string top : {"harness", "graders", "tests"})
    for_each_source(top, [&](const std::string& file, const std::string& text) {
      if (!is_our_room(file)) return;
      INFO(file);
      std::istringstream lines(text);
      int count = 0;
      for (std::string line; std::getline(lines, line); ++count) {
        if (line.size() <= 100) continue;
        const bool has_utf8 = std::any_of(line.begin(), line.end(), [](char c) { return c < 0; });
        CHECK_MESSAGE(has_utf8, fmt::format("line {} has {} columns", count + 1, line.size()));
      }
      CHECK_MESSAGE(count <= 400, fmt::format("{} lines", count));
    });
}
