// SPDX-License-Identifier: Apache-2.0
// Aggregate as JSON: the numbers that pages print, under names that a reader of the file finds.
#include "harness/report/model/aggregate.h"
#include "harness/report/text/phrases.h"
#include "harness/store/json_fields.h"

namespace gauntlet {
namespace {

template <class T>
void set(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = json_number(*value);
}

void set(Json& json, const char* low, const char* high, const Interval& interval) {
  json[low] = json_number(interval.low);
  json[high] = json_number(interval.high);
}

template <class T, class Write>
Json list_of(const std::vector<T>& items, const Write& write) {
  Json json = Json::array();
  for (const T& item : items) json.push_back(write(item));
  return json;
}

Json rubric_json(const Rubric& rubric) {
  Json json{{"digest", rubric.digest}};
  for (const Section section : kAllSections)
    json["sections"][std::string(name_of(section))] = json_number(rubric.weight_of(section));
  for (const Severity severity :
       {Severity::minor, Severity::major, Severity::critical, Severity::fatal})
    json["caps"][std::string(name_of(severity))] = json_number(rubric.cap_of(severity));
  json["letters"] = list_of(rubric.letters, [](const Rubric::Band& band) {
    return Json{{"letter", band.letter}, {"at_least", json_number(band.at_least)}};
  });
  json["tie_band"] = json_number(rubric.tie_band);
  json["mean_band"] = json_number(rubric.mean_band);
  json["narrow_below"] = json_number(rubric.narrow_below);
  json["moderate_below"] = json_number(rubric.moderate_below);
  json["full_ratio"] = json_number(rubric.full_ratio);
  json["zero_ratio"] = json_number(rubric.zero_ratio);
  json["equal_within"] = json_number(rubric.equal_within);
  json["most_noise"] = json_number(rubric.most_noise);
  json["passing"] = list_of(rubric.passing, [](Section section) { return name_of(section); });
  json["resamples"] = rubric.resamples;
  json["confidence"] = json_number(rubric.confidence);
  return json;
}

Json challenge_json(const ReportedChallenge& challenge) {
  return {{"name", challenge.name},
          {"title", challenge.about.title},
          {"difficulty", challenge.about.difficulty},
          {"round", challenge.about.round},
          {"standard", challenge.standard},
          {"asks", challenge.about.asks},
          {"asked", challenge.checks.size()},
          {"earned_by_all", challenge.earned_by_all.size()},
          {"checks", list_of(challenge.checks, [](const CheckInfo& info) {
             return Json{{"id", info.id},
                         {"detects", info.detects},
                         {"section", name_of(info.section)},
                         {"weight", json_number(info.weight)},
                         {"severity", name_of(info.severity)}};
           })}};
}

Json round_json(const RoundScore& round) {
  Json json{{"round", round.round}, {"graded", round.graded}, {"of", round.of}};
  if (round.mean) set(json, "mean", "high", *round.mean);
  return json;
}

Json profile_json(const SectionProfile& profile) {
  Json json{{"section", name_of(profile.section)}, {"challenges", profile.challenges}};
  set(json, "mean", "high", profile.mean);
  if (profile.others) set(json, "others", "others_high", *profile.others);
  set(json, "deviation", profile.deviation);
  return json;
}

Json rank_json(const Ranked& ranked) {
  Json json{{"device", name_of(ranked.device)}, {"same_graders", ranked.same_graders}};
  set(json, "measured_low", "measured_high", ranked.measured);
  set(json, "low", "high", ranked.range);
  set(json, "bound_low", "bound_high", ranked.bounds);
  json["all_attempts"] = ranked.all_attempts;
  if (ranked.place) json["place"] = ordinal(*ranked.place);
  if (ranked.place && ranked.place->behind) {
    json["behind"] = {{"ahead", ranked.ahead},
                      {"points", json_number(ranked.place->behind->points)}};
    set(json["behind"], "low", "high", ranked.place->behind->interval);
  }
  json["best_rank"] = ranked.best_rank;
  json["worst_rank"] = ranked.worst_rank;
  return json;
}

Json record_json(const Record& record) {
  return {{"won", record.won},
          {"lost", record.lost},
          {"tied", record.tied},
          {"not_comparable", record.not_comparable},
          {"verb", record.verb()}};
}

Json mean_json(const Rubric& rubric, const Mean& mean) {
  const Grade grade = grade_of(rubric, mean.ends());
  return {{"score", json_number(mean.score)},
          {"high", json_number(mean.high)},
          {"letter", grade.letter},
          {"high_letter", grade.high_letter},
          {"graded", mean.graded},
          {"broken", mean.broken},
          {"unmeasured", mean.unmeasured},
          {"of", mean.of},
          {"partial", mean.partial}};
}

void add_card(const ReportedSubmission& submission, Json& json) {
  if (!submission.card) return;
  for (const auto& [key, value] : submission.card->entries())
    json["model_card"][std::string(key)] = value;
}

/// One of several attempts: what it shares with the others stands with their submission.
Json single_json(const Rubric& rubric, const ReportedSubmission& attempt) {
  Json json{{"name", attempt.name}};
  add_card(attempt, json);
  if (attempt.mean) json["mean"] = mean_json(rubric, *attempt.mean);
  return json;
}

Json submission_json(const Rubric& rubric, const ReportedSubmission& submission) {
  Json json{{"name", submission.name}};
  add_card(submission, json);
  if (submission.mean) json["mean"] = mean_json(rubric, *submission.mean);
  if (submission.ranked && submission.ranked->mean) json["rank"] = rank_json(*submission.ranked);
  json["rounds"] = list_of(submission.rounds, round_json);
  json["shape"] = name_of(submission.shape);
  json["sections"] = list_of(submission.sections, profile_json);
  if (!submission.is_reference()) json["total"] = record_json(submission.total);
  return json;
}

Json speed_json(const Rubric& rubric, const SpeedMeasurement& speed) {
  Json json{{"case", speed.case_name},
            {"rounds", speed.rounds},
            {"microseconds", json_number(speed.solution_ns / 1000)},
            {"reference_microseconds", json_number(speed.reference_ns / 1000)},
            {"ratio", json_number(speed.ratio)},
            {"low", json_number(speed.low)},
            {"high", json_number(speed.high)},
            {"noise_low", json_number(speed.noise_low)},
            {"noise_high", json_number(speed.noise_high)},
            {"verdict", rubric.speed_verdict(speed)}};
  set(json, "ceiling_share", ceiling_share(speed.ceiling_share));
  set(json, "reference_ceiling_share", ceiling_share(speed.reference_ceiling_share));
  set(json, "processor_ratio", speed.processor_ratio);
  return json;
}

Json finding_json(const Finding& finding) {
  Json json{{"case", finding.case_name}, {"summary", finding.summary}};
  if (!finding.evidence.empty()) json["evidence"] = finding.evidence;
  return json;
}

Json check_json(const Rubric& rubric, const ReportedCheck& check) {
  const CheckObservation& seen = check.seen;
  Json json{{"id", seen.info.id},
            {"section", name_of(seen.info.section)},
            {"severity", name_of(seen.info.severity)},
            {"weight", json_number(seen.info.weight)},
            {"verdict", name_of(seen.verdict)},
            {"cases", seen.cases}};
  set(json, "share", check.share);
  if (check.lost != 0) json["lost"] = json_number(check.lost);
  if (seen.finding) json["finding"] = finding_json(*seen.finding);
  if (!seen.speeds.empty())
    json["speeds"] = list_of(seen.speeds, [&](const auto& one) { return speed_json(rubric, one); });
  if (!seen.facts.empty())
    json["facts"] = list_of(seen.facts, [](const Fact& fact) {
      return Json{{"name", fact.name}, {"value", json_number(fact.value)}, {"unit", fact.unit}};
    });
  if (!seen.exhibits.empty())
    json["exhibits"] = list_of(seen.exhibits, [](const Exhibit& exhibit) {
      return Json{{"title", exhibit.title}, {"lines", exhibit.lines}};
    });
  return json;
}

void add_score(const CellScore& score, Json& json) {
  json["status"] = name_of(score.status);
  if (score.unproven) json["unproven"] = true;
  if (score.score) {
    json["score"] = json_number(*score.score);
    json["printed"] = score.grade.printed;
    json["letter"] = score.grade.letter;
    json["raw"] = json_number(*score.raw);
    json["high_raw"] = json_number(*score.high_raw);
    json["high"] = json_number(*score.high);
    json["high_printed"] = score.grade.high_printed;
    json["high_letter"] = score.grade.high_letter;
    set(json, "interval_low", "interval_high", *score.range);
  }
  json["passes"] = score.passed;
  json["may_pass"] = score.may_pass;
  json["capped"] = score.capped();
  json["caps"] = list_of(score.caps, [](const Cap& cap) {
    return Json{{"check", cap.check},
                {"severity", name_of(cap.severity)},
                {"cap", json_number(cap.cap)},
                {"not_asked", cap.not_asked}};
  });
  json["sections"] = list_of(score.sections, [](const SectionScore& section) {
    Json one{{"section", name_of(section.section)},
             {"measured", section.measured},
             {"total", section.total},
             {"low", json_number(section.score)},
             {"high", json_number(section.high)}};
    if (section.asked) one["score"] = json_number(section.score);
    return one;
  });
  json["not_measured"] = score.not_measured;
  json["reasons"] = score.reasons;
  json["broken"] = score.broken;
}

Json mean_cell_json(const ReportedMean& mean) {
  Json json{{"submission", mean.row},
            {"challenge", mean.column},
            {"device", name_of(mean.score.key.device)},
            {"from", {{"grader", mean.score.grader_digest}}}};
  if (mean.place) json["place"] = ordinal(*mean.place);
  add_score(mean.score, json);
  json["attempts"] = mean.score.attempts;
  return json;
}

Json cell_json(const Rubric& rubric, const ReportedCell& cell) {
  const Provenance& from = cell.provenance;
  Json json{{"submission", cell.submission()},
            {"challenge", cell.challenge()},
            {"device", name_of(cell.score.key.device)}};
  if (cell.place) json["place"] = ordinal(*cell.place);
  add_score(cell.score, json);
  json["built"] = cell.build.ok;
  json["compiler"] = cell.build.compiler;
  json["warnings"] = cell.build.warnings;
  json["messages"] = cell.build.messages;
  json["asked"] = cell.checks.size();
  json["passed"] = cell.passed;
  json["failed"] = cell.failed;
  json["seed"] = cell.seed.text();
  json["from"] = {{"gauntlet", from.gauntlet_version},
                  {"grader", from.grader_digest},
                  {"solution", from.submission_digest},
                  {"cpu", from.cpu},
                  {"cores", from.cores},
                  {"kernel", from.kernel},
                  {"sandbox", from.sandbox},
                  {"copy_gb_per_s", json_number(from.copy_gb_per_s)},
                  {"fma_gflop_per_s", json_number(from.fma_gflop_per_s)}};
  if (!from.constraint.empty()) json["from"]["constraint"] = from.constraint;
  json["checks"] =
      list_of(cell.checks, [&](const ReportedCheck& check) { return check_json(rubric, check); });
  if (!cell.stated_claims.empty())
    json["stated_claims"] =
        list_of(cell.stated_claims, [](const JudgedClaim& one) { return to_json(one); });
  if (!cell.claims_fault.empty()) json["claims_fault"] = cell.claims_fault;
  return json;
}

Json pair_json(const ReportedPair& pair) {
  Json json{{"first", pair.first}, {"second", pair.second}, {"record", record_json(pair.record)}};
  json["reversed"] = record_json(pair.record.reversed());
  set(json, "mean_difference", pair.mean_difference);
  if (pair.unequal_conditions) json["unequal_conditions"] = *pair.unequal_conditions;
  json["rows"] = list_of(pair.rows, [](const PairRow& row) {
    Json one{{"challenge", row.challenge},
             {"margin", name_of(row.verdict.margin)},
             {"winner", row.verdict.winner}};
    set(one, "difference", row.difference);
    one["edges_first"] = row.edges_first;
    one["edges_second"] = row.edges_second;
    one["edges_none"] = row.edges_none;
    return one;
  });
  return json;
}

Json differentiator_json(const Differentiator& one) {
  return {{"challenge", one.challenge},
          {"device", name_of(one.device)},
          {"check", one.check.id},
          {"severity", name_of(one.check.severity)},
          {"passed", one.passed},
          {"measured", one.measured},
          {"spread", json_number(one.spread)},
          {"stake", json_number(one.stake)},
          {"places", one.places},
          {"winners", one.winners},
          {"first", one.first}};
}

Json sections_json(const Need& need) {
  Json json = Json::object();
  for (std::size_t i = 0; i < need.sections.size(); ++i)
    if (need.sections[i] > 0)
      json[std::string(name_of(static_cast<Section>(i)))] = json_number(need.sections[i]);
  return json;
}

Json pick_json(const Pick& pick) {
  return {{"need", pick.need.id},
          {"title", pick.need.title},
          {"measure", name_of(pick.need.measure)},
          {"sections", sections_json(pick.need)},
          {"rounds", pick.need.rounds},
          {"critical_veto", pick.need.critical_veto},
          {"device", name_of(pick.device)},
          {"submission", pick.submission},
          {"candidates", list_of(pick.candidates, [](const Candidate& candidate) {
             return Json{{"submission", candidate.submission},
                         {"value", json_number(candidate.value)},
                         {"high", json_number(candidate.high)},
                         {"vetoed", candidate.vetoed}};
           })}};
}

Json ledger_json(const LedgerEntry& entry) {
  return {{"when", entry.when},           {"submission", entry.submission},
          {"challenge", entry.challenge}, {"before", entry.before},
          {"after", entry.after},         {"because", entry.because}};
}

Json audit_json(const AuditRecord& audit) {
  return {{"challenge", audit.challenge},
          {"device", name_of(audit.device)},
          {"grader_digest", audit.grader_digest},
          {"mutants", audit.count("mutant")},
          {"mutants_noticed", audit.right("mutant")},
          {"honest_runs", audit.count("honest")},
          {"honest_runs_rejected", audit.count("honest") - audit.right("honest")},
          {"idle_checks", audit.idle_checks}};
}

}  // namespace

Json document(const Aggregate& aggregate) {
  const Rubric& rubric = aggregate.rubric;
  Json json{{"schema", "gauntlet.aggregate/1"}, {"rubric", rubric_json(rubric)}};
  json["challenges"] = list_of(aggregate.challenges, challenge_json);
  json["submissions"] = list_of(aggregate.submissions, [&](const ReportedSubmission& one) {
    return submission_json(rubric, one);
  });
  json["ranking"] = {{"challenges", aggregate.standard_challenges().size()},
                     {"least_p", json_number(aggregate.least_p())}};
  json["attempts"] = list_of(aggregate.attempts, [](const auto& one) { return to_json(one); });
  json["single"] = list_of(aggregate.single,
                           [&](const ReportedSubmission& one) { return single_json(rubric, one); });
  json["means"] = list_of(aggregate.means, mean_cell_json);
  json["pairs"] = list_of(aggregate.pairs, pair_json);
  if (aggregate.pairs_not_listed > 0) json["pairs_not_listed"] = aggregate.pairs_not_listed;
  json["differentiators"] = list_of(aggregate.survey.differentiators, differentiator_json);
  json["failed_by_all"] = list_of(aggregate.survey.failed_by_all, differentiator_json);
  json["passed_by_all"] = aggregate.survey.passed_by_all;
  json["picks"] = list_of(aggregate.picks, pick_json);
  json["ledger"] = list_of(aggregate.ledger, ledger_json);
  json["ledger_lines"] = aggregate.ledger.size();
  json["audits"] = list_of(aggregate.audits, audit_json);
  json["cells"] =
      list_of(aggregate.cells, [&](const ReportedCell& cell) { return cell_json(rubric, cell); });
  return json;
}

}  // namespace gauntlet
