// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/laps.h"

#include <doctest/doctest.h>

#include "tests/support/scripted_session.h"
#include "tests/support/text.h"

using namespace gauntlet;

namespace {

Lap lap_that(std::int64_t returned, std::optional<Miss> miss) {
  Scripted session;
  session.script = [&](CallBase& ran) {
    ran.returned = returned;
    ran.elapsed = std::chrono::nanoseconds(7);
  };
  Call<Nothing> call("step");
  return kit::verified_lap(session, call, [&] { return miss; });
}

}  // namespace

TEST_CASE("a lap without a miss has a time and no finding") {
  const Lap lap = lap_that(0, std::nullopt);
  CHECK(lap.elapsed == std::chrono::nanoseconds(7));
  CHECK_FALSE(lap.finding);
}

TEST_CASE("a lap with a miss is wrong") {
  const Lap lap = lap_that(0, Miss{"y[3]", 1, 2});
  REQUIRE(lap.finding);
  CHECK(lap.finding->verdict == Verdict::wrong);
  CHECK(lap.finding->miss->where == "y[3]");
  CHECK(contains(lap.finding->summary, "y[3]: got 1, want 2"));
}

TEST_CASE("of a right lap everything can be judged later, of a wrong one nothing more") {
  std::optional<Miss> seen;
  for (const bool wrong : {false, true}) {
    Lap lap = lap_that(0, wrong ? std::optional(Miss{"y[3]", 1, 2}) : std::nullopt);
    kit::judge_all_later(lap, [&] { return seen; });
    CHECK(bool(lap.judge_all) == !wrong);
    if (wrong) continue;
    CHECK_FALSE(lap.judge_all());
    seen = Miss{"y[4]", 5, 6};
    REQUIRE(lap.judge_all());
    CHECK(contains(lap.judge_all()->summary, "y[4]: got 5, want 6"));
  }
}

TEST_CASE("an audit judges everything that a lap wrote") {
  Scripted session;
  Probe probe({"speed", "slowness", Section::performance, 1, Severity::minor}, 7,
              {.solution = session, .audit = true});
  RaceSpec spec;
  spec.case_name = "big";
  spec.prepare = [](Rng&, Rng&) {};
  spec.lap = [](Session&) {
    Lap lap;
    kit::judge_all_later(lap, [] { return Miss{"y[4]", 5, 6}; });
    return lap;
  };
  try {
    kit::race(probe, {spec}, {});
    FAIL("nothing was wrong");
  } catch (const CheckEnded& ended) {
    CHECK(ended.finding.verdict == Verdict::wrong);
    CHECK(ended.finding.case_name == "big");
  }
}

TEST_CASE("the first miss of many rows is named, whichever core comes upon one") {
  const auto miss_at = [](std::int64_t first, std::int64_t second) {
    return kit::first_of_rows(kit::all_of(100), [=](std::int64_t row) -> std::optional<Miss> {
      if (row != first && row != second) return std::nullopt;
      return Miss{std::to_string(row), 0, 1};
    });
  };
  CHECK_FALSE(miss_at(-1, -1));
  CHECK(miss_at(99, 98)->where == "98");
  CHECK(miss_at(0, 99)->where == "0");
}

TEST_CASE("a lap that does not return 0 is wrong, whatever it wrote") {
  const Lap lap = lap_that(-1, std::nullopt);
  REQUIRE(lap.finding);
  CHECK(lap.finding->summary == "step returned -1, want 0");
}
