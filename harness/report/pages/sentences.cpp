// SPDX-License-Identifier: Apache-2.0
#include "harness/report/pages/sentences.h"

#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/report/pages/pages.h"
#include "harness/report/text/markdown.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

constexpr double kSignificant = 0.05;  // what is usually asked of p

using Submissions = std::vector<const ReportedSubmission*>;

Submissions placed_on(const Aggregate& all, Device device) {
  Submissions placed;
  for (const auto& submission : all.submissions)
    if (submission.ranked && submission.ranked->place && submission.ranked->device == device)
      placed.push_back(&submission);
  return placed;
}

std::string on(Device device) {
  return device == Device::cpu ? "" : fmt::format(" on {}", name_of(device));
}

/// `placed` in the order of means, best first.
std::string first_place(Claims& claims, const Submissions& placed, Device device,
                        std::string_view page) {
  std::vector<std::string> means;
  std::vector<std::string> places;
  std::vector<std::string> names;
  for (const auto* submission : placed) {
    means.push_back(claims.at(*submission) + "/mean/score");
    places.push_back(claims.at(*submission) + "/rank/place");
    if (submission->ranked->place->number == 1) names.push_back(submission->name);
  }
  const std::string id = fmt::format("{}/first_place{}", page, on(device));
  const std::string of = fmt::format("of the {} graded everywhere{}", placed.size(), on(device));
  if (names.size() == 1)
    return claims.say(
        id,
        fmt::format("{} has the highest mean {}: {}.", names[0], of,
                    points(placed[0]->mean->score)),
        predicate::all({predicate::greatest(means, 0),
                        predicate::count(places, ordinal(*placed[0]->ranked->place), 1)}));
  return claims.say(id,
                    fmt::format("{} share the first place {}: their means cannot be told from "
                                "that of {}.",
                                sentence_list(names), of, names[0]),
                    predicate::count(places, "1st=", names.size()));
}

}  // namespace

std::string what_is_ranked(const Aggregate& all) {
  if (all.attempts.empty())
    return "One attempt each: this ranks submissions; how far the same model would vary was not "
           "measured.";
  std::vector<std::string> several;
  for (const SubmissionAttempts& one : all.attempts)
    several.push_back(fmt::format("{} of {}", one.rows.size(), one.submission));
  const bool others = std::any_of(
      all.submissions.begin(), all.submissions.end(),
      [&](const auto& one) { return !one.is_reference() && !all.attempts_of(one.name); });
  return fmt::format("A submission's score is the mean of its attempts: {}{}.",
                     sentence_list(several),
                     others ? "; one of each other, which says nothing of how far the same model "
                              "would vary"
                            : "");
}

std::string what_data_cannot_tell(const Aggregate& all) {
  const std::string so_few =
      all.least_p() > kSignificant
          ? "so that no result on so few shows who is better at challenges like these"
          : "and a bootstrap over so few gives intervals that are somewhat too narrow";
  return fmt::format(
      "Other challenges could order them otherwise: of two equally good models one wins all {} of "
      "them with probability p = {:.2g} (sign-flip test, two-sided), {}.{}",
      all.standard_challenges().size(), all.least_p(), so_few,
      all.attempts.empty() ? " With one attempt each, chance in writing the solutions is in every "
                             "difference, and nothing here can take it out."
                           : "");
}

std::string what_passes(const Aggregate& all) {
  std::vector<std::string> sections;
  for (const Section section : all.rubric.passing) sections.emplace_back(name_of(section));
  return fmt::format("An attempt passes when it passed every check of {}.",
                     sentence_list(sections));
}

std::string leaders(const Aggregate& all, Claims& claims, std::string_view page) {
  std::string text;
  for (const Device device : kAllDevices) {
    const Submissions placed = placed_on(all, device);
    if (!placed.empty()) text += first_place(claims, placed, device, page) + "\n\n";
  }
  return text.empty() ? "Nobody has a rank yet: that needs a grade in every challenge.\n\n" : text;
}

std::string differentiator_sentence(Claims& claims, const Differentiator& one,
                                    std::string_view page) {
  const std::string at = claims.at(one);
  std::string sentence =
      fmt::format("{}/{} is passed by {} of {}, with {:.1f} points at stake", one.challenge,
                  one.check.id, one.passed, one.measured, one.stake);
  if (one.pivots() > 0)
    sentence += fmt::format("; without it places that change: {}, winners of pairs: {}", one.places,
                            one.winners);
  std::vector<Json> predicates{predicate::equal(at + "/passed", one.passed),
                               predicate::equal(at + "/measured", one.measured),
                               predicate::differentiator(at)};
  if (one.first) sentence += ", and who has the highest mean";
  return claims.say(fmt::format("{}/differentiator/{}/{}/{}", page, one.challenge, one.check.id,
                                name_of(one.device)),
                    sentence + ".", predicate::all(predicates));
}

std::string measure_text(Measure measure, double value) {
  switch (measure) {
    case Measure::speed:
      return ratio_text(value) + "x the reference's speed";
    case Measure::challenges:
      return fmt::format("{:g} challenges", value);
    case Measure::sections:
      return fmt::format("{:.1f} points", value);
    case Measure::lowest_score:
      return fmt::format("no score below {}", points(value));
  }
  return "";
}

std::string pick_sentence(Claims& claims, const Pick& pick, std::string_view page) {
  std::string sentence = fmt::format("{}{}: ", pick.need.title, on(pick.device));
  if (pick.submission.empty()) {
    sentence += "no clear pick";
  } else {
    const Candidate& best = pick.candidates[0];
    const Candidate& second = pick.candidates[1];
    sentence += fmt::format("{}, {}; next {}, {}{}", best.submission,
                            measure_text(pick.need.measure, best.value), second.submission,
                            measure_text(pick.need.measure, second.value),
                            second.vetoed ? ", but with a critical failure" : "");
  }
  return claims.say(fmt::format("{}/pick/{}/{}", page, pick.need.id, name_of(pick.device)),
                    sentence + ".", predicate::pick(claims.at(pick)));
}

std::string record_sentence(Claims& claims, const ReportedPair& pair) {
  const Record& record = pair.record;
  return claims.say(fmt::format("record/{}/{}", pair.first, pair.second),
                    fmt::format("{} {} {}: {} won, {} lost, {} tied, {} not comparable.",
                                pair.first, record.verb(), pair.second, record.won, record.lost,
                                record.tied, record.not_comparable),
                    predicate::record(claims.at(pair)));
}

std::string conditions_text(const ReportedPair& pair) {
  if (!pair.unequal_conditions) return "model card missing";
  return pair.unequal_conditions->empty()
             ? "the same"
             : "not the same: " + markdown::text(sentence_list(*pair.unequal_conditions));
}

std::string pair_table(const Aggregate& all, bool linked) {
  markdown::Table table({"Pair", "Won", "Lost", "Tied", "n/a", "Run under conditions"});
  for (const auto& pair : all.pairs) {
    const std::string words = fmt::format("{} {} {}", pair.first, pair.record.verb(), pair.second);
    const std::string page = "../" + pair_page(pair.first, pair.second);
    table.row({linked ? fmt::format("[{}]({})", words, page) : words,
               std::to_string(pair.record.won), std::to_string(pair.record.lost),
               std::to_string(pair.record.tied), std::to_string(pair.record.not_comparable),
               conditions_text(pair)});
  }
  return table.str();
}

}  // namespace gauntlet
