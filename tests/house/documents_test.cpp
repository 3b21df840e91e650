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
