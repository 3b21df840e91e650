// SPDX-License-Identifier: Apache-2.0
// What the documents name is there: who follows CONTRIBUTING.md finds the file.
#include <doctest/doctest.h>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

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

}  // namespace

TEST_CASE("files that documents name exist") {
  const fs::path root = GAUNTLET_ROOT;
  for (const char* document : {"README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md",
                               "docs/design.md", "docs/challenges.md"}) {
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
      if (kind != ".h" && kind != ".cpp" && kind != ".sh" && kind != ".py" && kind != ".cmake")
        continue;
      ++seen;
      const std::string head = gauntlet::read_file(entry.path()).substr(0, 400);
      CHECK_MESSAGE(head.find("SPDX-License-Identifier: Apache-2.0\n") != std::string::npos,
                    entry.path());
    }
  CHECK(seen > 300);
}
