// SPDX-License-Identifier: Apache-2.0
#include "harness/score/cell_score.h"

#include <doctest/doctest.h>

#include "harness/core/rng.h"
#include "harness/store/json_fields.h"
#include "tests/score/scored.h"

using namespace gauntlet;

namespace {

CellObservation cell_of(std::vector<CheckObservation> checks) {
  CellObservation cell = sample::cell();
  cell.checks = std::move(checks);
  return cell;
}

CellScore scored(std::vector<CheckObservation> checks) {
  return score_cell(rubric(), cell_of(std::move(checks)));
}

/// All sections full, so that what is added shows up as caps alone.
std::vector<CheckObservation> many_passed(int count) {
  std::vector<CheckObservation> checks;
  for (int i = 0; i < count; ++i) checks.push_back(sample::passed("ok_" + std::to_string(i)));
  return checks;
}

CellObservation random_cell(Rng& rng) {
  std::vector<CheckObservation> checks;
  const auto count = rng.integer(1, 12);
  for (std::int64_t i = 0; i < count; ++i) {
    CheckObservation check = sample::passed("check_" + std::to_string(i));
    check.info.section = static_cast<Section>(rng.integer(0, 3));
    check.info.severity = static_cast<Severity>(rng.integer(0, 3));
    check.info.weight = rng.uniform(0.1, 5);
    check.earned = rng.uniform();
    check.verdict = rng.chance(0.6) ? Verdict::passed : static_cast<Verdict>(rng.integer(1, 8));
    checks.push_back(check);
  }
  return cell_of(checks);
}

/// A passed check of two timed cases: one at the reference's speed, and this one.
CheckObservation raced(SpeedMeasurement second) {
  CheckObservation timed = sample::passed("speed", Section::performance);
  timed.speeds.push_back({"good at it", 12, 1, 1, 1.0, 0.99, 1.0, 0.99, 1.01, {}, {}});
  timed.speeds.push_back(std::move(second));
  return timed;
}

}  // namespace

TEST_CASE("a solution that passes everything has 100") {
  const CellScore score = scored(many_passed(3));
  CHECK(score.score == 100);
  CHECK(score.grade.letter == "A");
  CHECK(score.status == CellStatus::graded);
  CHECK_FALSE(score.partial());
  CHECK(score.caps.empty());
}

TEST_CASE("a section is the weighted mean of its checks, the raw score that of the sections") {
  CheckObservation heavy = sample::failed("heavy");
  heavy.info.weight = 3;
  CheckObservation half = sample::passed("half", Section::robustness);
  half.earned = 0.5;
  const CellScore score = scored({sample::passed("light"), heavy, half});
  REQUIRE(score.sections.size() == 2);
  CHECK(score.sections[0].score == doctest::Approx(25));
  CHECK(score.sections[1].score == doctest::Approx(50));
  CHECK(*score.raw == doctest::Approx((45 * 25 + 20 * 50) / 65.0));
}

TEST_CASE("what was earned before a check failed does not count") {
  CheckObservation check = sample::failed("late");
  check.earned = 1;
  CHECK(*scored({check}).score == 0);
}

TEST_CASE("a timed check earns the mean over its speeds, times its own share") {
  CheckObservation timed = sample::passed("speed", Section::performance);
  timed.earned = 0.5;
  timed.speeds.resize(2);
  for (SpeedMeasurement& speed : timed.speeds) speed.noise_low = speed.noise_high = 1;
  timed.speeds[0].ratio = timed.speeds[0].low = timed.speeds[0].high = 4;
  timed.speeds[1].ratio = timed.speeds[1].low = timed.speeds[1].high = 0.25;
  const CellScore raced = scored({sample::passed("base"), timed});
  CHECK(raced.sections[1].score == doctest::Approx(100 * 0.5 * (1 + 1.0 / 3) / 2));
  timed.info.section = Section::correctness;  // speeds are no argument there
  CHECK(*scored({timed}).score == doctest::Approx(50));
}

TEST_CASE("timed cases in which the reference was too noisy do not count") {
  CheckObservation timed = sample::passed("speed", Section::performance);
  timed.speeds.push_back({"quiet", 12, 1, 1, 0.5, 0.49, 0.51, 0.99, 1.01, {}, {}});
  timed.speeds.push_back({"noisy", 12, 1, 1, 0.6, 0.5, 0.7, 0.6, 1.5, {}, {}});
  const CellScore half = scored({sample::passed("base"), timed});
  CHECK(half.sections[1].score == doctest::Approx(100 * 2.0 / 3 / 2));
  CHECK(half.sections[1].high == doctest::Approx(100 * (2.0 / 3 + 1) / 2));
  CHECK(half.sections[1].measured == 0);
  CHECK(half.sections[1].asked);
  CHECK(half.not_measured == std::vector<std::string>{"speed/noisy"});
  CHECK(half.partial());
  timed.speeds.erase(timed.speeds.begin());
  const CellScore none = scored({sample::passed("base"), timed});
  CHECK_FALSE(none.sections[1].asked);
  CHECK(none.sections[1].score == 0);
  CHECK(none.sections[1].high == 100);
  CHECK(none.not_measured == std::vector<std::string>{"speed"});
  CHECK(none.partial());
}

