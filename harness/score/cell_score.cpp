// SPDX-License-Identifier: Apache-2.0
#include "harness/score/cell_score.h"

#include <algorithm>

#include "harness/core/names.h"
#include "harness/store/json_fields.h"

namespace gauntlet {
namespace {

constexpr NameTable<CellStatus, 3> kStatuses{"status", {"graded", "unmeasured", "broken"}};

constexpr std::array kSections{Section::correctness, Section::robustness, Section::performance,
                               Section::engineering};

bool is_timed(const CheckObservation& check) {
  return check.info.section == Section::performance && !check.speeds.empty();
}

using Open = Assumption::Open;

/// What a timed case earns; nothing when it was too noisy, which leaves everything open.
std::optional<double> speed_share(const Rubric& rubric, const SpeedMeasurement& speed, Open open) {
  const Interval ratio = rubric.ratio_interval(speed);
  const bool counts = rubric.counts(speed);
  switch (open) {
    case Open::worst:
      return counts ? rubric.speed_share(ratio.low) : 0;
    case Open::best:
      return counts ? rubric.speed_share(ratio.high) : 1;
    case Open::as_measured:
      break;
  }
  if (!counts) return std::nullopt;
  return rubric.speed_share(speed.ratio);
}

bool was_asked(const CheckObservation& check) {
  return check.verdict == Verdict::passed || blames_submission(check.verdict);
}

/// The mean over the cases that count; nothing when all were too noisy.
std::optional<double> mean_speed_share(const Rubric& rubric, const CheckObservation& check,
                                       Open open) {
  double sum = 0;
  int count = 0;
  for (const auto& speed : check.speeds) {
    const auto share = speed_share(rubric, speed, open);
    if (!share) continue;
    sum += *share;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

using Checks = std::vector<const CheckObservation*>;

Checks asked(const CellObservation& cell, const Assumption& assumption) {
  Checks checks;
  for (const auto& check : cell.checks)
    if (check.info.id != assumption.never_asked) checks.push_back(&check);
  return checks;
}

/// The cases of a check that was timed in others.
std::vector<std::string> noisy_cases(const Rubric& rubric, const CheckObservation& check) {
  std::vector<std::string> cases;
  if (check.verdict != Verdict::passed || !is_timed(check)) return cases;
  for (const auto& speed : check.speeds)
    if (!rubric.counts(speed)) cases.push_back(check.info.id + "/" + speed.case_name);
  return cases;
}

/// The share with which a check stands in the mean of its section; nothing: it is left out.
std::optional<double> counted_share(const Rubric& rubric, const CheckObservation& check,
                                    const Assumption& assumption) {
  if (const auto share = earned_share(rubric, check, assumption)) return share;
  if (counts_as_failed(check)) return 0;
  return std::nullopt;
}

SectionScore score_section(const Rubric& rubric, Section section, const Checks& checks,
                           const Assumption& assumption) {
  SectionScore result{section, std::nullopt, 0, 0};
  double points = 0;
  double weight = 0;
  for (const auto* check : checks) {
    if (check->info.section != section) continue;
    ++result.total;
    if (const auto share = counted_share(rubric, *check, assumption)) {
      if (was_asked(*check) && noisy_cases(rubric, *check).empty()) ++result.measured;
      points += check->info.weight * *share;
      weight += check->info.weight;
    }
  }
  if (weight > 0) result.score = 100 * points / weight;
  return result;
}

/// Nothing without a single measured check of correctness: speed and tidiness of code that may be
/// wrong are worth nothing.
std::optional<double> raw_score(const Rubric& rubric, const std::vector<SectionScore>& sections) {
  const bool known = std::any_of(sections.begin(), sections.end(), [](const SectionScore& section) {
    return section.section == Section::correctness && section.measured > 0;
  });
  if (!known) return std::nullopt;
  double sum = 0;
  double weight = 0;
  for (const auto& section : sections) {
    if (!section.score) continue;
    sum += rubric.weight_of(section.section) * *section.score;
    weight += rubric.weight_of(section.section);
  }
  if (weight == 0) return std::nullopt;
  return sum / weight;
}

/// True when it builds and then never gets as far as an answer, be it a wrong one.
bool gave_no_output(const Checks& checks) {
  int ended = 0;
  for (const auto* check : checks) {
    if (check->info.section == Section::engineering) continue;
    if (check->verdict == Verdict::passed || check->verdict == Verdict::wrong) return false;
    if (blames_submission(check->verdict)) ++ended;
  }
  return ended > 0;
}

/// A check that could not be asked might have failed.
bool brings_cap(const CheckObservation& check, const Assumption& assumption) {
  if (check.info.id == assumption.earned) return false;
  switch (assumption.open) {
    case Open::as_measured:
      return counts_as_failed(check);
    case Open::worst:
      return check.verdict != Verdict::passed;
    case Open::best:
      break;
  }
  return blames_submission(check.verdict);
}

std::vector<Cap> caps_of(const Rubric& rubric, const Checks& checks, bool failed_to_build,
                         const Assumption& assumption) {
  std::vector<Cap> caps;
  const auto add = [&](std::string_view check, Severity severity, bool not_asked = false) {
    if (const double cap = rubric.cap_of(severity); cap < 100)
      caps.push_back({std::string(check), severity, cap, not_asked});
  };
  if (failed_to_build) add(kBuildCap, Severity::fatal);
  if (gave_no_output(checks)) add(kOutputCap, Severity::fatal);
  for (const auto* check : checks)
    if (brings_cap(*check, assumption))
      add(check->info.id,
          check->verdict == Verdict::cheated ? Severity::fatal : check->info.severity,
          !was_asked(*check));
  std::stable_sort(caps.begin(), caps.end(),
                   [](const Cap& a, const Cap& b) { return a.cap < b.cap; });
  return caps;
}

double lowest_cap(const std::vector<Cap>& caps, double raw) {
  for (const Cap& cap : caps) raw = std::min(raw, cap.cap);
  return raw;
}

void note_unmeasured(const Rubric& rubric, const Checks& checks, CellScore& result) {
  auto& missing = result.not_measured;
  for (const auto* check : checks) {
    if (check->verdict == Verdict::broken) ++result.broken;
    if (blames_submission(check->verdict)) continue;
    if (!earned_share(rubric, *check)) {
      missing.push_back(check->info.id);
    } else {
      const auto cases = noisy_cases(rubric, *check);
      missing.insert(missing.end(), cases.begin(), cases.end());
    }
  }
  std::sort(result.not_measured.begin(), result.not_measured.end());
}

Json to(const SectionScore& section, const Rubric& rubric) {
  Json json{{"section", name_of(section.section)},
            {"weight", json_number(rubric.weight_of(section.section))}};
  if (section.score) json["score"] = json_number(*section.score);
  json["measured"] = section.measured;
  json["total"] = section.total;
  json["partial"] = section.partial();
  return json;
}

}  // namespace

std::string_view name_of(CellStatus status) {
  return kStatuses.of(status);
}

bool CellScore::critical_failure() const {
  return std::any_of(caps.begin(), caps.end(),
                     [](const Cap& cap) { return cap.severity >= Severity::critical; });
}

bool counts_as_failed(const CheckObservation& check) {
  return blames_submission(check.verdict) || check.verdict == Verdict::broken ||
         (check.verdict == Verdict::unmeasured && check.info.severity >= Severity::critical);
}

std::optional<double> earned_share(const Rubric& rubric, const CheckObservation& check,
                                   const Assumption& assumption) {
  const Open open = assumption.open;
  if (check.info.id == assumption.earned) return 1;
  if (blames_submission(check.verdict)) return 0;
  std::optional<double> unknown;
  if (open != Open::as_measured) unknown = open == Open::best ? 1 : 0;
  if (check.verdict != Verdict::passed) return unknown;
  const double share = check.earned >= 0 ? std::min(check.earned, 1.0) : 0;
  if (!is_timed(check)) return share;
  const auto speed = mean_speed_share(rubric, check, open);
  if (!speed) return unknown;
  return share * *speed;
}

CellScore score_assuming(const Rubric& rubric, const CellObservation& cell,
                         const Assumption& assumption) {
  CellScore result;
  result.key = cell.key;
  result.unproven = !cell.unproven.empty();
  result.grader_digest = cell.provenance.grader_digest;
  const Checks checks = asked(cell, assumption);
  note_unmeasured(rubric, checks, result);
  // A build that failed through our own fault arrives with broken checks, which blame nobody.
  result.failed_to_build = !cell.build.ok && result.broken == 0;
  for (const Section section : kSections)
    if (auto scored = score_section(rubric, section, checks, assumption); scored.total > 0)
      result.sections.push_back(scored);

  result.raw = result.failed_to_build ? 0 : raw_score(rubric, result.sections);
  if (!result.raw) {
    const bool ours = result.broken > 0 || cell.checks.empty();
    result.status = ours ? CellStatus::broken : CellStatus::unmeasured;
    return result;
  }
  result.caps = caps_of(rubric, checks, result.failed_to_build, assumption);
  result.score = lowest_cap(result.caps, *result.raw);
  result.letter = rubric.letter_of(*result.score);
  return result;
}

CellScore score_cell(const Rubric& rubric, const CellObservation& cell) {
  return score_without(rubric, cell, "");
}

CellScore score_without(const Rubric& rubric, const CellObservation& cell, std::string_view check) {
  CellScore result = score_assuming(rubric, cell, {.never_asked = check});
  if (!result.score) return result;
  const auto end = [&](Open open) {
    return *score_assuming(rubric, cell, {.open = open, .never_asked = check}).score;
  };
  result.range = Interval{end(Open::worst), end(Open::best)};
  return result;
}

double score_without_cap(const CellScore& score, const std::string& check) {
  std::vector<Cap> others;
  for (const Cap& cap : score.caps)
    if (cap.check != check) others.push_back(cap);
  return lowest_cap(others, score.raw.value_or(0));
}

std::string to_json(const CellScore& score, const Rubric& rubric) {
  Json json{{"schema", "gauntlet.score/1"}};
  put_cell_key(json, score.key);
  json["rubric_digest"] = rubric.digest;
  json["grader_digest"] = score.grader_digest;
  json["status"] = name_of(score.status);
  if (score.score) {
    json["score"] = json_number(*score.score);
    json["printed"] = rubric.printed(*score.score);
    json["letter"] = score.letter;
    json["raw"] = json_number(*score.raw);
  }
  if (score.range) {
    json["low"] = json_number(score.range->low);
    json["high"] = json_number(score.range->high);
  }
  json["partial"] = score.partial();
  json["caps"] = Json::array();
  for (const Cap& cap : score.caps)
    json["caps"].push_back({{"check", cap.check},
                            {"severity", name_of(cap.severity)},
                            {"cap", json_number(cap.cap)},
                            {"not_asked", cap.not_asked}});
  json["sections"] = Json::array();
  for (const auto& section : score.sections) json["sections"].push_back(to(section, rubric));
  json["not_measured"] = Json(score.not_measured);
  json["broken"] = score.broken;
  return json_text(json);
}

}  // namespace gauntlet
