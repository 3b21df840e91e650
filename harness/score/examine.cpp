// SPDX-License-Identifier: Apache-2.0
// Each kind of assertion against the figures of its own judgement.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/core/text.h"
#include "harness/score/recount.h"

namespace gauntlet {
namespace {

constexpr double kRounding = 1e-9;  // of sums of grade points

std::string figure(double points) {
  return fmt::format("{:.3f}", points);
}

std::string ordinal_of(const std::optional<Place>& place) {
  return place ? ordinal(*place) : "no place";
}

std::string record_text(const Record& record) {
  return fmt::format("{}–{}–{}", record.won, record.lost, record.tied);
}

bool agrees(const Record& record, const stated::Record& said) {
  const auto& f = said.figures;
  if (record.verb() != said.verb) return false;
  if (f.size() == 3) return f[0] == record.won && f[1] == record.lost && f[2] == record.tied;
  return f[0] == record.won + record.tied / 2.0 && f[1] == record.lost + record.tied / 2.0;
}

/// Asks one statement of one recount.
struct Examiner {
  const Recount& recount;
  const Judgement::Statement& statement;

  const Judgement& judgement() const { return recount.judgement(); }
  const std::string& name(const std::string& model) const { return judgement().name_of(model); }

  static Examined answer(bool holds, std::string figures) {
    return {holds ? Truth::holds : Truth::contradicted, std::move(figures)};
  }
  static Examined unknown(std::string why) { return {Truth::cannot_tell, std::move(why)}; }

  std::vector<std::string> complete_models() const {
    std::vector<std::string> ids;
    for (const auto& id : recount.models())
      if (recount.complete(id)) ids.push_back(id);
    return ids;
  }
  std::string names_of(const std::vector<std::string>& ids) const {
    std::vector<std::string> names;
    for (const auto& id : ids) names.push_back(name(id));
    return sentence_list(names);
  }
  Examined no_grade(const std::string& model) const {
    return unknown(fmt::format("{} has no grade there", name(model)));
  }

  /// Grade points of the worst and the best letter.
  std::pair<double, double> extremes(const std::string& model) const {
    std::vector<double> points;
    for (const auto& grade : judgement().grades)
      if (grade.model == model) points.push_back(*letter_points(grade.letter));
    const auto [least, most] = std::minmax_element(points.begin(), points.end());
    return {*least, *most};
  }
  std::string range_text(const std::string& model) const {
    const auto [least, most] = extremes(model);
    return fmt::format("{} {} to {}", name(model), nearest_letters(least).front(),
                       nearest_letters(most).front());
  }

  Examined operator()(const stated::TookPart& said) const {
    const auto mean = recount.mean(said.model);
    const int taken = mean ? mean->graded : 0;
    return answer(taken == said.challenges, fmt::format("a grade in {} challenges", taken));
  }

  Examined operator()(const stated::OnlyComplete& said) const {
    const auto all = complete_models();
    return answer(all == std::vector{said.model},
                  fmt::format("a grade in every challenge: {}", names_of(all)));
  }

  Examined operator()(const stated::Shared& said) const {
    int both = 0;
    for (const auto& challenge : judgement().challenges)
      both += recount.better(said.models, challenge.id).has_value() ? 1 : 0;
    return answer(both == said.challenges, fmt::format("both have a grade in {}", both));
  }

  /// The winners that a document names bind it, and so do the letters that it gives itself.
  Examined operator()(const stated::Record& said) const {
    std::vector<std::string> counts;
    bool holds = true;
    const auto count = [&](const Record& record, std::string_view by) {
      counts.push_back(fmt::format("{} {} {} {} by {}", name(said.models[0]), record.verb(),
                                   name(said.models[1]), record_text(record), by));
      holds = holds && agrees(record, said);
    };
    if (const auto named = recount.named_record(statement.document, said.models))
      count(*named, "the winners that it names");
    if (statement.document == judgement().grades_document)
      count(recount.record(said.models, judgement().document(statement.document).challenges),
            "its letters");
    if (counts.empty()) return unknown("it names no winners of the two");
    return answer(holds, sentence_list(counts));
  }

  Examined operator()(const stated::Rank& said) const {
    const auto mean = recount.mean(said.model);
    if (!mean || !recount.complete(said.model))
      return unknown(fmt::format("took {} of {} challenges: no rank", mean ? mean->graded : 0,
                                 judgement().challenges.size()));
    const auto rank = recount.rank(said.model);
    return answer(rank->number == said.place,
                  fmt::format("{} of the {} that took everything, by a mean of {}", ordinal(*rank),
                              complete_models().size(), figure(mean->score)));
  }