TEST_CASE("whoever is slow in any noise has that case counted") {
  const CellScore score = scored(
      {sample::passed("base"), raced({"hopeless", 12, 1, 1, 0.01, 0.01, 0.02, 0.2, 4.0, {}, {}})});
  CHECK(score.sections[1].score == doctest::Approx(50));
  CHECK_FALSE(score.partial());
}

TEST_CASE("a slow solution cannot talk itself out of a timed case by making noise") {
  SpeedMeasurement slow{"slow", 12, 1, 1, 0.25, 0.25, 0.25, 0.99, 1.01, {}, {}};
  const CellScore steady = scored({sample::passed("base"), raced(slow)});
  slow.low = 0.01;  // its fastest lap is as fast as before, its others are not
  const CellScore loud = scored({sample::passed("base"), raced(slow)});
  CHECK(loud.score == steady.score);
  CHECK_FALSE(loud.partial());
  CHECK(loud.range->low < steady.range->low);
  CHECK(loud.range->high == steady.range->high);
}

TEST_CASE("a failed check caps by its severity, and the raw score stays to be seen") {
  auto checks = many_passed(99);
  checks.push_back(sample::failed("trap", Severity::critical));
  const CellScore score = scored(checks);
  CHECK(*score.raw == doctest::Approx(99));
  CHECK(score.score == 79);
  CHECK(score.grade.letter == "C+");
  CHECK(score.capped());
  REQUIRE(score.caps.size() == 1);
  CHECK(score.caps[0].check == "trap");
  CHECK(score.critical_failure());
}

TEST_CASE("the lowest cap counts, and each can be thought away") {
  auto checks = many_passed(98);
  checks.push_back(sample::failed("big", Severity::major));
  checks.push_back(sample::failed("trap", Severity::critical));
  const CellScore score = scored(checks);
  CHECK(score.score == 79);
  CHECK(score.caps.front().check == "trap");
  CHECK(score_without_cap(score, "trap") == 89);
  CHECK(score_without_cap(score, "big") == 79);
  CHECK(score_without_cap(score, "none") == 79);
}

TEST_CASE("cheating costs everything, however mild the check") {
  auto checks = many_passed(50);
  checks.push_back(sample::failed("mild", Severity::minor, Verdict::cheated));
  const CellScore score = scored(checks);
  CHECK(score.score == 0);
  CHECK(score.grade.letter == "F");
  CHECK(*score.raw > 90);
}

TEST_CASE("a failed build scores zero and says so") {
  CellObservation cell = sample::cell();
  cell.build.ok = false;
  const CellScore score = score_cell(rubric(), cell);
  CHECK(score.score == 0);
  CHECK(score.failed_to_build);
  CHECK(score.caps.front().check == "build");
  CHECK(score.critical_failure());
}

TEST_CASE("a solution that never gives an answer scores zero, a wrong answer is one") {
  const auto clean = sample::passed("warning_free_build", Section::engineering);
  const auto crashed = sample::failed("base", Severity::minor, Verdict::crashed);
  const CellScore silent = scored({clean, crashed});
  CHECK(silent.score == 0);
  CHECK(*silent.raw > 0);
  CHECK(silent.caps.front().check == kOutputCap);
  CHECK(*scored({clean, crashed, sample::failed("other")}).score > 0);
  CHECK(*scored({clean, sample::passed("base")}).score == 100);
}

TEST_CASE("without a measured check of correctness there is no grade") {
  const auto clean = sample::passed("warning_free_build", Section::engineering);
  CHECK(scored({clean}).status == CellStatus::unmeasured);
  const CellScore ours = scored({clean, sample::failed("base", Severity::minor, Verdict::broken)});
  CHECK(ours.status == CellStatus::broken);
  CHECK_FALSE(ours.score.has_value());
}

TEST_CASE("a build that failed through our fault blames nobody") {
  CellObservation cell = cell_of({sample::failed("base", Severity::fatal, Verdict::broken)});
  cell.build.ok = false;
  const CellScore score = score_cell(rubric(), cell);
  CHECK(score.status == CellStatus::broken);
  CHECK_FALSE(score.score.has_value());
}

