// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/wild_text.h"

#include <doctest/doctest.h>

#include "harness/core/files.h"
#include "harness/run/submissions.h"
#include "tests/support/text.h"

using namespace gauntlet;

namespace {

const WildFrame kFrame{"kv_cache", 7, "/checkout", "/checkout/build/cache"};

WildRow row_of(std::vector<std::string> killers, const std::string& file = "honest/paged.cpp") {
  WildRow row;
  row.mutant.file = file;
  row.mutant.rule = "less_to_less_equal";
  row.mutant.part = "solution.cpp";
  row.mutant.site.line = 83;
  row.mutant.site.before = "if (a < b) return;";
  row.mutant.site.after = "if (a <= b) return;";
  row.mutant.site.place = 2;
  row.mutant.solution.files = {{"common.h", "// shared\n"}, {"solution.cpp", "// changed\n"}};
  row.killers = std::move(killers);
  return row;
}

WildReport report_of(std::vector<WildRow> rows, int to_grade) {
  WildReport report;
  report.rows = std::move(rows);
  report.drawn = report.to_grade = to_grade;
  return report;
}

}  // namespace

TEST_CASE("a survivor says where it is, what changed, and the commands that show it") {
  const std::string text = wild_row_text(kFrame, row_of({}), {});
  CHECK(text ==
        "  survives graders/kv_cache/honest/paged.cpp:83 less_to_less_equal, place 2\n"
        "    - if (a < b) return;\n"
        "    + if (a <= b) return;\n"
        "    see it:    diff -u graders/kv_cache/honest/paged.cpp "
        "build/cache/wild/paged-83-less_to_less_equal-2/kv_cache/solution.cpp\n"
        "    ask again: ./gauntlet audit -c kv_cache --wild 1 --seed 0x0000000000000007 --only "
        "honest/paged.cpp:83:less_to_less_equal:2\n");
  const std::string once = wild_row_text(kFrame, row_of({"ring"}, "reference/solution.cpp"), {});
  CHECK(contains(once, "one check reference/kv_cache/solution.cpp:83 "));
  CHECK(contains(once, "killed by ring\n"));
  CHECK(contains(once, "ask again: "));
}

TEST_CASE("who only did not end is told from who was wrong, and the known from the unknown") {
  WildRow row = row_of({"ring", "window"});
  row.hung = true;
  CHECK(contains(wild_row_text(kFrame, row, {}),
                 "killed by ring and window, some of which waited in vain for its end"));
  row = row_of({});
  row.equivalent = "nobody looks";
  const std::string text = wild_row_text(kFrame, row, {});
  CHECK(text.starts_with("  equivalent "));
  CHECK(text.ends_with("    nobody looks\n"));
}

TEST_CASE("a mutant is kept as a submission that rerun takes") {
  const ScratchFolder scratch("wild");
  WildFrame frame = kFrame;
  frame.root = scratch.path();
  frame.cache = scratch.path() / "build/cache";
  keep_wild(frame, row_of({}).mutant);
  const auto folder = wild_folder(frame, row_of({}).mutant);
  CHECK(read_file(folder / "solution.cpp") == "// changed\n");
  CHECK(read_file(folder / "common.h") == "// shared\n");
  const auto solutions = solutions_of(
      find_submission(Folders::checkout(frame.root), folder.parent_path().string()), {"kv_cache"});
  REQUIRE(solutions.size() == 1);
  CHECK(solutions[0].challenge == "kv_cache");
}

TEST_CASE("the summary counts each fate, and says when it is not of all") {
  WildReport report = report_of({row_of({"a", "b"}), row_of({"a"}), row_of({})}, 3);
  report.asked_again = 2;
  report.rows[0].hung = true;
  const std::string whole = wild_summary(kFrame, report);
  CHECK(contains(whole,
                 "kv_cache: 3 wild mutants graded: 1 killed by two checks, 1 by one, 1 "
                 "survived, 0 cannot be noticed; 2 ran out of time and were asked again "
                 "alone, and 1 of them did not end then either; "));
  CHECK(wild_document(kFrame, report)["partial"] == false);
  report.to_grade = 9;
  report.waiting = 2;
  report.asked_again = 5;
  const std::string partial = wild_summary(kFrame, report);
  CHECK(contains(partial, "kv_cache: PARTIAL, 3 of 9 wild mutants graded: "));
  CHECK(contains(partial, "2 ran out of time and are still to be asked again alone; "));
  CHECK(contains(partial, "; 3 ran out of time and were asked again alone, and 1 of them "));
  CHECK(wild_document(kFrame, report)["partial"] == true);
  report.rows.pop_back();  // the survivor: what is not whole is not well either
  CHECK(wild_document(kFrame, report)["ok"] == false);
}
