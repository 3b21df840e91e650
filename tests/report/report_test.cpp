// SPDX-License-Identifier: Apache-2.0
#include "harness/report/report.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <regex>
#include <sstream>

#include "harness/report/terminal/terminal.h"
#include "harness/report/terminal/terminal_attempts.h"
#include "harness/report/terminal/terminal_compare.h"
#include "tests/report/demo.h"
#include "tests/report/golden.h"
#include "tests/support/text.h"

using namespace gauntlet;

namespace {

/// Bars that end a table cell: those that no backslash keeps from it.
int bars(const std::string& line) {
  return static_cast<int>(std::count(line.begin(), line.end(), '|'));
}

/// The demo, with two further attempts of bravo, of which one lacks a measurement.
ReportInput with_attempts() {
  ReportInput input = demo::input();
  input.cells.push_back(demo::good("bravo#2", "first", 0.9));
  input.cells.push_back(demo::good("bravo#2", "second", 0.4));
  input.cells.push_back(demo::partial("bravo#3", "first"));
  input.cells.push_back(demo::good("bravo#3", "second", 1.0));
  return input;
}

}  // namespace

TEST_CASE("the index page is what it was") {
  check_golden("index.md", render_report(demo::input()).at("README.md"));
}

TEST_CASE("a submission's page is what it was") {
  const auto pages = render_report(demo::input());
  check_golden("bravo.md", pages.at("submissions/bravo.md"));
  check_golden("charlie.md", pages.at("submissions/charlie.md"));
}

TEST_CASE("checks of a section that found the same in the same case are named together") {
  ReportInput input = demo::input();
  for (auto& cell : input.cells)
    for (CheckObservation& check : cell.checks) {
      check.verdict = Verdict::wrong;
      check.finding = Finding{Verdict::wrong, "all", "returned 0", {}, {}};
    }
  std::string page = render_report(input).at("submissions/bravo.md");
  const std::size_t at = page.find("- **`base`** (");
  REQUIRE(at != std::string::npos);
  const std::string line = page.substr(at, page.find('\n', at) - at);
  CHECK(line.find(", **`scaled`** (") != std::string::npos);
  CHECK(line.find("odd_sizes") == std::string::npos);  // of another section
  CHECK(line.find("wrong, case `all`: `returned 0`") != std::string::npos);
  for (auto& cell : input.cells)
    for (CheckObservation& check : cell.checks) check.finding->case_name = "in " + check.info.id;
  page = render_report(input).at("submissions/bravo.md");
  CHECK(page.find("wrong, case `in base`: `returned 0`") != std::string::npos);
  CHECK(page.find("wrong, case `in scaled`: `returned 0`") != std::string::npos);
}

TEST_CASE("the ranking, a pair, a challenge, the rounds and the insights are what they were") {
  const auto pages = render_report(demo::input());
  check_golden("ranking.md", pages.at("ranking.md"));
  check_golden("rounds.md", pages.at("rounds.md"));
  check_golden("alpha_vs_bravo.md", pages.at("pairs/alpha_vs_bravo.md"));
  check_golden("first.md", pages.at("challenges/first.md"));
  check_golden("differentiators.md", pages.at("differentiators.md"));
  check_golden("picks.md", pages.at("picks.md"));
  check_golden("ledger.md", pages.at("ledger.md"));
  check_golden("claims.json", pages.at("claims.json"));
}

TEST_CASE("there is a page for each submission, challenge and pair, and they lead to one another") {
  const auto pages = render_report(demo::input());
  for (const char* submission : {"alpha", "bravo", "charlie", "delta", "reference"})
    CHECK(pages.count("submissions/" + std::string(submission) + ".md") == 1);
  for (const char* challenge : {"first", "second"})
    CHECK(pages.count("challenges/" + std::string(challenge) + ".md") == 1);
  CHECK(std::count_if(pages.begin(), pages.end(),
                      [](const auto& page) { return contains(page.first, "_vs_"); }) == 6);
  const std::regex link(R"re(\]\(([^)#:]+)\))re");
  for (const auto& page : pages) {
    const std::string& name = page.first;
    const std::string& text = page.second;
    for (std::sregex_iterator one(text.begin(), text.end(), link), end; one != end; ++one) {
      const auto target =
          (std::filesystem::path(name).parent_path() / (*one)[1].str()).lexically_normal();
      INFO(name, " links to ", target.string());
      CHECK(pages.count(target.string()) == 1);
      if (is_for_git(name)) CHECK(is_for_git(target.string()));
    }
  }
}

TEST_CASE("there is an index before anything is graded") {
  ReportInput empty = demo::input();
  empty.cells.clear();
  const auto pages = render_report(empty);
  CHECK(pages.count("pairs/README.md") == 0);
  CHECK(contains(pages.at("README.md"), "No submission has been graded yet."));
}