TEST_CASE("what could not be measured counts as failed, and the high end as passed") {
  const CellScore score =
      scored({sample::passed("base"), sample::failed("gpu", Severity::minor, Verdict::unmeasured)});
  CHECK(score.score == 50);
  CHECK(score.high == 100);
  CHECK(score.open());
  CHECK(score.grade.letter == "F");
  CHECK(score.grade.high_letter == "A");
  CHECK(score.grade.spans());
  CHECK(score.partial());
  CHECK(score.not_measured == std::vector<std::string>{"gpu"});
  CHECK(score.reasons == std::vector<std::string>{"gpu: dx[0]: got 1, want 2 +- 0.1"});
  CHECK(score.sections[0].measured == 1);
  CHECK(score.sections[0].total == 2);
}

TEST_CASE("a broken or unmeasured check counts as failed, with the cap of its severity") {
  for (const Severity severity : {Severity::critical, Severity::major, Severity::minor})
    for (const Verdict verdict : {Verdict::unmeasured, Verdict::broken}) {
      const CellScore score =
          scored({sample::passed("base"), sample::failed("trap", severity, verdict)});
      const CellScore failed = scored({sample::passed("base"), sample::failed("trap", severity)});
      CHECK(score.score == failed.score);
      CHECK(score.grade.letter == failed.grade.letter);
      CHECK(score.caps.size() == failed.caps.size());
      CHECK(score.range->low == failed.score);
      CHECK(score.range->high == 100);  // it might have passed
      CHECK(score.high == 100);
      CHECK(score.partial());
      CHECK(score.not_measured == std::vector<std::string>{"trap"});
      CHECK(score.broken == (verdict == Verdict::broken ? 1 : 0));
      CHECK(score.sections[0].measured == 1);
      if (!score.caps.empty()) CHECK(score.caps[0].not_asked);
    }
}

TEST_CASE("failed, unmeasured and broken cells stand differently") {
  CHECK(scored({sample::failed("a")}).score == 0);
  CHECK(scored({sample::failed("a", Severity::minor, Verdict::unmeasured)}).status ==
        CellStatus::unmeasured);
  CHECK(scored({sample::failed("a", Severity::minor, Verdict::broken)}).status ==
        CellStatus::broken);
  CHECK(scored({}).status == CellStatus::broken);
  CHECK_FALSE(scored({}).score.has_value());
}

TEST_CASE("scores lie between 0 and the raw score, and caps only get harder with severity") {
  Rng rng(3);
  for (int i = 0; i < 3000; ++i) {
    CellObservation cell = random_cell(rng);
    const CellScore before = score_cell(rubric(), cell);
    if (!before.score) continue;
    CHECK(*before.score >= 0);
    CHECK(*before.score <= *before.raw);
    CHECK(*before.raw <= 100 + 1e-9);
    CHECK(before.capped() == (*before.score < *before.raw || *before.high < *before.high_raw));
    for (auto& check : cell.checks)
      if (check.info.severity < Severity::fatal)
        check.info.severity = static_cast<Severity>(static_cast<int>(check.info.severity) + 1);
    CHECK(*score_cell(rubric(), cell).score <= *before.score);
  }
}

TEST_CASE("repairing a failed check never lowers the score") {
  Rng rng(4);
  for (int i = 0; i < 3000; ++i) {
    CellObservation cell = random_cell(rng);
    const CellScore before = score_cell(rubric(), cell);
    for (auto& check : cell.checks)
      if (blames_submission(check.verdict)) {
        check.verdict = Verdict::passed;
        check.finding.reset();
        break;
      }
    const CellScore after = score_cell(rubric(), cell);
    if (before.score) CHECK(*after.score >= *before.score - 1e-9);
  }
}

TEST_CASE("a score's document says what the score says") {
  auto checks = many_passed(99);
  checks.push_back(sample::failed("trap", Severity::critical));
  const Json json = Json::parse(to_json(scored(checks), rubric()));
  CHECK(json["schema"] == "gauntlet.score/1");
  CHECK(json["printed"] == 79);
  CHECK(json["letter"] == "C+");
  CHECK(json["low"] == 79);
  CHECK(json["high"] == 79);
  CHECK(json["caps"][0]["check"] == "trap");
  checks.back() = sample::failed("trap", Severity::major, Verdict::unmeasured);
  const Json open = Json::parse(to_json(scored(checks), rubric()));
  CHECK(open["low"] == 89);
  CHECK(open["high"] == 100);
  CHECK(open["letter"] == "B+");
  CHECK(open["high_letter"] == "A");
  CHECK(open["high_printed"] == 100);
  CHECK(open["reasons"][0] == "trap: dx[0]: got 1, want 2 +- 0.1");
  const Json none = Json::parse(to_json(scored({}), rubric()));
  CHECK(none["status"] == "broken");
  CHECK_FALSE(none.contains("score"));
}
