// SPDX-License-Identifier: Apache-2.0
#include "harness/score/cell_score.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "harness/core/names.h"
#include "harness/core/text.h"
#include "harness/store/json_fields.h"

namespace gauntlet {
namespace {

constexpr NameTable<CellStatus, 3> kStatuses{"status", {"graded", "unmeasured", "broken"}};

bool is_timed(const CheckObservation& check) {
  return check.info.section == Section::performance && !check.speeds.empty();
}

using Missing = Assumption::Missing;
using Times = Assumption::Times;

double share_if_missing(const Assumption& assumption) {
  return assumption.missing == Missing::earned ? 1 : 0;
}

/// What a timed case earns; one that was too noisy to count was not measured.
double speed_share(const Rubric& rubric, const SpeedMeasurement& speed,
                   const Assumption& assumption) {
  if (!rubric.counts(speed)) return share_if_missing(assumption);
  const Interval ratio = rubric.ratio_interval(speed);
  switch (assumption.times) {
    case Times::slowest:
      return rubric.speed_share(ratio.low);
    case Times::fastest:
      return rubric.speed_share(ratio.high);
    case Times::measured:
      break;
  }
  return rubric.speed_share(speed.ratio);
}

bool was_asked(const CheckObservation& check) {
  return check.verdict == Verdict::passed || blames_submission(check.verdict);
}

double mean_speed_share(const Rubric& rubric, const CheckObservation& check,
                        const Assumption& assumption) {
  double sum = 0;
  for (const auto& speed : check.speeds) sum += speed_share(rubric, speed, assumption);
  return sum / static_cast<double>(check.speeds.size());
}

using Checks = std::vector<const CheckObservation*>;

Checks asked(const CellObservation& cell, const Assumption& assumption) {
  Checks checks;
  for (const auto& check : cell.checks)
    if (check.info.id != assumption.never_asked) checks.push_back(&check);
  return checks;
}

/// The timed cases of a check that were too noisy to count.
std::vector<const SpeedMeasurement*> noisy_cases(const Rubric& rubric,
                                                 const CheckObservation& check) {
  std::vector<const SpeedMeasurement*> cases;
  if (check.verdict != Verdict::passed || !is_timed(check)) return cases;
  for (const auto& speed : check.speeds)
    if (!rubric.counts(speed)) cases.push_back(&speed);
  return cases;
}

/// The share of its points with which a check stands in the mean of its section.
double share_under(const Rubric& rubric, const CheckObservation& check,
                   const Assumption& assumption) {
  if (check.info.id == assumption.gained) return 1;
  if (blames_submission(check.verdict)) return 0;
  if (check.verdict != Verdict::passed) return share_if_missing(assumption);
  const double share = check.earned >= 0 ? std::min(check.earned, 1.0) : 0;
  return is_timed(check) ? share * mean_speed_share(rubric, check, assumption) : share;
}

SectionScore score_section(const Rubric& rubric, Section section, const Checks& checks,
                           const Assumption& assumption) {
  SectionScore result{section};
  double points = 0;
  double weight = 0;
  for (const auto* check : checks) {
    if (check->info.section != section) continue;
    ++result.total;
    if (was_asked(*check) && noisy_cases(rubric, *check).empty()) ++result.measured;
    result.asked = result.asked || earned_share(rubric, *check).has_value();
    points += check->info.weight * share_under(rubric, *check, assumption);
    weight += check->info.weight;
  }
  if (weight > 0) result.score = 100 * points / weight;
  result.high = result.score;
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
    sum += rubric.weight_of(section.section) * section.score;
    weight += rubric.weight_of(section.section);
  }
  if (weight == 0) return std::nullopt;
  return sum / weight;
}

/// True when it builds and then never gets as far as an answer, be it a wrong one. What could not
/// be asked might have got one.
bool gave_no_output(const Checks& checks, const Assumption& assumption) {
  int ended = 0;
  for (const auto* check : checks) {
    if (check->info.section == Section::engineering) continue;
    if (check->verdict == Verdict::passed || check->verdict == Verdict::wrong) return false;
    if (blames_submission(check->verdict))
      ++ended;
    else if (assumption.missing == Missing::earned)
      return false;
  }
  return ended > 0;
}

bool brings_cap(const CheckObservation& check, const Assumption& assumption) {
  if (check.info.id == assumption.gained || check.verdict == Verdict::passed) return false;
  return blames_submission(check.verdict) || assumption.missing == Missing::failed;
}

std::vector<Cap> caps_of(const Rubric& rubric, const Checks& checks, bool failed_to_build,
                         const Assumption& assumption) {
  std::vector<Cap> caps;
  const auto add = [&](std::string_view check, Severity severity, bool not_asked = false) {
    if (const double cap = rubric.cap_of(severity); cap < 100)
      caps.push_back({std::string(check), severity, cap, not_asked});
  };
  if (failed_to_build) add(kBuildCap, Severity::fatal);
  if (gave_no_output(checks, assumption)) add(kOutputCap, Severity::fatal);
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

std::string why_not_asked(const CheckObservation& check) {
  return check.finding ? one_line(check.finding->summary)
                       : fmt::format("it is {}", name_of(check.verdict));
}

std::string why_too_noisy(const SpeedMeasurement& speed) {
  return fmt::format("the reference against itself gave {:.2f} to {:.2f}", speed.noise_low,
                     speed.noise_high);
}

void note_unmeasured(const Rubric& rubric, const Checks& checks, CellScore& result) {
  std::map<std::string, std::string> missing;
  for (const auto* check : checks) {
    const std::string& id = check->info.id;
    if (check->verdict == Verdict::broken) ++result.broken;
    if (blames_submission(check->verdict)) continue;
    const auto cases = noisy_cases(rubric, *check);
    if (check->verdict != Verdict::passed)
      missing[id] = why_not_asked(*check);
    else if (!cases.empty() && cases.size() == check->speeds.size())
      missing[id] = why_too_noisy(*cases.front());
    else
      for (const auto* speed : cases) missing[id + "/" + speed->case_name] = why_too_noisy(*speed);
  }
  for (const auto& [what, why] : missing) {
    result.not_measured.push_back(what);
    result.reasons.push_back(what + ": " + why);
  }
}

/// Sets whether it counts as passed in pass@k. A cell that broke or could not be asked may have.
void decide_passing(const Rubric& rubric, const Checks& checks, CellScore& result) {
  const auto holds = [&](const CheckObservation* check) {
    const auto& passing = rubric.passing;
    const bool counts =
        std::find(passing.begin(), passing.end(), check->info.section) != passing.end();
    return !counts || check->verdict == Verdict::passed;
  };
  const auto may_hold = [&](const CheckObservation* check) {
    return check->verdict != Verdict::cheated && (holds(check) || !was_asked(*check));
  };
  result.may_pass = !result.failed_to_build && std::all_of(checks.begin(), checks.end(), may_hold);
  result.passed = result.may_pass && result.raw && std::all_of(checks.begin(), checks.end(), holds);
}

Json to(const SectionScore& section, const Rubric& rubric) {
  Json json{{"section", name_of(section.section)},
            {"weight", json_number(rubric.weight_of(section.section))}};
  if (section.asked) json["score"] = json_number(section.score);
  json["low"] = json_number(section.score);
  json["high"] = json_number(section.high);
  json["measured"] = section.measured;
  json["total"] = section.total;
  json["partial"] = section.measured < section.total;
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

std::optional<double> earned_share(const Rubric& rubric, const CheckObservation& check) {
  if (blames_submission(check.verdict)) return 0;
  if (check.verdict != Verdict::passed) return std::nullopt;
  if (is_timed(check) && noisy_cases(rubric, check).size() == check.speeds.size())
    return std::nullopt;
  return share_under(rubric, check, {});
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
  for (const Section section : kAllSections)
    if (auto scored = score_section(rubric, section, checks, assumption); scored.total > 0)
      result.sections.push_back(scored);

  result.raw = result.failed_to_build ? 0 : raw_score(rubric, result.sections);
  decide_passing(rubric, checks, result);
  if (!result.raw) {
    const bool ours = result.broken > 0 || cell.checks.empty();
    result.status = ours ? CellStatus::broken : CellStatus::unmeasured;
    return result;
  }
  result.caps = caps_of(rubric, checks, result.failed_to_build, assumption);
  result.score = lowest_cap(result.caps, *result.raw);
  result.high = result.score;
  result.high_raw = result.raw;
  result.grade = grade_of(rubric, result.ends());
  return result;
}

CellScore score_cell(const Rubric& rubric, const CellObservation& cell) {
  return score_without(rubric, cell, "");
}

CellScore score_without(const Rubric& rubric, const CellObservation& cell, std::string_view check) {
  const auto assuming = [&](Missing missing, Times times) {
    return score_assuming(rubric, cell, {.missing = missing, .times = times, .never_asked = check});
  };
  CellScore result = assuming(Missing::failed, Times::measured);
  const CellScore earned = assuming(Missing::earned, Times::measured);
  for (std::size_t i = 0; i < result.sections.size(); ++i)
    result.sections[i].high = earned.sections[i].score;
  if (!result.score) return result;
  const double slowest = *assuming(Missing::failed, Times::slowest).score;
  result.measured = Interval{slowest, *assuming(Missing::failed, Times::fastest).score};
  result.range = Interval{slowest, *assuming(Missing::earned, Times::fastest).score};
  result.high = earned.score;
  result.high_raw = earned.raw;
  result.grade = grade_of(rubric, result.ends());
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
    json["printed"] = score.grade.printed;
    json["letter"] = score.grade.letter;
    json["raw"] = json_number(*score.raw);
    json["high_raw"] = json_number(*score.high_raw);
    json["low"] = json_number(*score.score);
    json["high"] = json_number(*score.high);
    json["high_printed"] = score.grade.high_printed;
    json["high_letter"] = score.grade.high_letter;
    json["interval_low"] = json_number(score.range->low);
    json["interval_high"] = json_number(score.range->high);
  }
  json["passes"] = score.passed;
  json["may_pass"] = score.may_pass;
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
  json["reasons"] = Json(score.reasons);
  json["broken"] = score.broken;
  return json_text(json);
}

}  // namespace gauntlet
