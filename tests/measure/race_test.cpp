// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/race.h"

#include <doctest/doctest.h>
#include <set>
#include <thread>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/machine.h"
#include "track.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

Finding wrong_answer() {
  return {Verdict::wrong, "", "wrong answer", {}, std::nullopt};
}

}  // namespace

TEST_CASE("a solution twice as fast as the reference has ratio 2, and its interval holds it") {
  const RaceResult result = Track(0.5e6).run();
  CHECK_FALSE(result.finding);
  CHECK(result.speed.ratio == doctest::Approx(2).epsilon(0.03));
  CHECK(result.speed.low <= result.speed.ratio);
  CHECK(result.speed.ratio <= result.speed.high);
  CHECK(result.speed.rounds == 15);
}

TEST_CASE("every round has inputs of its own, of which its judge's choices are no part") {
  const auto words = [](const Seed& secret) {
    std::vector<std::uint64_t> seen;
    Track track(1e6);
    track.secret = secret;
    track.spec.prepare = [&](Rng& inputs, Rng& judge) {
      for (Rng* stream : {&inputs, &judge})
        for (int i = 0; i < 10; ++i) seen.push_back((*stream)());
    };
    track.run();
    return seen;
  };
  const std::vector<std::uint64_t> seen = words(9);
  CHECK(seen.size() == 16 * 20);
  CHECK(std::set(seen.begin(), seen.end()).size() == seen.size());
  CHECK(words(9) == seen);
  CHECK(words(10)[0] != seen[0]);
}

TEST_CASE("everybody in a race has their threads kept apart") {
  Track track(1e6);
  track.run();
  CHECK(track.solution.apart);
  CHECK(track.reference.apart);
  CHECK(track.reference_again.apart);
}

TEST_CASE("equal speeds are not told apart, and the noise floor holds 1") {
  int false_verdicts = 0;
  for (int trial = 0; trial < 100; ++trial) {
    Track track(1e6);
    track.noise = Rng(static_cast<std::uint64_t>(trial));
    const SpeedMeasurement speed = track.run().speed;
    if (speed.low > 1 || speed.high < 1) ++false_verdicts;
  }
  CHECK(false_verdicts <= 10);  // 5 % expected; 10 has a chance of about 1 % to be exceeded
}

TEST_CASE("laps held up by the machine, most of them even, do not change the ratio") {
  Track track(0.5e6);
  track.budget = rounds_of(30, 30, 0);
  track.noise_share = 0.002;
  const auto undisturbed = track.spec.lap;
  Rng trouble(3);
  track.spec.lap = [&](Session& session) {
    Lap lap = undisturbed(session);
    if (trouble.uniform() < 0.6) lap.elapsed += nanoseconds(2'000'000);
    return lap;
  };
  const SpeedMeasurement speed = track.run().speed;
  CHECK(speed.ratio == doctest::Approx(2).epsilon(0.01));
  CHECK(speed.low > 1.9);
}

TEST_CASE(
    "a solution that makes noise on purpose is no faster for it, and the reference no noisier") {
  Track track(2e6);
  const auto honest = track.spec.lap;
  Rng mood(5);
  track.spec.lap = [&](Session& session) {
    Lap lap = honest(session);
    if (&session == &track.solution && track.solution.laps % 3 != 0)
      lap.elapsed *= mood.integer(2, 50);
    return lap;
  };
  const SpeedMeasurement speed = track.run().speed;
  CHECK(speed.low < 0.3);
  CHECK(speed.ratio == doctest::Approx(0.5).epsilon(0.05));
  CHECK(speed.high < 0.55);
  CHECK(speed.noise_high / speed.noise_low < 1.1);
}

TEST_CASE("a race that is too noisy goes on beyond its time, up to its rounds") {
  Track quiet(1e6);
  quiet.budget = rounds_of(12, 30, 0);
  CHECK(quiet.run().speed.rounds == 12);
  Track noisy(1e6);
  noisy.noise_share = 1.5;
  noisy.budget = rounds_of(12, 30, 20);
  CHECK(noisy.run().speed.rounds == 30);
}