TEST_CASE("attempts of a submission are one row, with rows, pages and links of their own below") {
  ReportInput input = demo::input();
  for (const char* row : {"alpha#2", "alpha@cuda", "alpha@cuda#2"})
    input.cells.push_back(demo::good(row, "first", 0.8));
  input.cards["alpha#2"] = demo::model_card("Alpha, once more", "high");
  const auto pages = render_report(input);
  const std::string index = pages.at("README.md");
  const std::pair<std::string, std::string> kRowPages[] = {{"alpha#1", "alpha@1"},
                                                           {"alpha#2", "alpha@2"},
                                                           {"alpha@cuda#1", "alpha@cuda@1"},
                                                           {"alpha@cuda#2", "alpha@cuda@2"}};
  for (const auto& entry : kRowPages) {
    const std::string& row = entry.first;
    const std::string& page = entry.second;
    INFO(row);
    CHECK(contains(index, fmt::format("| [{}](submissions/{}.md) | ", row, page)));
    CHECK(pages.count(fmt::format("submissions/{}.md", page)) == 1);
  }
  CHECK(pages.count("pairs/alpha_vs_alpha@cuda.md") == 0);  // devices are never compared
  CHECK(contains(index, "| [alpha](submissions/alpha.md), 2 attempts | "));
  CHECK(contains(index, "| [alpha@cuda](submissions/alpha@cuda.md), 2 attempts | "));
  CHECK(contains(index, "## Single attempts"));
  CHECK(contains(index, "A submission's score is the mean of its attempts: "));
  CHECK(pages.count("pairs/alpha_vs_bravo.md") == 1);
  CHECK(pages.count("pairs/alpha@1_vs_bravo.md") == 0);
  CHECK(contains(pages.at("submissions/alpha@2.md"), "Alpha, once more"));
  CHECK(contains(pages.at("submissions/alpha@cuda@2.md"), "Alpha, once more"));  // one generation
  CHECK_FALSE(contains(pages.at("submissions/alpha@1.md"), "Alpha, once more"));
  for (const auto& entry : pages) {
    const std::string& name = entry.first;
    INFO(name);
    CHECK(name.find('#') == std::string::npos);
    CHECK_FALSE(contains(entry.second, "alpha#2.md"));
  }
}

TEST_CASE("the pages of several attempts are what they were") {
  const auto pages = render_report(with_attempts());
  check_golden("attempts.md", pages.at("submissions/bravo.md"));
  check_golden("attempts_index.md", pages.at("README.md"));
  check_golden("attempts_ranking.md", pages.at("ranking.md"));
}

TEST_CASE("the terminal shows several attempts together, then one by one") {
  const ReportInput input = with_attempts();
  const std::vector<std::string> challenges{"first", "second"};
  const Board board(input.rubric, input.cells, challenges);
  check_golden("attempts.txt",
               terminal_matrix(input.rubric, board, challenges, {}) +
                   terminal_attempts(input.rubric, board, board.submissions(), challenges, {}) +
                   terminal_attempts_line(board, CellKey::of("bravo#2", "first"), {}) + "----\n" +
                   terminal_comparison(aggregate(input), {}));
}

TEST_CASE("absent, unmeasured, broken and failed cells look different") {
  ReportInput input = demo::input();
  CellObservation broken = sample::cell("echo", "first");
  broken.checks = {sample::failed("base", Severity::minor, Verdict::broken)};
  CellObservation unmeasured = sample::cell("echo", "second");
  unmeasured.checks = {sample::failed("base", Severity::minor, Verdict::unmeasured)};
  input.cells.push_back(broken);
  input.cells.push_back(unmeasured);
  const std::string page = render_report(input).at("README.md");
  CHECK(contains(page, "| [echo](submissions/echo.md) | broken | n/m | — |"));
  CHECK(contains(page, "| [charlie](submissions/charlie.md) | F 0† (4th) | — |"));
}

TEST_CASE("every page is the same for cells in any order") {
  ReportInput reversed = demo::input();
  std::reverse(reversed.cells.begin(), reversed.cells.end());
  CHECK(render_report(reversed) == render_report(demo::input()));
}

TEST_CASE("tables are as wide in every row, and never wider than eight columns") {
  ReportInput input = demo::input();
  for (int i = 0; i < 14; ++i)
    input.challenges.push_back({"more_" + std::to_string(i), "More | `x`", "hard", 3});
  for (const auto& entry : render_report(input)) {
    const std::string& name = entry.first;
    std::istringstream lines(entry.second);
    int width = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line[0] != '|') {
        width = 0;
        continue;
      }
      if (width == 0) width = bars(line);
      INFO(name, ": ", line);
      CHECK(bars(line) == width);
      CHECK(bars(line) <= 9);
    }
  }
}

