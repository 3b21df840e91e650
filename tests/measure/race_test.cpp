// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/race.h"

#include <doctest/doctest.h>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
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
  CHECK(seen.size() == (15 + kWarmUps) * 20);
  CHECK(std::set(seen.begin(), seen.end()).size() == seen.size());
  CHECK(words(9) == seen);
  CHECK(words(10)[0] != seen[0]);
}

TEST_CASE("everybody in a race has their threads kept apart, on one ground, which they leave") {
  Track track(1e6);
  track.run();
  for (const Runner* runner : {&track.solution, &track.reference, &track.reference_again}) {
    CHECK(runner->apart);
    CHECK(runner->ground == track.solution.ground);
    CHECK(runner->ground != nullptr);
    CHECK(runner->left);
  }
}

TEST_CASE(
    "of each two rounds the solution is before the reference in one, and nobody knows which") {
  std::set<std::string> orders;
  for (const int secret : {1, 2, 3, 4}) {
    Track track(1e6);
    track.secret = static_cast<std::uint64_t>(secret);
    std::string order;
    track.spec.lap = [&, lap = track.spec.lap](Session& session) {
      if (&session == &track.solution) order += 's';
      if (&session == &track.reference) order += 'r';
      return lap(session);
    };
    track.run();
    for (std::size_t block = 0; block + 4 <= order.size(); block += 4) {
      const std::string two_rounds = order.substr(block, 4);
      CHECK_MESSAGE((two_rounds == "srrs" || two_rounds == "rssr"), two_rounds);
    }
    orders.insert(order);
  }
  CHECK(orders.size() == 4);
}

TEST_CASE("equal speeds are not told apart, and the noise floor holds 1") {
  int false_verdicts = 0;
  for (int trial = 0; trial < 100; ++trial) {
    Track track(1e6);
    track.noise = Rng(static_cast<std::uint64_t>(trial));
    const SpeedMeasurement speed = track.run().speed;
    if (speed.low > 1 || speed.high < 1) ++false_verdicts;
  }
  CHECK(false_verdicts <= 4);  // 1 % expected; 4 has a chance of 0.4 % to be exceeded
}

TEST_CASE("laps that the machine holds up do not change the ratio") {
  Track track(0.5e6);
  track.budget = pairs_of(60, 60, 0);
  track.noise_share = 0.002;
  const auto undisturbed = track.spec.lap;
  Rng trouble(3);
  track.spec.lap = [&](Session& session) {
    Lap lap = undisturbed(session);
    if (trouble.uniform() < 0.2) lap.elapsed += nanoseconds(2'000'000);
    return lap;
  };
  const SpeedMeasurement speed = track.run().speed;
  CHECK(speed.ratio == doctest::Approx(2).epsilon(0.01));
  CHECK(speed.low > 1.9);
  CHECK(speed.high < 2.1);
}

TEST_CASE(
    "a solution that makes noise on purpose gains nothing, and no empty interval is a result") {
  const auto race_with_slow_laps = [](int in_four) {
    Track track(2e6);
    track.budget = pairs_of(60, 60, 0);
    track.spec.lap = [&, honest = track.spec.lap](Session& session) {
      Lap lap = honest(session);
      if (&session == &track.solution && track.solution.laps % 4 < in_four) lap.elapsed *= 20;
      return lap;
    };
    return track.run();
  };
  CHECK(race_with_slow_laps(1).speed.ratio == doctest::Approx(0.5).epsilon(0.05));
  const RaceResult open = race_with_slow_laps(2);
  REQUIRE(open.finding);
  CHECK(open.finding->verdict == Verdict::unmeasured);
  CHECK(open.finding->summary.find("the solution's laps are unsteady") == 0);
  CHECK(open.speed.rounds == 0);
  const RaceResult slow = race_with_slow_laps(3);
  CHECK_FALSE(slow.finding);
  CHECK(slow.speed.high < 0.03);
  CHECK(slow.speed.noise_high / slow.speed.noise_low < 1.1);
}

TEST_CASE("a reference that differs from itself leaves the race unmeasured") {
  Track track(1e6);
  track.budget = pairs_of(24, 24, 0);
  track.spec.lap = [&, honest = track.spec.lap](Session& session) {
    Lap lap = honest(session);
    if (&session == &track.reference_again && track.reference_again.laps % 2 == 0)
      lap.elapsed *= 20;
    return lap;
  };
  const RaceResult result = track.run();
  REQUIRE(result.finding);
  CHECK(result.finding->summary.find("the machine was unsteady") == 0);
}

