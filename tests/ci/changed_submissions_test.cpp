// SPDX-License-Identifier: Apache-2.0
#include "harness/ci/changed_submissions.h"

#include <doctest/doctest.h>
#include <set>

#include "harness/core/error.h"

using namespace gauntlet;

namespace {

/// What git prints: every word ended by a zero byte.
std::string zeros(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\0';
  return text;
}

/// "bravo added; delta#2 renamed from delta", and how many files lay outside.
std::string told(const ChangedFiles& changed) {
  std::string text;
  for (const ChangedSubmission& one : changed.submissions)
    text += one.generation() + " " + std::string(name_of(one.change)) +
            (one.renamed_from.empty() ? "" : " from " + one.renamed_from) + "; ";
  return text + std::to_string(changed.outside);
}

struct Folders {
  std::set<std::string> before;
  std::set<std::string> now;

  std::string after(const std::vector<std::string>& diff,
                    const std::vector<std::string>& untracked = {}) const {
    return told(changed_files(zeros(diff), zeros(untracked),
                              {[&](const std::string& folder) { return before.contains(folder); },
                               [&](const std::string& folder) { return now.contains(folder); }}));
  }
};

}  // namespace

TEST_CASE("submissions are added, edited and removed, and other files grade nothing") {
  const Folders folders{{"submissions/old", "submissions/gone"},
                        {"submissions/old", "submissions/new", "submissions/odd name\n"}};
  CHECK(folders.after({}) == "0");
  CHECK(folders.after({"M", "README.md", "A", "harness/cli/x.cpp", "T", "submissions"}) == "3");
  CHECK(folders.after({"M", "submissions/old/first/solution.cpp"}) == "old edited; 0");
  CHECK(folders.after({"A", "submissions/old/second/solution.cpp"}) == "old edited; 0");
  CHECK(folders.after({"A", "submissions/new/model.yaml"}) == "new added; 0");
  CHECK(folders.after({"D", "submissions/gone/model.yaml", "D", "submissions/gone/first/a.h"}) ==
        "gone removed; 0");
  CHECK(folders.after({"D", "submissions/old/first/solution.cpp"}) == "old edited; 0");
  CHECK(folders.after({"A", "submissions/odd name\n/x"}) == "odd name\n added; 0");
  CHECK(folders.after({}, {"submissions/new/model.yaml"}) == "new added; 0");
}

TEST_CASE("a file beside the submissions is none of them, and what stands in for one is") {
  const Folders folders{{}, {"submissions/link"}};
  CHECK(folders.after({"A", "submissions/README.md"}) == "1");
  CHECK(folders.after({"A", "submissions/link"}) == "link added; 0");
}

TEST_CASE("attempts are submissions of their own") {
  const Folders folders{{"submissions/old", "submissions/old/attempts/2"},
                        {"submissions/old", "submissions/old/attempts/3"}};
  CHECK(folders.after({"A", "submissions/old/attempts/3/first/solution.cpp", "D",
                       "submissions/old/attempts/2/model.yaml"}) ==
        "old#2 removed; old#3 added; 0");
  CHECK(folders.after({"A", "submissions/old/attempts/3"}) == "old#3 added; 0");
  CHECK(folders.after({"A", "submissions/old/attempts/notes"}) == "old edited; 0");
}

TEST_CASE("a folder that others' files were moved to was renamed, if theirs is gone") {
  const std::vector<std::string> moved{"R100", "submissions/gone/first/solution.cpp",
                                       "submissions/new/first/solution.cpp"};
  const Folders gone{{"submissions/gone"}, {"submissions/new"}};
  CHECK(gone.after(moved) == "gone removed; new renamed from gone; 0");
  const Folders still{{"submissions/gone"}, {"submissions/new", "submissions/gone"}};
  CHECK(still.after(moved) == "gone edited; new added; 0");
  const Folders both{{"submissions/gone", "submissions/new"}, {"submissions/new"}};
  CHECK(both.after(moved) == "gone removed; new edited; 0");
  CHECK(gone.after({"R100", "docs/x.md", "submissions/new/x.md"}) == "new added; 1");
  CHECK(gone.after({"C100", "docs/x.md", "submissions/new/x.md"}) == "new added; 0");
}

TEST_CASE("what git does not print is our own trouble") {
  const Folders folders;
  CHECK_THROWS_AS(folders.after({"hello", "x"}), Broken);
  CHECK_THROWS_AS(folders.after({"M"}), Broken);
  CHECK_THROWS_AS(folders.after({"R100", "x"}), Broken);
  CHECK_THROWS_AS(changed_files("M", "", {}), Broken);
}
