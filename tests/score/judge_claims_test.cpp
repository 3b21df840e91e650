// SPDX-License-Identifier: Apache-2.0
#include "harness/score/judge_claims.h"

#include <cmath>
#include <doctest/doctest.h>

#include "harness/core/rng.h"
#include "harness/score/growth_fit.h"
#include "tests/store/sample.h"

using namespace gauntlet;

namespace {

/// A cell that claims one thing; the machine copies 10 GB/s, computes 100 GFLOP/s and caches 1 MB.
CellObservation claiming(ClaimKind kind, std::variant<double, Bound> value) {
  CellObservation cell = sample::cell();
  cell.provenance.copy_gb_per_s = 10;
  cell.provenance.fma_gflop_per_s = 100;
  cell.provenance.cache_bytes = 1e6;
  cell.stated_claims = {{kind, value}};
  cell.checks = {sample::passed("speed", Section::performance)};
  return cell;
}

JudgedClaim judged(const CellObservation& cell) {
  const auto all = judge_claims(cell);
  REQUIRE(all.size() == 1);
  return all.front();
}

ClaimVerdict verdict(const CellObservation& cell) {
  return judged(cell).verdict;
}

void add_fact(CellObservation& cell, ClaimKind kind, double low, double high) {
  cell.checks[0].facts.push_back({"a quantity", high, "B", kind, Interval{low, high}});
}

/// A timed case whose least work takes these shares of the two ceilings.
void add_speed(CellObservation& cell, double memory, double compute, double input_bytes = 0) {
  SpeedMeasurement speed;
  speed.case_name = "a case";
  speed.solution_ns = 1e6;
  speed.floor_bytes = memory * 10 * speed.solution_ns;
  speed.floor_flops = compute * 100 * speed.solution_ns;
  speed.input_bytes = input_bytes;
  cell.checks[0].speeds.push_back(speed);
}

Growth growth(double exponent, double noise = 0) {
  Growth growth{"rows", {}, ""};
  for (int i = 0; i < 4; ++i) {
    const double size = 100 * std::pow(2, i);
    growth.points.emplace_back(size, 5000 * std::pow(size, exponent) * (i % 2 ? 1 + noise : 1));
  }
  return growth;
}

constexpr auto kTrue = ClaimVerdict::holds;
constexpr auto kFalse = ClaimVerdict::refuted;
constexpr auto kUnknown = ClaimVerdict::not_verifiable;

}  // namespace

TEST_CASE("without a measurement that answers, no claim is judged") {
  for (int i = 0; i < 6; ++i) {
    const auto kind = static_cast<ClaimKind>(i);
    const JudgedClaim one =
        judged(kind == ClaimKind::bound ? claiming(kind, Bound::memory) : claiming(kind, 1.0));
    INFO(name_of(kind));
    CHECK(one.verdict == kUnknown);
    const bool of_speed = kind == ClaimKind::bound || kind == ClaimKind::passes_over_input;
    CHECK(one.why ==
          (of_speed ? "no case was timed" : "this grader measures nothing that answers it"));
    CHECK(one.measured.empty());
  }
}

TEST_CASE("a grader whose timed cases name no input and no least work answers nothing about them") {
  CellObservation cell = claiming(ClaimKind::bound, Bound::memory);
  cell.stated_claims.push_back({ClaimKind::passes_over_input, 1.0});
  add_speed(cell, 0.9, 0);
  for (const JudgedClaim& one : judge_claims(cell))
    CHECK(one.why == "this grader measures nothing that answers it");
}

TEST_CASE("saved bytes are what the solution asks for, over all inputs that were tried") {
  const auto claimed = [](double bytes, double low, double high) {
    CellObservation cell = claiming(ClaimKind::saved_bytes, bytes);
    add_fact(cell, ClaimKind::saved_bytes, low, high);
    return judged(cell);
  };
  CHECK(claimed(8, 8, 8).verdict == kTrue);
  CHECK(claimed(8, 8, 8).measured == "8 B (a quantity)");
  CHECK(claimed(4, 8, 8).verdict == kFalse);
  CHECK(claimed(12, 8, 8).verdict == kFalse);
  CHECK(claimed(8, 8.06, 18).verdict == kTrue);  // and some bytes whatever the number of rows
  CHECK(claimed(8, 8.06, 18).measured == "8.06 to 18 B (a quantity)");
}