TEST_CASE("a race that is not clear goes on beyond its time while the cell's reserve lasts") {
  Track noisy(1e6);
  noisy.noise_share = 0.1;
  noisy.budget = pairs_of(12, 60, 0);
  CHECK(noisy.run().speed.rounds == 12);
  std::chrono::nanoseconds reserve = std::chrono::hours(1);
  noisy.budget.reserve = &reserve;
  CHECK(noisy.run().speed.rounds == 60);
  CHECK(reserve < std::chrono::hours(1));
  Track quiet(1e6);
  quiet.budget = noisy.budget;
  CHECK(quiet.run().speed.rounds == 12);
}

TEST_CASE("no race uses up what the races behind it may need") {
  Track noisy(1e6);
  noisy.noise_share = 0.1;
  noisy.budget = pairs_of(12, 1'000'000, 0);
  noisy.budget.clear = 1;
  std::chrono::nanoseconds reserve = std::chrono::seconds(4);
  noisy.budget.reserve = &reserve;
  CHECK(noisy.run().speed.rounds > 12);
  CHECK(reserve <= std::chrono::seconds(3));
  CHECK(reserve > std::chrono::seconds(1));  // a busy machine may hold up its last round
}

TEST_CASE("a race stops before its time only at numbers of pairs that double") {
  Track track(1e6);
  track.noise_share = 0;
  track.budget = pairs_of(12, 384, 1'000'000);
  CHECK(track.run().speed.rounds == 24);
  int counted = -kWarmUps;
  track.spec.prepare = [&](Rng&, Rng&) { track.noise_share = ++counted < 60 ? 0.1 : 0; };
  CHECK(track.run().speed.rounds == 96);
}

TEST_CASE("a solution far behind gets no time of the reserve, however noisy the race") {
  Track behind(40e6);
  behind.noise_share = 0.4;
  std::chrono::nanoseconds reserve = std::chrono::hours(1);
  behind.budget = pairs_of(12, 30, 0);
  behind.budget.reserve = &reserve;
  CHECK(behind.run().speed.rounds == 12);
}

TEST_CASE("a solution that beats the reference whatever the ratio is gets no time of the reserve") {
  Track ahead(0.1e6);
  ahead.noise_share = 0.1;
  std::chrono::nanoseconds reserve = std::chrono::hours(1);
  ahead.budget = pairs_of(12, 30, 0);
  ahead.budget.clear = 1;
  ahead.budget.reserve = &reserve;
  CHECK(ahead.run().speed.rounds == 12);
}

TEST_CASE("a process that is slower than its twin as long as it lives does not decide") {
  Track track(1e6);
  track.budget = pairs_of(128, 128, 0);
  track.spec.lap = [&, lap = track.spec.lap](Session& session) {
    Lap one = lap(session);
    if (&session == &track.solution && track.solution.restarts == 0)
      one.elapsed = one.elapsed * 108 / 100;
    return one;
  };
  const SpeedMeasurement speed = track.run().speed;
  CHECK(speed.rounds == 128);
  CHECK(speed.low < 1);
  CHECK(speed.high > 1);
  CHECK(track.solution.laps == 128 + 128 / kPairsAProcess * kWarmUps);
  for (const Runner* runner : {&track.solution, &track.reference, &track.reference_again})
    CHECK(runner->restarts == 3);
}

