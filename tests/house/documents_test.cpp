// SPDX-License-Identifier: Apache-2.0
// What the documents name is there: who follows CONTRIBUTING.md finds the file.
#include <doctest/doctest.h>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "harness/build/challenge.h"
#include "harness/core/files.h"

namespace fs = std::filesystem;

namespace {

/// Files and folders of ours that a text names between backquotes, and that are not there.
/// Placeholders (`graders/<id>`) name none.
std::vector<std::string> missing_paths(const std::string& text) {
  static const std::regex kPath(
      R"(`((harness|graders|tests|challenges|docs|reports|reference|cmake)/[\w./-]+)`)");
  std::vector<std::string> missing;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), kPath);
       at != std::sregex_iterator(); ++at)
    if (!fs::exists(fs::path(GAUNTLET_ROOT) / at->str(1))) missing.push_back(at->str(1));
  return missing;
}

/// Tests that a text names as `room/name_test`, and that no file of tests/ is.
std::vector<std::string> missing_tests(const std::string& text) {
  static const std::regex kTest(R"(`(\w+/\w+_test)`)");
  std::vector<std::string> missing;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), kTest);
       at != std::sregex_iterator(); ++at)
    if (!fs::exists(fs::path(GAUNTLET_ROOT) / "tests" / (at->str(1) + ".cpp")))
      missing.push_back(at->str(1));
  return missing;
}

/// What models are given, for every device.
std::vector<std::string> all_prompts() {
  std::vector<std::string> prompts;
  for (const std::string& id : gauntlet::challenge_ids(GAUNTLET_ROOT)) {
    const gauntlet::Challenge challenge = gauntlet::load_challenge(GAUNTLET_ROOT, id);
    for (const gauntlet::Device device : challenge.devices)
      prompts.push_back(challenge.prompt(device));
  }
  return prompts;
}

/// In one line, whatever its lines were.
std::string unwrapped(const std::string& text) {
  return std::regex_replace(text, std::regex(R"(\s+)"), " ");
}

}  // namespace

TEST_CASE("every promise of SECURITY.md names tests that exist") {
  const std::string promises = gauntlet::read_file(fs::path(GAUNTLET_ROOT) / "SECURITY.md");
  for (const std::string& test : missing_tests(promises)) FAIL_CHECK(test, " is not there");
  CHECK(promises.find("_test`") != std::string::npos);
  CHECK(missing_tests("held (`worker/forgery_test`, `worker/no_such_test`)") ==
        std::vector<std::string>{"worker/no_such_test"});
}

TEST_CASE("every prompt says the same of claims, of macros and of warnings") {
  int prompts = 0;
  for (const std::string& text : all_prompts()) {
    INFO(text.substr(0, text.find('\n')));
    const std::string prompt = unwrapped(text);
    for (const char* sentence :
         {"what it takes besides the caller's arrays at most (`peak_workspace`, in MiB)",
          "`peak_workspace` is a bound, which is true however much room it leaves; the others are "
          "figures, true where the measured figure is the same.",
          "Pragmas that silence the compiler (`GCC diagnostic`, `GCC system_header`) and `#line`, "
          "which moves what it says, count as warnings, and so does a macro of yours that a system "
          "header expands: define it behind the includes, and under a name of your own."})
      CHECK_MESSAGE(prompt.find(sentence) != std::string::npos, sentence);
    ++prompts;
  }
  CHECK(prompts >= 8);
}

TEST_CASE("files that documents name exist") {
  const fs::path root = GAUNTLET_ROOT;
  for (const char* document :
       {"README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/design.md",
        "docs/challenges.md", "docs/caches.md", "docs/clusters.md"}) {
    INFO(document);
    for (const std::string& path : missing_paths(gauntlet::read_file(root / document)))
      FAIL_CHECK(path, " is not there");
  }
  CHECK(missing_paths("see `harness/report/no_such_file.cpp`").size() == 1);
}

TEST_CASE("every source says under which licence it is") {
  const fs::path root = GAUNTLET_ROOT;
  int seen = 0;
  for (const char* top : {"harness", "graders", "tests", "reference", "cmake"})
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string kind = entry.path().extension();
      if (kind != ".h" && kind != ".cpp" && kind != ".sh" && kind != ".py" && kind != ".cmake" &&
          kind != ".cu" && kind != ".cuh")
        continue;
      ++seen;
      const std::string head = gauntlet::read_file(entry.path()).substr(0, 800);
      CHECK_MESSAGE(head.find("SPDX-License-Identifier: Apache-2.0\n") != std::string::npos,
                    entry.path());
    }
  CHECK(seen > 300);
}
