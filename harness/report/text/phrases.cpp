// SPDX-License-Identifier: Apache-2.0
#include "harness/report/text/phrases.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

/// What a grade says, given how its ends are written as numbers.
std::string letter_and_number(const Grade& grade, const std::string& low, const std::string& high) {
  if (!grade.spans()) return fmt::format("{} {}", grade.letter, low);
  return fmt::format("{}..{}, {} to {}", grade.letter, grade.high_letter, low, high);
}

}  // namespace

const Signs& unicode_signs() {
  static const Signs signs{"—", "n/m", "broken", "†", "‡", "§", "–"};
  return signs;
}

const Signs& ascii_signs() {
  static const Signs signs{"-", "n/m", "broken", "*", "~", "?", "-"};
  return signs;
}

std::string points(double score) {
  // Rounded down: a number printed before a cap never looks better than it was.
  return fmt::format("{:g}", std::floor(score * 10 + 1e-9) / 10);
}

std::string ratio_text(double ratio) {
  return ratio < 0.1 ? fmt::format("{:.2g}", ratio) : fmt::format("{:.2f}", ratio);
}

std::optional<double> ceiling_share(const std::optional<double>& seen) {
  return seen && *seen <= 1.05 ? seen : std::nullopt;
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

std::string ends_text(const Interval& ends) {
  const std::string low = fmt::format("{:.1f}", ends.low);
  const std::string high = fmt::format("{:.1f}", ends.high);
  return low == high ? low : fmt::format("{} to {}", low, high);
}

std::string grade_text(const CellScore& score, const Signs& signs) {
  if (score.status == CellStatus::unmeasured) return signs.unmeasured;
  if (score.status == CellStatus::broken) return signs.broken;
  return letter_and_number(score.grade, std::to_string(score.grade.printed),
                           std::to_string(score.grade.high_printed));
}

std::string cell_text(const BoardCell* cell, const Signs& signs) {
  if (!cell) return signs.absent;
  std::string text = grade_text(cell->score, signs);
  if (cell->score.unproven) text += signs.unproven;
  if (cell->score.status != CellStatus::graded) return text;
  if (cell->score.capped()) text += signs.capped;
  if (cell->score.partial()) text += signs.partial;
  if (cell->placement) text += fmt::format(" ({})", ordinal(*cell->placement));
  return text;
}

std::string spread_text(const AttemptSummary& summary, std::size_t made, const Signs& signs) {
  if (summary.best_attempt == 0) return "";
  std::string text = fmt::format("{}{}{}#{}", points(summary.lowest), signs.to,
                                 points(summary.best.low), summary.best_attempt);
  if (static_cast<std::size_t>(summary.attempts) < made)
    text += fmt::format(" of {}", summary.attempts);
  return text;
}

std::string pass_text(const AttemptSummary& summary) {
  std::vector<std::string> parts;
  for (const PassAtK& one : summary.pass) {
    const std::string low = fmt::format("{:.2f}", one.chance.low);
    const std::string high = fmt::format("{:.2f}", one.chance.high);
    parts.push_back(fmt::format("pass@{} {}", one.k, low == high ? low : low + ".." + high));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string passed_text(const AttemptSummary& summary) {
  return summary.may_pass == summary.passed
             ? fmt::format("{} of {}", summary.passed, summary.cells)
             : fmt::format("{} to {} of {}", summary.passed, summary.may_pass, summary.cells);
}

std::string attempts_text(const AttemptSummary& summary) {
  std::string text = passed_text(summary) + " passed";
  if (!summary.pass.empty()) text += "; " + pass_text(summary);
  if (summary.deviation) text += fmt::format("; standard deviation {}", points(*summary.deviation));
  return text;
}

std::string section_text(const SectionScore& section, const Signs& signs) {
  if (!section.asked) return signs.unmeasured;
  const std::string low = points(section.score);
  const std::string high = points(section.high);
  return low == high ? low : fmt::format("{} to {}", low, high);
}

std::string mean_text(const Rubric& rubric, const std::optional<Mean>& mean, const Signs& signs) {
  if (!mean) return signs.absent;
  std::string missing;
  if (mean->broken > 0) missing += fmt::format(", {} broken", mean->broken);
  if (mean->unmeasured > 0) missing += fmt::format(", {} not measured", mean->unmeasured);
  return fmt::format(
      "{}{} ({} of {}{})",
      letter_and_number(grade_of(rubric, mean->ends()), points(mean->score), points(mean->high)),
      mean->partial ? signs.partial : "", mean->graded, mean->of, missing);
}

std::string cap_text(const CellScore& score) {
  const bool low_end = score.failed_to_build || *score.score < *score.raw;
  // At the high end only what was asked holds the score down.
  const Cap& lowest = *std::find_if(score.caps.begin(), score.caps.end(),
                                    [&](const Cap& cap) { return low_end || !cap.not_asked; });
  if (lowest.check == kBuildCap) return "it does not build";
  if (lowest.check == kOutputCap) return "no check got an answer from it";
  return fmt::format("{} ({}{}) holds {}{} down to {}", lowest.check, name_of(lowest.severity),
                     lowest.not_asked ? ", could not be asked" : "", low_end ? "" : "at most ",
                     points(low_end ? *score.raw : *score.high_raw), points(lowest.cap));
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
