// SPDX-License-Identifier: Apache-2.0
#include "harness/store/cell_comparison.h"

#include <doctest/doctest.h>

#include "tests/store/receipt_sample.h"
#include "tests/store/sample.h"
#include "tests/support/text.h"

using namespace gauntlet;
using Outcome = Proof::Outcome;

namespace {

/// What comparing says when the stored observation and its receipt were edited like this.
template <class Edit>
Comparison compared_after(const Edit& edit) {
  CellObservation now = sample::graded_cell();
  now.checks[0].facts = {{"worst share", 0.25, ""}};
  now.checks[0].exhibits = {{"text", {"one"}}};
  now.checks[0].curves = {{"loss", "step", "nats", {{0, 2}, {1, 1}}}};
  const Receipt seen = sample::receipt_of(now);
  Receipt claimed = seen;
  CellObservation then = now;
  edit(then, claimed);
  return compare_seen(claimed, then, seen, {&now, 1});
}

template <class Edit>
std::vector<Proof> seen_after(const Edit& edit) {
  return compared_after(edit).proofs;
}

/// What is said of a stored fact after outputs that did not come again, when new runs say these.
Comparison fact_beside(double stored, const std::vector<double>& runs) {
  std::vector<CellObservation> cells(runs.size(), sample::graded_cell());
  for (std::size_t i = 0; i < runs.size(); ++i)
    cells[i].checks[0].facts = {{"worst share", runs[i], ""}};
  // What is asked again is that check alone.
  for (std::size_t i = 1; i < cells.size(); ++i) cells[i].checks.resize(1);
  const Receipt seen = sample::receipt_of(cells.front());
  Receipt claimed = seen;
  claimed.closing->checks[0].outputs ^= 1;
  CellObservation then = cells.front();
  then.checks[0].facts[0].value = stored;
  return compare_seen(claimed, then, seen, cells);
}

Outcome only_outcome(const std::vector<Proof>& proofs) {
  REQUIRE(proofs.size() == 1);
  return proofs[0].outcome;
}

using Edit = void (*)(CellObservation& then, Receipt& claimed);

}  // namespace

TEST_CASE("what follows from outputs that came again has to come again as well") {
  CHECK(seen_after([](CellObservation&, Receipt&) {}).empty());
  for (const Edit edit : std::initializer_list<Edit>{
           [](CellObservation&then, Receipt&) { then.checks[0].facts[0].value = 0.125; },
           [](CellObservation&then, Receipt&) { then.checks[0].facts[0].name = "least share"; },
           [](CellObservation&then, Receipt&) { then.checks[0].facts.clear(); },
           [](CellObservation&then, Receipt&) { then.checks[0].exhibits[0].lines = {"two"}; },
           [](CellObservation&then, Receipt&) { then.checks[0].curves[0].points[1].second = 0; },
           [](CellObservation&then, Receipt&) { then.checks[0].cases = 9; },
           [](CellObservation&then, Receipt&) {
             then.checks[0].workspace = Growth{"n", {}, ""};
           },
           [](CellObservation&then, Receipt&) { then.build.warnings = 1; },
           [](CellObservation&then, Receipt&) { then.build.messages = "warning"; },
           [](CellObservation&then, Receipt&) { then.build.flags = "-O3"; },
           [](CellObservation&then, Receipt&) { then.stated_claims.clear(); },
           [](CellObservation&then, Receipt&) { then.claims_fault = ""; }}) {
    const auto proofs = seen_after(edit);
    CHECK(only_outcome(proofs) == Outcome::refuted);
    CHECK(contains(proofs[0].text, "is now"));
  }
}

TEST_CASE("what may change by itself is named, and refutes nothing") {
  CHECK(only_outcome(seen_after([](CellObservation& then, Receipt&) {
          then.checks[1].finding->summary = "dx[0]: got 3, want 1 +- 0.1";
        })) == Outcome::noted);
}

TEST_CASE("what other outputs gave is confirmed only where new runs give it or lie around it") {
  CHECK(fact_beside(0.25, {0.25}).proofs.empty());
  CHECK(fact_beside(0.25, {0.5, 0.75, 0.25}).wavering.size() == 1);
  // As far outside of them as they lie apart, and further.
  CHECK(fact_beside(0.25, {0.5, 0.75}).wavering ==
        std::vector<std::string>{"facts of " + sample::graded_cell().checks[0].info.id});
  CHECK(only_outcome(fact_beside(0.25, {0.5, 0.75}).proofs) == Outcome::noted);
  for (const Comparison& made : {fact_beside(0.2, {0.5, 0.75}), fact_beside(1.1, {0.5, 0.75}),
                                 fact_beside(0.25, {0.5, 0.5, 0.5}), fact_beside(0.25, {0.5})}) {
    CHECK(only_outcome(made.proofs) == Outcome::unconfirmed);
    CHECK(made.wavering.empty());
    CHECK(made.unconfirmed.size() == 1);
    CHECK(made.ask_again.size() == 1);
    CHECK(contains(made.proofs[0].text, "only the receipt says so"));
  }
}

