// SPDX-License-Identifier: Apache-2.0
// What could not be measured raises nothing that is printed, and takes nothing from others.
#include <algorithm>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "harness/core/rng.h"
#include "harness/score/picks.h"
#include "harness/score/ranking.h"
#include "tests/score/scored.h"

using namespace gauntlet;

namespace {

constexpr int kTurns = 1500;
const std::vector<std::string> kChallenges{"one", "two", "three"};

SpeedMeasurement timed_case(Rng& rng, const std::string& name) {
  const double ratio = rng.uniform(0.05, 1.5);
  return {name, 12, 1000 / ratio, 1000, ratio, ratio * 0.97, ratio * 1.03, 0.99, 1.01, {}, {}};
}

CheckObservation random_check(Rng& rng, int number) {
  CheckObservation check = sample::passed(fmt::format("check_{}", number));
  check.info.section = number < 2 ? Section::correctness : static_cast<Section>(rng.integer(0, 3));
  check.info.severity = static_cast<Severity>(rng.integer(0, 3));
  check.info.weight = rng.uniform(0.1, 3);
  if (rng.chance(0.5)) check.earned = rng.uniform(0.5, 1);
  if (check.info.section == Section::performance)
    for (const char* name : {"small", "large"}) check.speeds.push_back(timed_case(rng, name));
  if (rng.chance(0.1)) check.verdict = static_cast<Verdict>(rng.integer(1, 6));
  if (rng.chance(0.05)) check.verdict = Verdict::unmeasured;
  return check;
}

std::vector<CellObservation> random_cells(Rng& rng) {
  std::vector<CellObservation> cells;
  for (const auto& challenge : kChallenges) {
    const auto count = rng.integer(3, 9);
    for (int submission = 0; submission < 5; ++submission) {
      if (rng.chance(0.1)) continue;
      CellObservation cell = sample::cell(fmt::format("model-{}", submission), challenge);
      cell.build.ok = !rng.chance(0.05);
      for (int i = 0; cell.build.ok && i < count; ++i) cell.checks.push_back(random_check(rng, i));
      cells.push_back(cell);
    }
  }
  return cells;
}

/// A part that was measured: a check, or one timed case of it. Cheating was seen, and not measured.
struct Part {
  std::size_t cell = 0;
  std::size_t check = 0;
  std::optional<std::size_t> timed;
};

std::vector<Part> measured_parts(const std::vector<CellObservation>& cells) {
  std::vector<Part> parts;
  for (std::size_t c = 0; c < cells.size(); ++c)
    for (std::size_t i = 0; i < cells[c].checks.size(); ++i) {
      const CheckObservation& check = cells[c].checks[i];
      if (check.verdict != Verdict::passed && !blames_submission(check.verdict)) continue;
      if (check.verdict == Verdict::cheated) continue;
      parts.push_back({c, i, std::nullopt});
      if (check.verdict == Verdict::passed)
        for (std::size_t k = 0; k < check.speeds.size(); ++k) parts.push_back({c, i, k});
    }
  return parts;
}

enum class Fate { unmeasured, broken, failed, earned };

std::vector<CellObservation> with(std::vector<CellObservation> cells, const Part& part, Fate fate) {
  CheckObservation& check = cells[part.cell].checks[part.check];
  const bool missing = fate == Fate::unmeasured || fate == Fate::broken;
  if (part.timed) {
    SpeedMeasurement& speed = check.speeds[*part.timed];
    const double ratio = missing ? 0.6 : fate == Fate::earned ? 10 : 0.001;
    speed.ratio = speed.low = speed.high = ratio;
    if (missing) speed.noise_low = 0.1;
    if (missing) speed.noise_high = 10;
    return cells;
  }
  check.verdict = fate == Fate::unmeasured ? Verdict::unmeasured
                  : fate == Fate::broken   ? Verdict::broken
                  : fate == Fate::earned   ? Verdict::passed
                                           : Verdict::crashed;
  check.earned = 1;
  for (SpeedMeasurement& speed : check.speeds) speed.ratio = speed.low = speed.high = 10;
  return cells;
}

/// Everything that is printed of some cells.
struct Printed {
  Board board;
  std::vector<Ranked> ranking;
  std::vector<Pick> picks;

  explicit Printed(const std::vector<CellObservation>& cells)
      : board(rubric(), cells, kChallenges),
        ranking(rank_submissions(quick_rubric(), board)),
        picks(pick(rubric(), needs(), board, cells, {1, 2, 3})) {}

