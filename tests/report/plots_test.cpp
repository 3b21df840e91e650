// SPDX-License-Identifier: Apache-2.0
#include "harness/report/plots/plots.h"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <pugixml.hpp>

#include "harness/core/error.h"
#include "harness/report/plots/axis.h"
#include "harness/report/plots/svg.h"
#include "tests/report/demo.h"
#include "tests/report/golden.h"

using namespace gauntlet;

namespace {

std::map<std::string, std::string> demo_plots() {
  return draw_plots(aggregate(demo::input()));
}

/// Everything of a drawing that is not ours to say: it may only stand in text.
void check_harmless(const std::string& svg) {
  pugi::xml_document document;
  REQUIRE(document.load_string(svg.c_str()));
  CHECK(document.select_nodes("//script | //image | //foreignObject | //a | //use").empty());
  for (const char* bad : {"href", "url(", "@import", "nan", "inf\"", "\x1b"}) {
    INFO(bad);
    CHECK(svg.find(bad) == std::string::npos);
  }
}

}  // namespace

TEST_CASE("the drawings of a report are what they were") {
  const auto plots = demo_plots();
  check_golden("matrix.svg", plots.at("plots/matrix.svg"));
  check_golden("trajectory.svg", plots.at("plots/trajectory.svg"));
  check_golden("ceilings.svg", plots.at("plots/ceilings.svg"));
  check_golden("speed.svg", plots.at("plots/speed/first.svg"));
  check_golden("kills.svg", plots.at("plots/kills/first.svg"));
}

TEST_CASE("every drawing suits light and dark pages, and says in words what it shows") {
  for (const auto& plot : demo_plots()) {
    const std::string& svg = plot.second;
    INFO(plot.first);
    check_harmless(svg);
    pugi::xml_document document;
    document.load_string(svg.c_str());
    const auto root = document.child("svg");
    CHECK(std::string(root.attribute("role").value()) == "img");
    CHECK(std::string(root.child_value("title")).size() > 5);
    CHECK(std::string(root.child_value("desc")).size() > 20);
    CHECK(std::string(root.child_value("style")).find("prefers-color-scheme:dark") !=
          std::string::npos);
  }
  CHECK(demo_plots().at("plots/matrix.svg").find("bravo: first C+ 79 and second A 100") !=
        std::string::npos);
}

TEST_CASE("a report of nothing has no drawings, and a challenge that nobody timed none of speed") {
  ReportInput input = demo::input();
  for (auto& cell : input.cells)
    if (cell.key.challenge == "second")
      for (auto& check : cell.checks) check.speeds.clear();
  const auto plots = draw_plots(aggregate(input));
  CHECK(plots.contains("plots/speed/first.svg"));
  CHECK_FALSE(plots.contains("plots/speed/second.svg"));
  input.cells.clear();
  input.audits.clear();
  CHECK(draw_plots(aggregate(input)).empty());
}

