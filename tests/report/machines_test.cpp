// SPDX-License-Identifier: Apache-2.0
// Results of several kinds of machines, and of more submissions than pages can hold in pairs.
#include <doctest/doctest.h>

#include "harness/report/model/aggregate.h"
#include "harness/report/report.h"
#include "harness/score/machine_kind.h"
#include "tests/store/sample.h"
#include "tests/support/text.h"

using namespace gauntlet;

namespace {

/// A cell that was raced, so many times as fast as the reference.
CellObservation raced(const std::string& submission, const std::string& cpu, double ratio) {
  CellObservation cell = sample::cell(submission);
  cell.provenance.cpu = cpu;
  cell.checks = {sample::passed("base"), sample::passed("speed", Section::performance)};
  cell.checks[1].speeds = {
      {"small", 9, 1000, 1000 * ratio, ratio, ratio * 0.99, ratio * 1.01, 0.99, 1.01, {}, {}}};
  return cell;
}

ReportInput input_of(std::vector<CellObservation> cells) {
  ReportInput input;
  input.rubric = load_rubric(std::filesystem::path(GAUNTLET_ROOT) / "harness/score/rubric.yaml");
  input.challenges = {{"first", "First", "easy", 1, ""}};
  input.cells = std::move(cells);
  return input;
}

}  // namespace

TEST_CASE("speeds of different kinds of machines are not compared, and the index says so") {
  for (const bool same : {true, false}) {
    const ReportInput input =
        input_of({raced("bravo", "A CPU", 1), raced("delta", same ? "A CPU" : "B CPU", 0.5)});
    const Aggregate all = aggregate(input);
    REQUIRE(all.pairs.size() == 1);
    CHECK(all.pairs[0].rows[0].edges_first == (same ? 1 : 0));
    CHECK(contains(render_report(input).at("README.md"), "on 2 kinds of machines") != same);
  }
}

TEST_CASE("a sentence counts the cells of each kind, of those that were raced") {
  RacedOn machines;
  machines.add(raced("bravo", "A CPU", 1));
  machines.add(raced("delta", "A CPU", 1));
  machines.add(sample::cell());  // without a race
  CHECK(machines.sentence().empty());
  machines.add(raced("echo", "B CPU", 1));
  CHECK(contains(machines.sentence(), "(2 of A CPU, 2 cores and 1 of B CPU, 2 cores)"));
}

TEST_CASE("pairs have pages until there are too many of them") {
  for (const int submissions : {63, 64}) {
    std::vector<CellObservation> cells;
    for (int i = 0; i < submissions; ++i)
      cells.push_back(raced("model" + std::to_string(i), "A CPU", 1));
    const auto pages = render_report(input_of(cells));
    CHECK(pages.contains("pairs/model0_vs_model1.md") == (submissions == 63));
    CHECK(contains(pages.at("pairs/README.md"), "](../pairs/") == (submissions == 63));
    CHECK(contains(pages.at("pairs/README.md"), "too many pairs") == (submissions == 64));
  }
}
