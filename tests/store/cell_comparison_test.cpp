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
std::vector<Proof> seen_after(const Edit& edit) {
  CellObservation now = sample::graded_cell();
  now.checks[0].facts = {{"worst share", 0.25, ""}};
  now.checks[0].exhibits = {{"text", {"one"}}};
  now.checks[0].curves = {{"loss", "step", "nats", {{0, 2}, {1, 1}}}};
  const Receipt seen = sample::receipt_of(now);
  Receipt claimed = seen;
  CellObservation then = now;
  edit(then, claimed);
  return compare_seen(claimed, then, seen, now);
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
  const auto other_outputs = seen_after([](CellObservation& then, Receipt& claimed) {
    then.checks[0].facts[0].value = 0.125;
    claimed.closing->checks[0].outputs ^= 1;
  });
  CHECK(only_outcome(other_outputs) == Outcome::noted);
  CHECK(only_outcome(seen_after([](CellObservation& then, Receipt&) {
          then.checks[1].finding->summary = "dx[0]: got 3, want 1 +- 0.1";
        })) == Outcome::noted);
  CHECK(only_outcome(seen_after([](CellObservation& then, Receipt& claimed) {
          then.build.messages = "another compiler's words";
          claimed.library = sha256("another");
        })) == Outcome::noted);
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

TEST_CASE("points that changed with the same outputs are refuted, others are named") {
  const auto proofs = [](const auto& edit) {
    Receipt claimed = sample::receipt_of(sample::graded_cell());
    Receipt seen = claimed;
    CellObservation then = sample::graded_cell();
    then.checks[0].earned = 0.75;
    edit(claimed.closing->checks[0], seen.closing->checks[0]);
    return compare_earned(claimed, then, seen, sample::graded_cell());
  };
  const auto same = proofs([](CheckTrace&, CheckTrace&) {});
  REQUIRE(same.size() == 1);
  CHECK(same[0].outcome == Outcome::refuted);
  CHECK(contains(same[0].text, "0.75 of them were earned, now 1 by the same outputs"));
  CHECK(proofs([](CheckTrace&, CheckTrace& seen) { seen.outputs = 5; })[0].outcome ==
        Outcome::noted);
  const auto own_tests = proofs([](CheckTrace& was, CheckTrace& is) { was.calls = is.calls = 0; });
  CHECK(own_tests[0].outcome == Outcome::noted);
  CHECK(proofs([](CheckTrace&, CheckTrace& seen) { seen.timed = true; }).empty());
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
