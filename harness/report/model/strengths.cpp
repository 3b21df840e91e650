// SPDX-License-Identifier: Apache-2.0
#include "harness/report/model/strengths.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

constexpr std::size_t kMost = 5;

struct Remark {
  double stake = 0;  // points of the mean, to sort by
  std::string id;
  std::string sentence;
  Json predicate;
};

using Remarks = std::vector<Remark>;

std::vector<std::string> said(const std::string& page, Claims& claims, Remarks remarks) {
  std::stable_sort(remarks.begin(), remarks.end(),
                   [](const Remark& a, const Remark& b) { return a.stake > b.stake; });
  if (remarks.size() > kMost) remarks.resize(kMost);
  std::vector<std::string> sentences;
  for (Remark& remark : remarks)
    sentences.push_back(
        claims.say(page + "/" + remark.id, remark.sentence, std::move(remark.predicate)));
  return sentences;
}

/// Sections that lie apart from the others' mean by the tie band or more; `sign` +1 above, -1
/// below.
void add_sections(const Aggregate& all, const Claims& claims, const ReportedSubmission& submission,
                  int sign, Remarks& remarks) {
  for (std::size_t i = 0; i < submission.sections.size(); ++i) {
    const SectionProfile& profile = submission.sections[i];
    if (!profile.others) continue;
    const double ahead = sign > 0 ? profile.mean.low - profile.others->high
                                  : profile.others->low - profile.mean.high;
    if (ahead <= 0 || ahead < all.rubric.tie_band) continue;
    const std::string at = fmt::format("{}/sections/{}", claims.at(submission), i);
    const std::vector<std::string> places{at + (sign > 0 ? "/mean" : "/high"),
                                          at + (sign > 0 ? "/others_high" : "/others")};
    remarks.push_back({ahead * all.rubric.weight_of(profile.section) / 100,
                       fmt::format("section/{}", name_of(profile.section)),
                       fmt::format("{} {} on average, the others' {}.", name_of(profile.section),
                                   ends_text(profile.mean), ends_text(*profile.others)),
                       sign > 0 ? predicate::greatest(places, all.rubric.tie_band)
                                : predicate::least(places, all.rubric.tie_band)});
  }
}

void add_lone_passes(const Aggregate& all, const Claims& claims, const ReportedCell& own,
                     Remarks& remarks) {
  for (const Differentiator& one : all.survey.differentiators) {
    if (one.challenge != own.challenge() || one.passed != 1 || one.measured < 3) continue;
    const ReportedCheck* seen = own.find(one.check.id);
    if (!seen || seen->seen.verdict != Verdict::passed) continue;
    std::vector<std::string> verdicts{claims.at(own, *seen) + "/verdict"};
    const Json passed = predicate::equal(verdicts.front(), "passed");
    for (const std::size_t i : all.contestants_of(own)) {
      const ReportedCell& rival = all.cells[i];
      const ReportedCheck* other = &rival != &own ? rival.find(one.check.id) : nullptr;
      if (other && other->share) verdicts.push_back(claims.at(rival, *other) + "/verdict");
    }
    remarks.push_back({one.stake, fmt::format("alone/{}/{}", own.challenge(), one.check.id),
                       fmt::format("the only one of {} that passes {} in {}: {}.", one.measured,
                                   one.check.id, own.challenge(), one.check.detects),
                       predicate::all({passed, predicate::count(verdicts, "passed", 1)})});
  }
}

/// One timed case among those of others: their ratios, and whether it is ahead of all of them by
/// more than the noise, or behind for `sign` -1.
struct Contest {
  std::vector<std::string> ratios;  // places in aggregate.json, its own first
  double nearest = 0;
  bool decided = true;
};

Contest contest(const Aggregate& all, const Claims& claims, const ReportedCell& own,
                const ReportedCheck& check, const SpeedMeasurement& speed, int sign) {
  Contest result;
  for (const std::size_t i : all.contestants_of(own)) {
    const ReportedCell& rival = all.cells[i];
    const ReportedCheck* other = &rival != &own ? rival.find(check.seen.info.id) : nullptr;
    for (std::size_t k = 0; other && k < other->seen.speeds.size(); ++k) {
      const SpeedMeasurement& its = other->seen.speeds[k];
      if (its.case_name != speed.case_name) continue;
      result.decided = edge(all.rubric, check, speed, *other, its) == sign;
      if (!result.decided) return result;
      const bool nearer = sign * its.ratio > sign * result.nearest;
      if (result.ratios.empty() || nearer) result.nearest = its.ratio;
      result.ratios.push_back(fmt::format("{}/speeds/{}/ratio", claims.at(rival, *other), k));
    }
  }
  return result;
}