TEST_CASE("a solution far behind gets no more time, however noisy the race") {
  Track behind(40e6);
  behind.noise_share = 0.4;
  behind.spec.prepare = [](Rng&, Rng&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  behind.budget = rounds_of(12, 30, 10);  // up before the twelfth round
  CHECK(behind.run().speed.rounds == 12);
}

TEST_CASE("a lap with a wrong output ends the race and is reported") {
  Track track(1e6);
  const auto honest = track.spec.lap;
  track.spec.lap = [&, honest](Session& session) {
    Lap lap = honest(session);
    if (&session == &track.solution && track.solution.laps == 5) lap.finding = wrong_answer();
    return lap;
  };
  const RaceResult result = track.run();
  REQUIRE(result.finding);
  CHECK(result.finding->summary == "wrong answer");
  CHECK(result.speed.rounds == 0);
}

TEST_CASE("a wrong or crashing reference is our fault") {
  Track wrong(1e6);
  wrong.spec.lap = [&](Session& session) {
    Lap lap{nanoseconds(1000), {}};
    if (&session == &wrong.reference) lap.finding = wrong_answer();
    return lap;
  };
  CHECK_THROWS_AS(wrong.run(), Broken);
  Track crashing(1e6);
  crashing.spec.lap = [&](Session& session) -> Lap {
    if (&session == &crashing.reference_again) throw SolutionFailure(Verdict::crashed, "boom");
    return {nanoseconds(1000), {}};
  };
  CHECK_THROWS_AS(crashing.run(), Broken);
}

TEST_CASE("every round has fresh input, everybody runs it, and the first is not counted") {
  Track track(1e6);
  int prepared = 0;
  track.spec.prepare = [&](Rng&, Rng&) { ++prepared; };
  track.run();
  CHECK(prepared == 16);
  CHECK(track.solution.laps == 16);
  CHECK(track.reference.laps == 16);
  CHECK(track.reference_again.laps == 16);
}

TEST_CASE("a lap that beats memory or arithmetic is recognised") {
  RaceSpec spec;
  const auto cache = static_cast<double>(this_machine().cache_bytes);
  spec.floor_bytes = cache + 1e9;
  const double uncached_ns = 1e9 / ceilings().copy_gb_per_s;
  CHECK(beats_physics(spec, uncached_ns / 2, ceilings()));
  CHECK_FALSE(beats_physics(spec, uncached_ns / 1.5, ceilings()));
  spec.floor_bytes = cache;
  CHECK_FALSE(beats_physics(spec, 1, ceilings()));  // all of it may come out of the cache
  spec = {};
  spec.floor_flops = 1e9;
  const double fma_ns = 1e9 / ceilings().fma_gflop_per_s;
  CHECK(beats_physics(spec, fma_ns / 2, ceilings()));
  CHECK_FALSE(beats_physics(spec, fma_ns, ceilings()));
  CHECK_FALSE(beats_physics(RaceSpec{}, 1, ceilings()));
}

TEST_CASE("a time is disbelieved only when it beats the machine as twelve further looks find it") {
  RaceSpec spec;
  spec.floor_flops = 1e9;
  const double lap_ns = 1e9 / 100;  // what 100 gigaflops a second take
  const Ceilings busy{10, 50};
  const Ceilings idle{10, 100};
  // How often it was looked before the answer, when all but this look find a busy machine.
  const auto looks = [&](const Ceilings& known, int idle_look, bool disbelieved) {
    int count = 0;
    CHECK(beats_every_look(spec, lap_ns, known,
                           [&] { return ++count == idle_look ? idle : busy; }) == disbelieved);
    return count;
  };
  CHECK(looks(idle, 0, false) == 0);
  CHECK(looks(busy, 1, false) == 1);
  CHECK(looks(busy, 12, false) == 12);
  CHECK(looks(busy, 13, true) == 12);
}

TEST_CASE("the lap that becomes the solution's time is judged in full, on its own input") {
  Track track(1e6);
  track.noise_share = 0;
  std::uint64_t input = 0;
  track.spec.prepare = [&](Rng& inputs, Rng&) { input = inputs(); };
  int judged = 0;
  bool same_input = false;
  const auto lap = track.spec.lap;
  const auto race_with_wrong_lap = [&](int wrong_lap, double wrong_ns) {
    judged = 0;
    track.solution.laps = 0;
    track.spec.lap = [&, wrong_lap, wrong_ns](Session& session) {
      Lap one = lap(session);
      if (&session != &track.solution) return one;
      const bool wrong = track.solution.laps == wrong_lap;
      if (wrong) one.elapsed = nanoseconds(std::int64_t(wrong_ns));
      one.judge_all = [&, wrong, was = input]() -> std::optional<Finding> {
        ++judged;
        same_input = was == input;
        if (wrong) return wrong_answer();
        return std::nullopt;
      };
      return one;
    };
    return track.run();
  };
  // One lap in fifteen left something out, and no sample saw it.
  const RaceResult cheated = race_with_wrong_lap(7, 0.9e6);
  REQUIRE(cheated.finding);
  CHECK(cheated.finding->summary == "wrong answer");
  CHECK(judged == 1);
  CHECK(same_input);
  // A slower one earns nothing, and the one that warms up is not counted.
  CHECK_FALSE(race_with_wrong_lap(7, 1.1e6).finding);
  CHECK(judged == 1);
  CHECK(same_input);
  CHECK_FALSE(race_with_wrong_lap(1, 0.9e6).finding);
}

TEST_CASE("the ceilings are those of a machine of this century") {
  CHECK(ceilings().copy_gb_per_s > 1);
  CHECK(ceilings().copy_gb_per_s < 5000);
  CHECK(ceilings().fma_gflop_per_s > 1);
  CHECK(&ceilings() == &ceilings());
}