TEST_CASE("processor time is told beside the ratio and does not touch it") {
  Track track(2e6);
  track.spec.lap = [&, lap = track.spec.lap](Session& session) {
    Lap one = lap(session);
    one.processor = nanoseconds(&session == &track.solution ? 500 : 1500);
    return one;
  };
  const SpeedMeasurement speed = track.run().speed;
  CHECK(speed.processor_ratio.value() == doctest::Approx(3));
  CHECK(speed.ratio == doctest::Approx(0.5).epsilon(0.03));
  CHECK_FALSE(Track(1e6).run().speed.processor_ratio);
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

TEST_CASE("every round has fresh input, and the reference meets itself in enough of them") {
  Track track(1e6);
  track.budget = pairs_of(12, 100, 1'000'000);
  int prepared = 0;
  track.spec.prepare = [&](Rng&, Rng&) { ++prepared; };
  track.noise_share = 0.2;
  track.run();
  constexpr int kWarm = (1 + 100 / kPairsAProcess) * kWarmUps;
  CHECK(prepared == 100 + kWarm);
  CHECK(track.solution.laps == prepared);
  CHECK(track.reference.laps == prepared);
  CHECK(track.reference_again.laps >= 12 + kWarm + 2 * ((100 - 12) / 4) - 1);
  CHECK(track.reference_again.laps <= 12 + kWarm + 2 * ((100 - 12) / 4) + 1);
}

TEST_CASE("the copy of the reference is not the slower one for having a lap in some rounds only") {
  Track track(1e6);
  track.budget = pairs_of(12, 100, 1'000'000);
  track.budget.fine = 1;
  int rounds = 0;
  track.spec.prepare = [&](Rng&, Rng&) { ++rounds; };
  std::map<const Session*, int> last;
  track.spec.lap = [&, lap = track.spec.lap](Session& session) {
    Lap one = lap(session);
    if (rounds - std::exchange(last[&session], rounds) > 1) one.elapsed = one.elapsed * 14 / 10;
    return one;
  };
  const SpeedMeasurement speed = track.run().speed;
  CHECK(speed.rounds == 100);
  CHECK(speed.noise_low <= 1);
  CHECK(speed.noise_high >= 1);
  CHECK(speed.noise_high / speed.noise_low < 1.1);
}

TEST_CASE("a lap that beats memory or arithmetic is recognised") {
  constexpr Ceilings kMachine{20, 10, 100, 500};
  RaceSpec spec;
  const auto cache = static_cast<double>(this_machine().cache_bytes);
  spec.floor_bytes = cache + 1e9;
  const double uncached_ns = 1e9 / 20;
  CHECK(beats_physics(spec, uncached_ns / 1.3, kMachine));
  CHECK_FALSE(beats_physics(spec, uncached_ns / 1.2, kMachine));
  spec.floor_bytes = cache;
  CHECK_FALSE(beats_physics(spec, 1, kMachine));  // all of it may come out of the cache
  spec = {};
  spec.floor_flops = 1e9;
  const double fma_ns = 1e9 / 500;
  CHECK(beats_physics(spec, fma_ns / 1.2, kMachine));
  CHECK_FALSE(beats_physics(spec, fma_ns, kMachine));
  CHECK_FALSE(beats_physics(RaceSpec{}, 1, kMachine));
}

TEST_CASE("a time is disbelieved only when it beats the machine as twelve further looks find it") {
  RaceSpec spec;
  spec.floor_flops = 1e9;
  const double lap_ns = 1e9 / 100;  // what 100 gigaflops a second take
  const Ceilings busy{10, 10, 10, 50};
  const Ceilings idle{10, 10, 10, 100};
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

TEST_CASE("laps that nobody can foresee are judged in full, while what they wrote is there") {
  Track track(1e6);
  track.budget = pairs_of(100, 100, 0);
  std::set<int> judged;
  int wrong_lap = 0;
  track.spec.lap = [&, lap = track.spec.lap](Session& session) {
    Lap one = lap(session);
    if (&session != &track.solution) return one;
    one.judge_all = [&, number = track.solution.laps]() -> std::optional<Finding> {
      CHECK(number == track.solution.laps);
      judged.insert(number);
      if (number == wrong_lap) return wrong_answer();
      return std::nullopt;
    };
    return one;
  };
  CHECK_FALSE(track.run().finding);
  CHECK(judged.size() >= 3);
  CHECK(judged.size() <= 12);
  CHECK(*judged.begin() > kWarmUps);
  // A lap that nobody's sample showed to be wrong, among those that were looked at.
  wrong_lap = *std::next(judged.begin(), 2);
  const auto restart_track = [&] {
    track.solution.laps = 0;
    track.noise = Rng(1);
    judged.clear();
  };
  restart_track();
  const RaceResult cheated = track.run();
  REQUIRE(cheated.finding);
  CHECK(cheated.finding->summary == "wrong answer");
  wrong_lap = 0;
  const std::set<int> first = judged;
  restart_track();
  track.secret = 10;
  track.run();
  CHECK(judged != first);
}

TEST_CASE("a short race has two laps judged in full as well") {
  for (int secret = 0; secret < 20; ++secret) {
    Track track(1e6);
    track.secret = static_cast<std::uint64_t>(secret);
    track.budget = pairs_of(12, 12, 0);
    int judged = 0;
    track.spec.lap = [&, lap = track.spec.lap](Session& session) {
      Lap one = lap(session);
      one.judge_all = [&]() -> std::optional<Finding> {
        ++judged;
        return std::nullopt;
      };
      return one;
    };
    track.run();
    CHECK(judged >= 2);
  }
}