TEST_CASE("what a submission or its compiler says stays text") {
  const std::string page = render_report(demo::input()).at("submissions/charlie.md");
  CHECK(contains(page, "\n````text\n"));  // longer than the fence inside
  CHECK_FALSE(contains(page, "\x1b"));
  const std::string delta = render_report(demo::input()).at("submissions/delta.md");
  CHECK(contains(delta, "Delta &#124; @<!-- -->all"));
}

TEST_CASE("a page shows the curves and texts of its checks, and the curves are files") {
  ReportInput input = demo::input();
  input.cells[0].checks[0].exhibits = {{"what it wrote", {"``` \x1b[31m @everyone", "second"}}};
  input.cells[0].checks[0].curves = {{"loss | `x`", "seconds", "nats", {{0, 6}, {1, 4}}}};
  const auto pages = render_report(input);
  const std::string page = pages.at("submissions/alpha.md");
  CHECK(contains(page,
                 "`base` draws loss &#124; &#96;x&#96;: "
                 "`build/report/plots/curves/alpha/first/base_0.svg`\n"));
  CHECK(contains(page, "`base` shows what it wrote:\n\n````text\n``` "));
  CHECK_FALSE(contains(page, "\x1b"));
  CHECK(contains(pages.at("plots/curves/alpha/first/base_0.svg"), "<polyline"));
}

TEST_CASE("model cards that differ are told where the two are compared") {
  const std::string page = render_report(demo::input()).at("README.md");
  CHECK(contains(page, "not the same: thinking_level"));
}

TEST_CASE("no report carries a date of its own or a path of this machine") {
  for (const auto& entry : render_report(demo::input())) {
    const std::string& page = entry.second;
    INFO(entry.first);
    CHECK_FALSE(contains(page, "2026-04-03T"));
    CHECK_FALSE(contains(page, GAUNTLET_ROOT));
  }
}

TEST_CASE("the terminal's matrix, cell, details and finding are what they were") {
  const ReportInput input = demo::input();
  const Board board(input.rubric, input.cells, {"first", "second"});
  TerminalStyle style;
  const CellObservation& bravo = input.cells[2];
  const BoardCell& scored = *board.find("bravo", "first");
  check_golden("terminal.txt",
               terminal_matrix(input.rubric, board, board.challenges(), style) + "----\n" +
                   terminal_cell(scored, bravo, style, "(reused)") + "----\n" +
                   terminal_details(input.rubric, scored, bravo, style) + "----\n" +
                   terminal_check(input.rubric, scored, bravo, bravo.checks.back(), style) +
                   "----\n" +
                   terminal_cell(*board.find("charlie", "first"), input.cells[4], style));
}

TEST_CASE("the terminal's comparisons of two and of three are what they were") {
  ReportInput input = demo::input();
  std::erase_if(input.cells, [](const CellObservation& cell) {
    return cell.key.submission != "alpha" && cell.key.submission != "bravo";
  });
  const Aggregate two = aggregate(input);
  input.cells.push_back(demo::unbuilt("charlie", "first"));
  check_golden("compare.txt", terminal_comparison(two, {}) +
                                  terminal_criteria(two, two.pairs.front(), "first", {}) +
                                  "----\n" + terminal_comparison(aggregate(input), {}));
}

TEST_CASE("a terminal that knows ASCII only gets ASCII only, and no colour unless asked") {
  const ReportInput input = demo::input();
  const Board board(input.rubric, input.cells, {"first", "second"});
  TerminalStyle style;
  style.unicode = false;
  const std::string text = terminal_matrix(input.rubric, board, board.challenges(), style);
  CHECK(std::all_of(text.begin(), text.end(), [](char c) { return c >= 0; }));
  const BoardCell& scored = *board.find("bravo", "first");
  CHECK_FALSE(contains(terminal_cell(scored, input.cells[2], style), "\x1b"));
  const std::string compared = terminal_comparison(aggregate(input), style);
  CHECK(std::all_of(compared.begin(), compared.end(), [](char c) { return c >= 0; }));
  style.color = true;
  CHECK(contains(terminal_cell(scored, input.cells[2], style), "\x1b[33m"));
}

TEST_CASE("a narrow terminal gets several tables") {
  const ReportInput input = demo::input();
  const Board board(input.rubric, input.cells, {"first", "second"});
  TerminalStyle style;
  style.width = 50;
  const std::string text = terminal_matrix(input.rubric, board, board.challenges(), style);
  CHECK(std::count(text.begin(), text.end(), 'S') == 2);  // of "Submission"
}
