// SPDX-License-Identifier: Apache-2.0
// The same input gives the same bytes wherever it is rendered, and hostile text stays text.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <doctest/doctest.h>
#include <locale>
#include <sstream>

#include "harness/core/text.h"
#include "harness/report/model/aggregate.h"
#include "tests/report/random_table.h"

using namespace gauntlet;

namespace {

/// 1.234,5
struct Commas : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

const std::string kHostile =
    "::error::x | </details> <script>alert(1)</script> ``` @everyone #1 [a](http://b) \x1b[31m"
    "\xff\xfe \r\n| --- |\n# title\n" +
    std::string("\0 nul", 5);

CellObservation hostile_cell() {
  CellObservation cell = demo::trapped("mallory", "first");
  for (auto& check : cell.checks) {
    for (auto& speed : check.speeds) speed.case_name = kHostile;
    check.facts.push_back({kHostile, 1, kHostile});
    check.exhibits.push_back({kHostile, {kHostile}});
    if (check.finding) {
      check.finding->summary = kHostile;
      check.finding->case_name = kHostile;
      check.finding->evidence = {kHostile};
    }
  }
  cell.build.messages = kHostile;
  cell.checks[0].facts.push_back({kHostile, 64, kHostile, ClaimKind::saved_bytes});
  cell.stated_claims = {{ClaimKind::saved_bytes, 8.0}, {ClaimKind::time_exponent, 1.0}};
  cell.time_growth = Growth{kHostile, {}, kHostile};
  cell.claims_fault = kHostile;
  return cell;
}

ReportInput hostile_input() {
  ReportInput input = demo::input();
  input.cells.push_back(hostile_cell());
  input.cards["mallory"] = demo::model_card(kHostile, kHostile);
  return input;
}

/// A page without its code: fenced blocks and `spans` may hold anything that cannot end them.
std::string outside_code(const std::string& page) {
  std::istringstream lines(page);
  std::string text;
  std::string fence;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t ticks = line.find_first_not_of('`', begin);
    const std::string run = line.substr(begin, std::min(ticks, line.size()) - begin);
    if (!fence.empty()) {
      if (run.size() >= fence.size() && ticks == std::string::npos) fence.clear();
      continue;
    }
    if (run.size() >= 3) {
      fence = run;
      continue;
    }
    text += line + "\n";
  }
  return text;
}

/// Without `spans` as well.
std::string outside_spans(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '`') {
      result += text[i++];
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && text[end] == '`') ++end;
    const std::string fence = text.substr(i, end - i);
    std::size_t close = text.find(fence, end);
    while (close != std::string::npos && text[close + fence.size()] == '`')
      close = text.find(fence, text.find_first_not_of('`', close));
    REQUIRE(close != std::string::npos);
    i = close + fence.size();
  }
  return result;
}

}  // namespace

TEST_CASE("the same bytes in another locale, another time zone, and again") {
  const ReportInput input = random_table(3, 4, 8, 12);
  const auto here = render_report(input);
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Commas));
  setenv("TZ", "Pacific/Kiritimati", 1);
  tzset();
  const auto there = render_report(input);
  std::locale::global(before);
  unsetenv("TZ");
  tzset();
  CHECK(here == there);
  CHECK(here == render_report(input));
}

TEST_CASE("pages carry no byte of a terminal's, and all are valid UTF-8") {
  for (const auto& entry : render_report(hostile_input())) {
    const std::string& name = entry.first;  // clang 14 captures no structured binding
    const std::string& page = entry.second;
    INFO(name);
    CHECK(std::none_of(page.begin(), page.end(), [](char c) {
      return (c >= 0 && c < ' ' && c != '\n' && c != '\t') || c == '\x7f';
    }));
    CHECK(printable(page, page.size() + 1) == page);  // which replaces what is no UTF-8
  }
}

TEST_CASE("hostile text is neither markup, nor mention, nor a line of its own") {
  for (const auto& entry : render_report(hostile_input())) {
    const std::string& name = entry.first;  // clang 14 captures no structured binding
    const std::string& page = entry.second;
    if (name.substr(name.size() - 3) != ".md") continue;
    INFO(name);
    const std::string text = outside_spans(outside_code(page));
    CHECK(text.find("<script") == std::string::npos);
    CHECK(text.find("@everyone") == std::string::npos);
    CHECK(text.find("](http") == std::string::npos);
    CHECK(("\n" + text).find("\n::error::") == std::string::npos);
    CHECK(text.find("\n# title") == std::string::npos);
    CHECK(text.find("#1 ") == std::string::npos);
  }
}

TEST_CASE("tables stay whole with hostile text in them") {
  for (const auto& entry : render_report(hostile_input())) {
    const std::string& name = entry.first;  // clang 14 captures no structured binding
    const std::string& page = entry.second;
    if (name.substr(name.size() - 3) != ".md") continue;
    std::istringstream lines(outside_code(page));
    std::ptrdiff_t width = 0;
    for (std::string line; std::getline(lines, line);) {
      const auto bars = std::count(line.begin(), line.end(), '|');
      if (line.empty() || line[0] != '|') {
        width = 0;
        continue;
      }
      if (width == 0) width = bars;
      INFO(name, ": ", line);
      CHECK(bars == width);
      CHECK(bars <= 9);
    }
  }
}

TEST_CASE("hostile text reaches the JSON files as text") {
  const auto pages = render_report(hostile_input());
  CHECK(Json::accept(pages.at("aggregate.json")));
  CHECK(Json::accept(pages.at("claims.json")));
}