void add_speeds(const Aggregate& all, const Claims& claims, const ReportedCell& own, int sign,
                Remarks& remarks) {
  for (const auto& check : own.checks)
    for (std::size_t i = 0; i < check.seen.speeds.size(); ++i) {
      const SpeedMeasurement& speed = check.seen.speeds[i];
      if (!all.rubric.counts(speed)) continue;
      Contest found = contest(all, claims, own, check, speed, sign);
      if (!found.decided || found.ratios.empty()) continue;
      found.ratios.insert(found.ratios.begin(),
                          fmt::format("{}/speeds/{}/ratio", claims.at(own, check), i));
      remarks.push_back(
          {0, fmt::format("speed/{}/{}/{}", own.challenge(), check.seen.info.id, i),
           fmt::format("{} of {} in {}, {}: {} times the reference's speed, next {}.",
                       sign > 0 ? "fastest" : "slowest", found.ratios.size(), own.challenge(),
                       speed.case_name, ratio_text(speed.ratio), ratio_text(found.nearest)),
           sign > 0 ? predicate::greatest(found.ratios, 0) : predicate::least(found.ratios, 0)});
    }
}

void add_failures(const Claims& claims, const ReportedCell& cell, Remarks& remarks) {
  for (const auto& check : cell.checks) {
    if (!blames_submission(check.seen.verdict) || !cell.score.score) continue;
    const std::string at = claims.at(cell, check);
    remarks.push_back(
        {check.lost, fmt::format("failed/{}/{}", cell.challenge(), check.seen.info.id),
         fmt::format("{} in {} ({}), {}: {}; {:.1f} points.", check.seen.info.id, cell.challenge(),
                     name_of(check.seen.info.severity), name_of(check.seen.verdict),
                     check.seen.info.detects, check.lost),
         predicate::all({predicate::equal(at + "/verdict", name_of(check.seen.verdict)),
                         check.lost != 0 ? predicate::costs(at, claims.at(cell))
                                         : predicate::absent({at + "/lost"})})});
  }
}

void add_first_places(const Aggregate& all, const Claims& claims, const ReportedCell& cell,
                      Remarks& remarks) {
  if (!cell.place || cell.place->number != 1 || cell.place->shared) return;
  std::vector<std::string> scores{claims.at(cell) + "/score"};
  double next = 0;
  for (const std::size_t i : all.contestants_of(cell)) {
    const ReportedCell& rival = all.cells[i];
    if (&rival == &cell || !rival.place) continue;
    scores.push_back(claims.at(rival) + "/high");
    next = std::max(next, *rival.score.high);
  }
  if (scores.size() < 2) return;
  remarks.push_back({*cell.score.score - next, fmt::format("first/{}", cell.challenge()),
                     fmt::format("first of {} in {} with {}, next {}.", scores.size(),
                                 cell.challenge(), points(*cell.score.score), points(next)),
                     predicate::all({predicate::equal(claims.at(cell) + "/place", "1st"),
                                     predicate::greatest(scores, 0)})});
}

std::vector<const ReportedCell*> cells_of(const Aggregate& all,
                                          const ReportedSubmission& submission) {
  std::vector<const ReportedCell*> cells;
  for (const auto& challenge : all.standard_challenges())
    if (const ReportedCell* cell = all.find(submission.name, challenge)) cells.push_back(cell);
  return cells;
}

}  // namespace

std::vector<std::string> strengths(const Aggregate& all, Claims& claims,
                                   const ReportedSubmission& submission) {
  Remarks remarks;
  add_sections(all, claims, submission, 1, remarks);
  for (const ReportedCell* cell : cells_of(all, submission)) {
    add_lone_passes(all, claims, *cell, remarks);
    add_first_places(all, claims, *cell, remarks);
    add_speeds(all, claims, *cell, 1, remarks);
  }
  return said("strength/" + submission.name, claims, std::move(remarks));
}

std::vector<std::string> weaknesses(const Aggregate& all, Claims& claims,
                                    const ReportedSubmission& submission) {
  Remarks remarks;
  add_sections(all, claims, submission, -1, remarks);
  for (const ReportedCell* cell : cells_of(all, submission)) {
    add_failures(claims, *cell, remarks);
    add_speeds(all, claims, *cell, -1, remarks);
  }
  return said("weakness/" + submission.name, claims, std::move(remarks));
}

std::string trajectory_sentence(Claims& claims, const ReportedSubmission& submission,
                                std::string_view page) {
  std::string path;
  for (const RoundScore& round : submission.rounds)
    path += fmt::format("{}{}", path.empty() ? "" : " → ",
                        round.mean ? ends_text(*round.mean) : unicode_signs().absent);
  const std::string_view shape =
      submission.shape == Shape::too_short ? "fewer than 3 rounds" : name_of(submission.shape);
  return claims.say(fmt::format("{}/trajectory/{}", page, submission.name),
                    fmt::format("Round by round {}: {}.", path, shape),
                    predicate::shape(claims.at(submission), name_of(submission.shape)));
}

}  // namespace gauntlet