TEST_CASE("numbers that waver are compared one by one, and words have to come again") {
  const auto outcome = [](const auto& edit) {
    std::vector<CellObservation> runs(2, sample::graded_cell());
    for (std::size_t i = 0; i < 2; ++i) {
      runs[i].checks[0].curves = {{"loss", "step", "nats", {{0, 2.0 + double(i)}, {1, 1}}}};
      runs[i].checks[0].exhibits = {{"text", {i == 0 ? "one" : "two"}}};
    }
    const Receipt seen = sample::receipt_of(runs.front());
    Receipt claimed = seen;
    claimed.closing->checks[0].outputs ^= 1;
    CellObservation then = runs.front();
    edit(then.checks[0]);
    return compare_seen(claimed, then, seen, runs).proofs;
  };
  CHECK(only_outcome(outcome([](CheckObservation& was) {
          was.curves[0].points[0].second = 3.5;
        })) == Outcome::noted);
  CHECK(only_outcome(outcome([](CheckObservation& was) {
          was.curves[0].points[1].second = 0.5;
        })) == Outcome::unconfirmed);
  CHECK(only_outcome(outcome([](CheckObservation& was) { was.curves[0].points.pop_back(); })) ==
        Outcome::unconfirmed);
  CHECK(only_outcome(outcome([](CheckObservation& was) { was.exhibits[0].lines = {"two"}; })) ==
        Outcome::noted);
  CHECK(only_outcome(outcome([](CheckObservation& was) { was.exhibits[0].lines = {"three"}; })) ==
        Outcome::unconfirmed);
}

TEST_CASE("what another compiler said cannot come again") {
  const auto messages = [](CellObservation& then, Receipt& claimed) {
    then.build.messages = "another compiler's words";
    claimed.library = sha256("another");
  };
  const Comparison made = compared_after(messages);
  CHECK(only_outcome(made.proofs) == Outcome::unconfirmed);
  CHECK(made.ask_again.empty());
}

TEST_CASE("measured memory, growth of time and ceilings are not compared, and are named") {
  // The third check of the sample has a fact in MiB and a workspace.
  CHECK(seen_after([](CellObservation& then, Receipt&) {
          then.checks[2].facts[0].value = 1;
          then.checks[2].workspace->points[0].second = 1;
          then.time_growth.reset();
          then.provenance.copy_gb_per_s = 1;
          then.checks[0].seconds = 100;
        }).empty());
  const CellObservation cell = sample::graded_cell();
  CHECK(not_compared(sample::receipt_of(cell), cell, cell) ==
        std::vector<std::string>{"what was measured in speed", "the growth of time",
                                 "the machine's ceilings"});
  const CellObservation plain = sample::cell();
  CHECK(not_compared(sample::receipt_of(plain), plain, plain) ==
        std::vector<std::string>{"the machine's ceilings"});
}

TEST_CASE("points that changed with the same outputs are refuted, others are not confirmed") {
  const auto compared = [](const auto& edit) {
    Receipt claimed = sample::receipt_of(sample::graded_cell());
    Receipt seen = claimed;
    CellObservation then = sample::graded_cell();
    then.checks[0].earned = 0.75;
    edit(claimed.closing->checks[0], seen.closing->checks[0]);
    const CellObservation now = sample::graded_cell();
    return compare_seen(claimed, then, seen, {&now, 1});
  };
  const auto same = compared([](CheckTrace&, CheckTrace&) {}).proofs;
  CHECK(only_outcome(same) == Outcome::refuted);
  CHECK(contains(same[0].text, "was 0.75, is now 1"));
  CHECK(only_outcome(compared([](CheckTrace&, CheckTrace& seen) { seen.outputs = 5; }).proofs) ==
        Outcome::unconfirmed);
  const auto own_tests =
      compared([](CheckTrace& was, CheckTrace& is) { was.calls = is.calls = 0; });
  CHECK(only_outcome(own_tests.proofs) == Outcome::unconfirmed);
  CHECK(own_tests.ask_again.empty());
  CHECK(compared([](CheckTrace&, CheckTrace& seen) { seen.timed = true; }).proofs.empty());
}

TEST_CASE("an observation whose rules or device are not the grader's is refuted") {
  CHECK(compare_questions(sample::graded_cell(), sample::graded_cell()).empty());
  for (const auto& edit : std::initializer_list<void (*)(CellObservation&)>{
           [](CellObservation& then) { then.key.device = Device::cuda; },
           [](CellObservation& then) { then.checks[0].info.weight = 1e-9; },
           [](CellObservation& then) { then.checks[0].info.severity = Severity::fatal; },
           [](CellObservation& then) { then.checks[0].info.section = Section::engineering; }}) {
    CellObservation then = sample::graded_cell();
    edit(then);
    const auto proofs = compare_questions(then, sample::graded_cell());
    REQUIRE(proofs.size() == 1);
    CHECK(proofs[0].outcome == Outcome::refuted);
  }
}

TEST_CASE("what goes by the clock is listed with its numbers") {
  Receipt seen = sample::receipt_of(sample::graded_cell());
  CellObservation cell = sample::graded_cell();
  CHECK(rests_on_receipt(seen, cell).empty());
  seen.closing->checks[0].timed = true;
  cell.checks[0].speeds.resize(2);
  cell.checks[0].speeds[0].ratio = 2.5;
  cell.checks[0].speeds[1].ratio = 1.5;
  const auto found = rests_on_receipt(seen, cell);
  REQUIRE(found.size() == 1);
  CHECK(found[0].check == cell.checks[0].info.id);
  CHECK(found[0].ratios == std::vector<double>{1.5, 2.5});
}