TEST_CASE("a claimed peak is a bound, but for what libraries and threads may take") {
  const auto claimed = [](double mib, double seen) {
    CellObservation cell = claiming(ClaimKind::peak_workspace, mib);
    add_fact(cell, ClaimKind::peak_workspace, seen, seen);
    return judged(cell);
  };
  CHECK(claimed(0, 0.1).verdict == kTrue);
  CHECK(claimed(10, 9).verdict == kTrue);
  CHECK(claimed(1, 9).verdict == kFalse);
  CHECK(claimed(0.5, 0.09).verdict == kTrue);  // kept with much room
  CHECK(claimed(1000, 1).verdict == kTrue);
  CHECK(claimed_text(claimed(0.5, 0.09).claim) == "at most 0.5");
  CHECK(to_json(claimed(0.5, 0.09))["sense"] == "bound");
  CHECK(to_json(claimed(0.5, 0.09))["possible_high"] == "inf");
  CellObservation grown = claiming(ClaimKind::peak_workspace, 1.0);
  add_fact(grown, ClaimKind::peak_workspace, 0.5, 9);  // the largest of what was seen is bounded
  CHECK(verdict(grown) == kFalse);
}

TEST_CASE("a claimed exponent of time is held against the fitted slope") {
  const auto claimed = [](double exponent, const Growth& seen) {
    CellObservation cell = claiming(ClaimKind::time_exponent, exponent);
    cell.time_growth = seen;
    return judged(cell);
  };
  CHECK(claimed(2, growth(2)).verdict == kTrue);
  CHECK(claimed(1, growth(2)).verdict == kFalse);
  CHECK(claimed(1, growth(1.24)).verdict == kTrue);
  CHECK(claimed(1, growth(1.26)).verdict == kFalse);
  CHECK(claimed(1, growth(1, 4)).verdict == kUnknown);
  CHECK(claimed(1, growth(1, 4)).why.find("the times lie too far from one line: a slope") == 0);
  CHECK(claimed(4, growth(1, 4)).verdict == kUnknown);  // nor is anything said against it
  Growth fast = growth(1);  // to which starting threads adds 0.3 ms, a third of the smallest size
  for (auto& point : fast.points) point.second += 3e5;
  CHECK(claimed(1, fast).verdict == kTrue);
  CHECK(claimed(1.5, fast).verdict == kFalse);
  Growth cut = growth(1);
  cut.points.resize(2);
  cut.fault = "SIGSEGV";
  CHECK(claimed(1, cut).verdict == kUnknown);
  CHECK(claimed(1, cut).why == "too few sizes were timed: SIGSEGV");
}

TEST_CASE("a claimed exponent of memory is held against two sizes") {
  const auto claimed = [](double exponent, double small, double large) {
    CellObservation cell = claiming(ClaimKind::memory_exponent, exponent);
    cell.checks[0].workspace = Growth{"rows", {{1000, small}, {2000, large}}, ""};
    return judged(cell);
  };
  CHECK(claimed(0, 0.05, 0.05).verdict == kTrue);
  CHECK(claimed(0, 0.05, 0.05).why == "it does not grow by more than a few pages");
  CHECK(claimed(1, 0.05, 0.05).verdict == kUnknown);  // too little to see it grow
  CHECK(claimed(1, 16, 32).verdict == kTrue);
  CHECK(claimed(2, 16, 32).verdict == kFalse);
  CHECK(claimed(0, 16, 32).verdict == kFalse);
  CHECK(claimed(2, 16, 64).verdict == kTrue);
  CHECK(claimed(1, 16, 64).verdict == kFalse);
  CHECK(claimed(1, 16, 16).verdict == kFalse);
  CHECK(claimed(1.5, 0.25, 0.375).verdict == kUnknown);  // of 0.1 and 0.25 that are its own
  CHECK(claimed(0, 0, 0).verdict == kTrue);
}

