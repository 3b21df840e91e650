// SPDX-License-Identifier: Apache-2.0
#include "harness/report/text/phrases.h"

#include <cmath>
#include <fmt/format.h>

namespace gauntlet {

const Signs& unicode_signs() {
  static const Signs signs{"—", "n/m", "broken", "†", "‡", "§"};
  return signs;
}

const Signs& ascii_signs() {
  static const Signs signs{"-", "n/m", "broken", "*", "~", "?"};
  return signs;
}

std::string points(double score) {
  // Rounded down: a number printed before a cap never looks better than it was.
  return fmt::format("{:g}", std::floor(score * 10 + 1e-9) / 10);
}

std::string ratio_text(double ratio) {
  return ratio < 0.1 ? fmt::format("{:.2g}", ratio) : fmt::format("{:.2f}", ratio);
}

std::string speed_text(const SpeedMeasurement& speed) {
  return fmt::format("{}x ({}–{})", ratio_text(speed.ratio), ratio_text(speed.low),
                     ratio_text(speed.high));
}

std::string signed_points(double difference) {
  const std::string text = fmt::format("{:+.1f}", difference);
  return text == "+0.0" || text == "-0.0" ? "0" : text;
}

std::string range_text(const Interval& range) {
  return fmt::format("{:.1f}–{:.1f}", range.low, range.high);
}

std::string grade_text(const Rubric& rubric, const CellScore& score, const Signs& signs) {
  if (score.status == CellStatus::unmeasured) return signs.unmeasured;
  if (score.status == CellStatus::broken) return signs.broken;
  return fmt::format("{} {}", score.letter, rubric.printed(*score.score));
}

std::string cell_text(const Rubric& rubric, const BoardCell* cell, const Signs& signs) {
  if (!cell) return signs.absent;
  std::string text = grade_text(rubric, cell->score, signs);
  if (cell->score.unproven) text += signs.unproven;
  if (cell->score.status != CellStatus::graded) return text;
  if (cell->score.capped()) text += signs.capped;
  if (cell->score.partial()) text += signs.partial;
  if (cell->placement) text += fmt::format(" ({})", ordinal(*cell->placement));
  return text;
}

std::string mean_text(const Rubric& rubric, const std::optional<Mean>& mean, const Signs& signs) {
  if (!mean) return signs.absent;
  const std::string broken = mean->broken > 0 ? fmt::format(", {} broken", mean->broken) : "";
  return fmt::format("{} {}{} ({} of {}{})", rubric.letter_of(mean->score), points(mean->score),
                     mean->partial ? signs.partial : "", mean->graded, mean->of, broken);
}

std::string cap_text(const CellScore& score) {
  const Cap& lowest = score.caps.front();
  if (lowest.check == kBuildCap) return "it does not build";
  if (lowest.check == kOutputCap) return "no check got an answer from it";
  return fmt::format("{} ({}{}) holds {} down to {}", lowest.check, name_of(lowest.severity),
                     lowest.not_asked ? ", could not be asked" : "", points(*score.raw),
                     points(lowest.cap));
}

std::string show_command(std::string_view submission, std::string_view challenge,
                         std::string_view check) {
  return fmt::format("./gauntlet show {} {}/{}", submission, challenge, check);
}

std::string rerun_command(const CellObservation& cell, const std::string& check) {
  return fmt::format("./gauntlet rerun {} {} --check {} --seed {}", cell.key.row(),
                     cell.key.column(), check, cell.seed.text());
}

}  // namespace gauntlet