  Examined operator()(const stated::Mean& said) const {
    const auto mean = recount.mean(said.model);
    if (!mean) return no_grade(said.model);
    const auto near = nearest_letters(mean->score);
    bool holds = std::find(near.begin(), near.end(), said.letters.front()) != near.end();
    if (said.letters.size() == 2) {
      const double a = *letter_points(said.letters[0]);
      const double b = *letter_points(said.letters[1]);
      holds =
          mean->score <= std::max(a, b) + kRounding && mean->score >= std::min(a, b) - kRounding;
    }
    return answer(holds, fmt::format("{}, nearest {}", figure(mean->score), sentence_list(near)));
  }

  Examined operator()(const stated::Round& said) const {
    const auto mean = recount.mean(said.model, said.round);
    if (!mean) return no_grade(said.model);
    const auto near = nearest_letters(mean->score);
    const auto place = recount.place(said.model, said.round);
    const bool letter = std::find(near.begin(), near.end(), said.letter) != near.end();
    return answer(letter && place->number == said.place,
                  fmt::format("{}, nearest {}, {}", figure(mean->score), sentence_list(near),
                              ordinal(*place)));
  }

  Examined operator()(const stated::PlaceIn& said) const {
    const auto* grade = judgement().find(said.model, said.challenge);
    if (!grade) return no_grade(said.model);
    const auto place = recount.place(said.model, said.challenge);
    return answer(place->number == said.place,
                  fmt::format("{} is {}", grade->letter, ordinal_of(place)));
  }

  Examined operator()(const stated::GradeIn& said) const {
    const auto* grade = judgement().find(said.model, said.challenge);
    if (!grade) return no_grade(said.model);
    return answer(grade->letter == said.letter, fmt::format("the matrix has {}", grade->letter));
  }

  Examined operator()(const stated::NeverDeclines& said) const {
    std::vector<std::string> means;
    std::vector<std::string> falls;
    double before = 0;
    for (const int round : recount.rounds(said.model)) {
      const double now = recount.mean(said.model, round)->score;
      if (now < before - kRounding) falls.push_back(fmt::format("round {}", round));
      means.push_back(figure(now));
      before = now;
    }
    return answer(falls.empty(), fmt::format("means by round {}; falls in {}",
                                             fmt::join(means, ", "), sentence_list(falls)));
  }

  Examined operator()(const stated::Range& said) const {
    if (!recount.mean(said.model)) return no_grade(said.model);
    const auto [least, most] = extremes(said.model);
    const double a = *letter_points(said.letters[0]);
    const double b = *letter_points(said.letters[1]);
    return answer(std::min(a, b) == least && std::max(a, b) == most, range_text(said.model));
  }

  Examined operator()(const stated::NarrowestRange& said) const {
    const auto width = [&](const std::string& id) {
      const auto [least, most] = extremes(id);
      return most - least;
    };
    const auto all = complete_models();
    if (std::find(all.begin(), all.end(), said.model) == all.end())
      return unknown("did not take every challenge");
    bool alone = true;
    std::vector<std::string> ranges;
    for (const auto& id : all) {
      ranges.push_back(range_text(id));
      alone = alone && (id == said.model || width(id) > width(said.model) + kRounding);
    }
    return answer(alone, sentence_list(ranges));
  }

  Examined operator()(const stated::Wins& said) const {
    bool all = true;
    std::vector<std::string> others;
    for (const auto& challenge : said.challenges) {
      const auto better = recount.better(said.models, challenge);
      if (!better)
        return no_grade(judgement().find(said.models[0], challenge) ? said.models[1]
                                                                    : said.models[0]);
      if (*better > 0) continue;
      all = false;
      others.push_back(fmt::format("{} {} and {}", judgement().challenge(challenge).name,
                                   judgement().find(said.models[0], challenge)->letter,
                                   judgement().find(said.models[1], challenge)->letter));
    }
    return answer(all, all ? "the better letter in each" : sentence_list(others));
  }

  Examined operator()(const stated::Count& said) const {
    return answer(static_cast<int>(said.items.size()) == said.number,
                  fmt::format("{} follow: {}", said.items.size(), sentence_list(said.items)));
  }

  Examined operator()(const stated::Critical& said) const {
    for (const auto& pair : judgement().pairs)
      for (const auto& row : pair.winners)
        if (pair.document == statement.document && row.challenge == said.challenge &&
            row.model == said.model) {
          const std::string& loser = pair.models[pair.models[0] == said.model ? 1 : 0];
          return answer(false,
                        fmt::format("it wins the challenge against {} all the same", name(loser)));
        }
    return answer(true, "it wins against nobody there");
  }
};

}  // namespace

Examined examine(const Recount& recount, const Judgement::Statement& statement) {
  return std::visit(Examiner{recount, statement}, statement.asserts);
}

}  // namespace gauntlet
