// SPDX-License-Identifier: Apache-2.0
#include "harness/score/rubric.h"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/rng.h"
#include "harness/measure/race.h"

using namespace gauntlet;

namespace {

const std::filesystem::path kFile =
    std::filesystem::path(GAUNTLET_ROOT) / "harness/score/rubric.yaml";

/// What is said about the rubric when `from` in it is replaced by `to`.
std::string complaint(const std::string& from, const std::string& to) {
  std::string text = read_file(kFile);
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  try {
    rubric_from_yaml(text.replace(at, from.size(), to), "r.yaml");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no complaint";
}

}  // namespace

TEST_CASE("the rubric holds the weights, caps and letters that the design declares") {
  const Rubric rubric = load_rubric(kFile);
  CHECK(rubric.weight_of(Section::correctness) == 45);
  CHECK(rubric.weight_of(Section::engineering) == 10);
  CHECK(rubric.cap_of(Severity::fatal) == 0);
  CHECK(rubric.cap_of(Severity::critical) == 79);
  CHECK(rubric.cap_of(Severity::major) == 89);
  CHECK(rubric.cap_of(Severity::minor) == 100);
  CHECK(rubric.tie_band == 3);
  CHECK(rubric.digest.size() == 64);
}

TEST_CASE("letters begin where their band begins, half-open") {
  const Rubric rubric = load_rubric(kFile);
  CHECK(rubric.letter_of(100) == "A");
  CHECK(rubric.letter_of(93) == "A");
  CHECK(rubric.letter_of(std::nextafter(93, 0)) == "A-");
  CHECK(rubric.letter_of(89) == "B+");
  CHECK(rubric.letter_of(79) == "C+");
  CHECK(rubric.letter_of(60) == "D");
  CHECK(rubric.letter_of(59.99) == "F");
  CHECK(rubric.letter_of(0) == "F");
}

TEST_CASE("a printed score never has a better letter than the score") {
  const Rubric rubric = load_rubric(kFile);
  CHECK(rubric.printed(92.6) == 92);
  CHECK(rubric.printed(91.6) == 92);
  CHECK(rubric.printed(91.4) == 91);
  CHECK(rubric.printed(99.7) == 100);
  Rng rng(1);
  for (int i = 0; i < 20'000; ++i) {
    const double score = rng.uniform(0, 100);
    CHECK(rubric.letter_of(rubric.printed(score)) == rubric.letter_of(score));
    CHECK(std::abs(rubric.printed(score) - score) < 1);
  }
}

TEST_CASE("letters never get worse as the score rises") {
  const Rubric rubric = load_rubric(kFile);
  const auto rank = [&](double score) {
    for (std::size_t i = 0; i < rubric.letters.size(); ++i)
      if (rubric.letters[i].letter == rubric.letter_of(score)) return i;
    return rubric.letters.size();
  };
  Rng rng(2);
  for (int i = 0; i < 20'000; ++i) {
    const double a = rng.uniform(0, 100);
    const double b = rng.uniform(0, 100);
    CHECK((a <= b) == (a <= b && rank(a) >= rank(b)));
  }
}

TEST_CASE("speed earns all at the reference's, nothing at an eighth, logarithmic between") {
  const Rubric rubric = load_rubric(kFile);
  CHECK(rubric.speed_share(1) == doctest::Approx(1));
  CHECK(rubric.speed_share(7) == 1);
  CHECK(rubric.speed_share(0.5) == doctest::Approx(2.0 / 3));
  CHECK(rubric.speed_share(0.25) == doctest::Approx(1.0 / 3));
  CHECK(rubric.speed_share(0.125) == 0);
  CHECK(rubric.speed_share(0) == 0);
  CHECK(rubric.speed_share(-1) == 0);
}

TEST_CASE("a race gives up early only on ratios that earn nothing") {
  CHECK(RaceBudget().hopeless <= load_rubric(kFile).zero_ratio);
}

TEST_CASE("a speed that is no number earns nothing") {
  const Rubric rubric = load_rubric(kFile);
  CHECK(rubric.speed_share(std::numeric_limits<double>::quiet_NaN()) == 0);
}

TEST_CASE("a rubric that makes no sense is refused with its key") {
  CHECK(complaint("correctness: 45", "correctness: 0")
            .find("sections.correctness: must be more than 0") != std::string::npos);
  CHECK(complaint("critical: 79", "critical: 95").find("caps.critical: must not be higher") !=
        std::string::npos);
  CHECK(complaint("fatal: 0", "fatal: -1").find("caps.fatal: must lie between") !=
        std::string::npos);
  CHECK(complaint("  B: 83", "  B: 88").find("letters.B: must begin below") != std::string::npos);
  CHECK(complaint("  F: 0", "  F: 1").find("letters.F: the last letter") != std::string::npos);
  CHECK(complaint("zero_ratio: 0.125", "zero_ratio: 0").find("speed.zero_ratio") !=
        std::string::npos);
  CHECK(complaint("narrow_below: 6", "narrow_below: 2").find("margins.narrow_below") !=
        std::string::npos);
  CHECK(complaint("passing: [correctness,", "passing: [corectness,").find("attempts.passing: ") !=
        std::string::npos);
  CHECK(complaint("[correctness, robustness]", "[]").find("must name a section or more") !=
        std::string::npos);
  CHECK(complaint("resamples: 10000", "resamples: 99").find("attempts.resamples: must be") !=
        std::string::npos);
  CHECK(complaint("confidence: 0.95", "confidence: 95").find("must lie between 0 and 1") !=
        std::string::npos);
  CHECK(complaint("robustness", "robustnes").find("did you mean") != std::string::npos);
}

TEST_CASE("a speed verdict needs the whole interval on one side, and little noise") {
  const Rubric rubric = load_rubric(kFile);
  const auto verdict = [&](double low, double high, double noise = 1.02) {
    SpeedMeasurement speed;
    speed.ratio = speed.low = low;
    speed.high = high;
    speed.noise_low = 1;
    speed.noise_high = noise;
    return rubric.speed_verdict(speed);
  };
  CHECK(verdict(1.06, 1.5) == "faster");
  CHECK(verdict(0.5, 0.95) == "slower");
  CHECK(verdict(0.96, 1.04) == "as fast");
  CHECK(verdict(0.96, 1.2) == "undecided");
  CHECK(verdict(1.01, 1.2) == "undecided");
  CHECK(verdict(1.03, 1.2) == "faster");
  CHECK(verdict(0.1, 0.9) == "slower");
  CHECK(verdict(0.1, 1.5) == "undecided");  // the noise is the solution's own
  CHECK(verdict(0.96, 1.04, 2.1) == "too noisy");
  CHECK(verdict(0.02, 0.03, 4) == "slower");  // in any noise
  CHECK(verdict(0.02, 0.03, 40) == "too noisy");
  CHECK(verdict(12, 12, 4) == "faster");
  CHECK(verdict(3, 4, 7) == "too noisy");
  CHECK(verdict(3, 4, 5) == "undecided");
  SpeedMeasurement shifted;  // the reference came out a quarter faster than itself
  shifted.low = 1.1;
  shifted.high = 1.2;
  shifted.noise_low = 1.22;
  shifted.noise_high = 1.28;
  CHECK(rubric.speed_verdict(shifted) == "undecided");
  CHECK(verdict(0.01, 0.1) == "slower");  // no points at either end
  CHECK(verdict(1.1, 4) == "faster");     // all of them
}