TEST_CASE("names and numbers from anywhere neither leave a drawing nor break it") {
  ReportInput input = demo::input();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const std::string hostile = "</text><script>alert(1)</script>&\x1b[31m\"";
  for (auto& cell : input.cells)
    for (auto& check : cell.checks)
      for (auto& speed : check.speeds) speed.case_name = hostile;
  auto& speed = input.cells[0].checks[2].speeds;
  speed.push_back(speed[0]);
  speed.back().case_name = "not a number";
  speed.back().ratio = nan;
  speed.push_back(speed[0]);
  speed.back().case_name = "endless";
  speed.back().high = inf;
  speed.push_back(speed[0]);
  speed.back().case_name = "wide";
  speed.back().low = 1e-300;
  speed.back().high = 1e300;
  speed.back().ceiling_share = 1e-300;
  for (const auto& plot : draw_plots(aggregate(input))) {
    const std::string& svg = plot.second;
    INFO(plot.first);
    check_harmless(svg);
    CHECK(svg.size() < 40'000);
  }
}

TEST_CASE("what is of one kind is one element, and overlapping outlines fill both") {
  Svg svg(100, 100, "title", "words");
  for (int shape = 0; shape < Svg::kShapes / 2; ++shape) svg.mark(shape, 20, 20, "s0");
  svg.box(10, 10, 20, 30, "s0");
  svg.line(1, 2, 3, 4, "axis");
  svg.line(5, 6, 7, 8, "axis");
  const std::string drawn = svg.str();
  CHECK(drawn.find("<path class=\"axis\" d=\"M1 2L3 4M5 6L7 8\" />") != std::string::npos);
  CHECK(drawn.find("M10 10h20v30h-20Z\" />") != std::string::npos);
  CHECK(drawn.find("class=\"s0\"") == drawn.rfind("class=\"s0\""));
  // Clockwise: an arc with sweep 1, and a triangle and a diamond from the top to the right.
  CHECK(drawn.find("a4 4 0 1 1 8 0 4 4 0 1 1 -8 0Z") != std::string::npos);
  CHECK(drawn.find("M20 14.8L25.2 20L20 25.2L14.8 20Z") != std::string::npos);
  CHECK(drawn.find("M20 15.2L24.8 24L15.2 24Z") != std::string::npos);
}

TEST_CASE("a place that is not finite is our fault, not a hole in the drawing") {
  Svg svg(10, 10, "title", "words");
  CHECK_THROWS_AS(svg.line(0, 0, std::nan(""), 1, "grid"), Broken);
}

TEST_CASE("a logarithmic axis always holds 1, and gives each halving the same room") {
  for (const auto& data : {std::pair{0.5, 2.0}, {0.01, 0.02}, {3.0, 5.0}, {1e-9, 1e9}}) {
    const Axis axis = logarithmic_axis(data.first, data.second, 0, 100);
    INFO(data.first, " to ", data.second);
    CHECK(axis.low < 1);
    CHECK(axis.high > 1);
    CHECK(axis.ticks.size() >= 1);
    CHECK(axis.place(1e12) == doctest::Approx(100));
    CHECK(axis.place(1e-12) == doctest::Approx(0));
  }
  const Axis axis = logarithmic_axis(0.25, 4, 0, 100);
  CHECK(axis.place(2) - axis.place(1) == doctest::Approx(axis.place(1) - axis.place(0.5)));
}

TEST_CASE("an audit that was kept is read back as it was") {
  const ScratchFolder folder("audits");
  AuditRecord kept = demo::audit();
  kept.rows.push_back(kept.rows.back());  // equal rows share a line, and are as many again
  save_audit(folder.path(), kept);
  const auto read = load_audits(folder.path());
  REQUIRE(read.size() == 1);
  std::erase_if(kept.rows, [](const auto& row) { return row.kind == "reference"; });
  for (auto& row : kept.rows) row.seed = row.note = "";
  CHECK(to_json(read[0]) == to_json(kept));
  CHECK(read[0].count("mutant") == 2);
  CHECK(read[0].right("mutant") == 1);
  CHECK(read[0].missed_once() == 2);
  CHECK(load_audits(folder.path() / "nowhere").empty());
}

TEST_CASE("audits of one challenge on two devices are kept and shown apart") {
  const ScratchFolder folder("audits");
  AuditRecord cuda = demo::audit();
  cuda.device = Device::cuda;
  cuda.grader_digest = "of kernels";
  for (const AuditRecord& record : {demo::audit(), cuda}) save_audit(folder.path(), record);
  ReportInput input = demo::input();
  input.audits = load_audits(folder.path());
  REQUIRE(input.audits.size() == 2);
  CHECK(input.audits[0].device == Device::cpu);
  CHECK(input.audits[1].entry() == "first@cuda");
  const auto pages = render_report(input);
  const std::string page = pages.at("challenges/first.md");
  CHECK(page.find("## The graders, graded") != std::string::npos);
  CHECK(page.find("## The graders on cuda, graded") != std::string::npos);
  CHECK(pages.count("plots/kills/first@cuda.svg") == 1);
}

TEST_CASE("audits of the schema before, and runs of letters in a row, are read alike") {
  const auto rows_of = [](const std::string& schema, const std::string& rows) {
    const ScratchFolder folder("audits");
    write_file(folder.path() / "first.json",
               "{\"schema\":\"" + schema +
                   "\",\"challenge\":\"first\",\"grader_digest\":\"d\",\"checks\":[\"a\",\"b\","
                   "\"c\",\"d\"],\"idle_checks\":[],\"rows\":[" +
                   rows + "]}");
    return load_audits(folder.path()).at(0).rows;
  };
  const auto older = rows_of("gauntlet.audit-record/3",
                             "{\"mutant\":\"m\",\"checks\":\".NNx\"},{\"honest\":\"h\"}");
  const auto now = rows_of("gauntlet.audit-record/4", "[\"m\",\".2Nx\"],{\"honest\":\"h\"}");
  REQUIRE(older.size() == 2);
  REQUIRE(now.size() == 2);
  CHECK(now[0].failed_checks == std::vector<std::string>{"b", "c", "d"});
  CHECK(now[0].failed_checks == older[0].failed_checks);
  CHECK(now[0].named.size() == 2);
  CHECK(now[1].kind == "honest");
  for (const char* wrong : {"[\"m\",\".2N\"]", "[\"m\",\"99999999999x\"]", "[\"m\"]", "[1,2]", "3"})
    CHECK_THROWS_AS(rows_of("gauntlet.audit-record/4", wrong), UserError);
}

TEST_CASE("the page of a challenge says how its graders fare, and of which grader that is true") {
  ReportInput input = demo::input();
  const std::string other = "The grades above come from another state of the grader.";
  const std::string page = render_report(input).at("challenges/first.md");
  CHECK(page.find("1 of 2 known-wrong solutions were noticed, 0 of 1 runs of known-right ones were "
                  "rejected; checks that noticed none: speed.") != std::string::npos);
  CHECK(page.find("`build/report/plots/kills/first.svg`") != std::string::npos);
  CHECK(page.find(other) == std::string::npos);
  input.audits[0].grader_digest = "another";
  CHECK(render_report(input).at("challenges/first.md").find(other) != std::string::npos);
}