  static const std::vector<Need>& needs() {
    static const auto loaded =
        load_needs(std::filesystem::path(GAUNTLET_ROOT) / "harness/score/needs.yaml");
    return loaded;
  }
  const BoardCell& cell(const CellKey& key) const { return *board.find(key); }
  const Ranked& ranked(const std::string& row) const {
    return *std::find_if(ranking.begin(), ranking.end(),
                         [&](const Ranked& one) { return one.submission == row; });
  }
};

/// How good a letter is; none is the worst.
std::ptrdiff_t worth(const std::string& letter) {
  const auto& letters = rubric().letters;
  const auto at = std::find_if(letters.begin(), letters.end(),
                               [&](const auto& band) { return band.letter == letter; });
  return letters.end() - at;
}

constexpr double kRounding = 1e-9;

/// That no place got better; having none is worst.
bool no_better(const std::optional<Place>& now, const std::optional<Place>& before) {
  return !now || (before && now->number >= before->number);
}

void check_own_cell(const BoardCell& before, const BoardCell& now) {
  CHECK(now.score.score.value_or(-1) <= before.score.score.value_or(-1) + kRounding);
  CHECK(worth(now.score.grade.letter) <= worth(before.score.grade.letter));
  CHECK(now.score.grade.printed <= before.score.grade.printed);
  CHECK(no_better(now.placement, before.placement));
  for (const double bar : {60.0, 79.0, 87.0, 93.0})  // what opens a gate now opened it before
    CHECK((now.score.score.value_or(-1) < bar || before.score.score.value_or(-1) >= bar));
  if (!now.score.score) return;
  CHECK(*now.score.score <= *before.score.score + kRounding);
  CHECK(*now.score.high >= *before.score.high - kRounding);  // what it was lies in the range
  CHECK((now.score.open() ? !now.score.reasons.empty() : true));
}

void check_own_row(const Printed& before, const Printed& now, const std::string& row) {
  const auto was = before.board.mean(row);
  const auto is = now.board.mean(row);
  if (is) {
    REQUIRE(was.has_value());
    CHECK(is->score <= was->score + kRounding);
    CHECK(is->high >= was->high - kRounding);
    CHECK(worth(grade_of(rubric(), is->ends()).letter) <=
          worth(grade_of(rubric(), was->ends()).letter));
  }
  CHECK(no_better(now.ranked(row).place, before.ranked(row).place));
  for (const auto& other : now.board.submissions())
    if (other != row)
      CHECK(now.board.record(row, other).won <= before.board.record(row, other).won);
  for (const Pick& picked : now.picks)
    for (const Pick& former : before.picks)
      if (picked.need.id == former.need.id && picked.submission == row)
        CHECK(former.submission == row);
}

/// That others have the places that the failure of the part would give them, or better ones where
/// they were measured in full.
void check_others(const Printed& now, const Printed& failed, const Printed& earned,
                  const CellKey& own) {
  for (const auto& row : now.board.submissions()) {
    const BoardCell* other = now.board.find(row, own.column());
    if (row == own.row() || !other || !other->placement) continue;
    const Place& as_failed = *failed.board.find(row, own.column())->placement;
    const Place& as_earned = *earned.board.find(row, own.column())->placement;
    if (other->score.open())
      CHECK(other->placement->number <= std::max(as_failed.number, as_earned.number));
    else if (now.cell(own).placement)
      CHECK(other->placement->number == as_failed.number);
    else  // nothing to compare with is left of it
      CHECK(other->placement->number <= as_failed.number);
    CHECK(now.board.record(row, own.row()).won <= failed.board.record(row, own.row()).won);
  }
}

/// That no cell of which something is missing stands above one that may be as good.
void check_column(const Printed& now, const std::string& challenge) {
  for (const auto& row : now.board.submissions())
    for (const auto& other : now.board.submissions()) {
      const BoardCell* a = now.board.find(row, challenge);
      const BoardCell* b = now.board.find(other, challenge);
      if (a == b || !a || !b || !a->placement || !b->placement || !a->score.open()) continue;
      if (a->score.score > b->score.high || b->score.score > a->score.high) continue;
      CHECK(a->placement->number >= b->placement->best.value_or(b->placement->number));
    }
}

}  // namespace

TEST_CASE(
    "making a part unmeasured raises nothing that is printed, and takes no place from others") {
  Rng rng(17);
  for (int turn = 0; turn < kTurns; ++turn) {
    const auto cells = random_cells(rng);
    const auto parts = measured_parts(cells);
    if (parts.empty()) continue;
    const Part part = parts[static_cast<std::size_t>(rng.integer(0, std::ssize(parts) - 1))];
    const CellKey own = cells[part.cell].key;
    INFO(turn, " ", own.text(), " ", cells[part.cell].checks[part.check].info.id);
    const Printed before(cells);
    const Printed failed(with(cells, part, Fate::failed));
    const Printed earned(with(cells, part, Fate::earned));
    for (const Fate fate : {Fate::unmeasured, Fate::broken}) {
      const Printed now(with(cells, part, fate));
      check_own_cell(before.cell(own), now.cell(own));
      check_own_row(before, now, own.row());
      check_others(now, failed, earned, own);
      for (const auto& challenge : kChallenges) check_column(now, challenge);
    }
  }
}

TEST_CASE("a part that is missing leaves the score at what its failure gives") {
  Rng rng(18);
  for (int turn = 0; turn < kTurns; ++turn) {
    const auto cells = random_cells(rng);
    for (const Part& part : measured_parts(cells)) {
      const CellKey own = cells[part.cell].key;
      const CellScore now = score_cell(rubric(), with(cells, part, Fate::unmeasured)[part.cell]);
      const CellScore failed = score_cell(rubric(), with(cells, part, Fate::failed)[part.cell]);
      const CellScore earned = score_cell(rubric(), with(cells, part, Fate::earned)[part.cell]);
      if (!now.score) continue;
      INFO(turn, " ", own.text());
      CHECK(*now.score == doctest::Approx(*failed.score));
      if (!part.timed) CHECK(*now.high == doctest::Approx(*earned.high));
    }
    if (turn == kTurns / 20) break;  // each turn tries some hundred parts
  }
}
