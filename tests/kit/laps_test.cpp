#include "graders/kit/laps.h"

#include <doctest/doctest.h>

#include "tests/support/scripted_session.h"

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
}

TEST_CASE("a lap that does not return 0 is wrong, whatever it wrote") {
  const Lap lap = lap_that(-1, std::nullopt);
  REQUIRE(lap.finding);
  CHECK(lap.finding->summary == "step returned -1, want 0");
}