TEST_CASE("passes are false where the time has no room for them, and else nobody's to say") {
  // One millisecond at 10 GB/s, 1.5 for the bus and 7% for noise: 16 MB. A pass moves 4 MB.
  const auto claimed = [](double passes, double input) {
    CellObservation cell = claiming(ClaimKind::passes_over_input, passes);
    add_speed(cell, 0.1, 0.1, input);
    return judged(cell);
  };
  CHECK(claimed(4, 5e6).verdict == kUnknown);
  CHECK(claimed(5, 5e6).verdict == kFalse);
  CHECK(claimed(5, 5e6).measured == "at most 4.01");
  CHECK(claimed(100, 1e6).verdict == kUnknown);  // all of it stays in the cache
  CHECK(claimed(100, 1e6).why.find("fit into the last-level cache") != std::string::npos);
  CellObservation unknown = claiming(ClaimKind::passes_over_input, 100.0);
  add_speed(unknown, 0.1, 0.1, 5e6);
  unknown.provenance.cache_bytes = 0;
  CHECK(judged(unknown).why == "this machine does not say how much its caches hold");
}

TEST_CASE("a bound is the ceiling that timed cases come near to") {
  const auto claimed = [](Bound bound, const std::vector<std::pair<double, double>>& shares) {
    CellObservation cell = claiming(ClaimKind::bound, bound);
    for (const auto& [memory, compute] : shares) add_speed(cell, memory, compute);
    return verdict(cell);
  };
  CHECK(claimed(Bound::memory, {{0.8, 0.1}}) == kTrue);
  CHECK(claimed(Bound::compute, {{0.8, 0.1}}) == kFalse);
  CHECK(claimed(Bound::compute, {{0.1, 0.6}}) == kTrue);
  CHECK(claimed(Bound::memory, {{0.1, 0.6}}) == kFalse);
  CHECK(claimed(Bound::memory, {{0.4, 0.01}}) == kUnknown);   // slow for another reason
  CHECK(claimed(Bound::compute, {{0.4, 0.01}}) == kUnknown);  // which may be just that
  CHECK(claimed(Bound::compute, {{0.6, 0.4}}) == kUnknown);
  CHECK(claimed(Bound::memory, {{0.3, 0.1}, {0.6, 0.1}}) == kTrue);
  CHECK(claimed(Bound::memory, {{0.8, 0.1}, {0.1, 0.8}}) == kUnknown);
}

TEST_CASE("no verdict depends on a score, and claims move no score") {
  CellObservation cell = claiming(ClaimKind::time_exponent, 1.0);
  cell.time_growth = growth(2);
  const ClaimVerdict before = verdict(cell);
  cell.checks[0].verdict = Verdict::wrong;
  CHECK(verdict(cell) == before);
}

TEST_CASE("whatever was measured, false is what lies outside of the possible, and nothing else") {
  Rng rng(5);
  for (int i = 0; i < 3000; ++i) {
    const auto kind = static_cast<ClaimKind>(rng.integer(1, 5));
    CellObservation cell = claiming(kind, rng.uniform(0, 4));
    add_fact(cell, kind, rng.uniform(0, 2), rng.uniform(2, 4));
    add_speed(cell, rng.uniform(), rng.uniform(), rng.uniform(0, 1e7));
    cell.time_growth = growth(rng.uniform(0, 3), rng.uniform());
    cell.checks[0].workspace = Growth{"n", {{1, rng.uniform(0, 4)}, {2, rng.uniform(0, 4)}}, ""};
    const JudgedClaim one = judged(cell);
    const double claimed = std::get<double>(one.claim.value);
    const bool outside =
        one.possible && (claimed < one.possible->low || claimed > one.possible->high);
    CHECK((one.verdict == kFalse) == outside);
    CHECK_FALSE(one.why.empty());
  }
}

TEST_CASE("the interval of a fitted exponent holds the true one as often as it says") {
  Rng rng(11);
  int held = 0;
  constexpr int kFits = 2000;
  for (int i = 0; i < kFits; ++i) {
    Growth noisy = growth(1.5);
    for (auto& point : noisy.points) point.second *= std::exp(0.05 * rng.normal());
    const auto fit = fitted_exponent(noisy);
    REQUIRE(fit);
    held += fit->interval.low <= 1.5 && 1.5 <= fit->interval.high;
  }
  CHECK(held > 0.935 * kFits);
  CHECK(held < 0.965 * kFits);
}

TEST_CASE("a growth that no logarithm can be taken of has no exponent") {
  Growth broken = growth(1);
  broken.points[0].second = 0;
  CHECK_FALSE(fitted_exponent(broken));
  broken.points[0].second = std::nan("");
  CHECK_FALSE(fitted_exponent(broken));
  CHECK_FALSE(workspace_growth(broken));
}
