// SPDX-License-Identifier: Apache-2.0
#include "harness/score/recount.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <tuple>

namespace gauntlet {
namespace {

double points_of(const Judgement::Grade& grade) {
  return *letter_points(grade.letter);  // reading refuses all others
}

/// One division of whole tenths: equal means are equal doubles, however many grades they are of.
std::optional<Mean> mean_of(const std::vector<const Judgement::Grade*>& grades, std::size_t of) {
  if (grades.empty()) return std::nullopt;
  std::int64_t tenths = 0;
  for (const auto* grade : grades) tenths += std::lround(points_of(*grade) * 10);
  Mean mean;
  mean.graded = static_cast<int>(grades.size());
  mean.of = static_cast<int>(of);
  mean.score = mean.high = static_cast<double>(tenths) / (10.0 * mean.graded);
  return mean;
}

/// The place of `model` among all models by `value`.
template <class Value>
std::optional<Place> place_by(const Judgement& judgement, const std::string& model,
                              const Value& value) {
  std::vector<std::optional<double>> column;
  std::size_t asked = judgement.models.size();
  for (std::size_t i = 0; i < judgement.models.size(); ++i) {
    column.push_back(value(judgement.models[i].id));
    if (judgement.models[i].id == model) asked = i;
  }
  return asked < column.size() ? placements(0, column)[asked] : std::nullopt;
}

std::optional<double> points_of(const std::optional<Mean>& mean) {
  return mean ? std::optional(mean->score) : std::nullopt;
}

CellScore as_score(const Judgement::Grade& grade) {
  CellScore score;
  score.key.challenge = grade.challenge;
  score.score = points_of(grade);
  return score;
}

}  // namespace

std::vector<std::string> Recount::models() const {
  std::vector<std::string> ids;
  for (const auto& model : judgement_.models) ids.push_back(model.id);
  const auto order = [&](const std::string& id) {
    const auto average = mean(id);
    return std::tuple(!complete(id), average ? -average->score : 1.0, id);
  };
  std::sort(ids.begin(), ids.end(),
            [&](const std::string& a, const std::string& b) { return order(a) < order(b); });
  return ids;
}

std::optional<Mean> Recount::mean(const std::string& model) const {
  std::vector<const Judgement::Grade*> grades;
  for (const auto& grade : judgement_.grades)
    if (grade.model == model) grades.push_back(&grade);
  return mean_of(grades, judgement_.challenges.size());
}

std::optional<Mean> Recount::mean(const std::string& model, int round) const {
  std::vector<const Judgement::Grade*> grades;
  std::size_t of = 0;
  for (const auto& challenge : judgement_.challenges) {
    if (challenge.round != round) continue;
    ++of;
    if (const auto* grade = judgement_.find(model, challenge.id)) grades.push_back(grade);
  }
  return mean_of(grades, of);
}

bool Recount::complete(const std::string& model) const {
  const auto average = mean(model);
  return average && average->graded == average->of;
}

std::vector<int> Recount::rounds(const std::string& model) const {
  std::set<int> rounds;
  for (const auto& challenge : judgement_.challenges)
    if (judgement_.find(model, challenge.id)) rounds.insert(challenge.round);
  return {rounds.begin(), rounds.end()};
}

std::optional<Place> Recount::place(const std::string& model, const std::string& challenge) const {
  return place_by(judgement_, model, [&](const std::string& id) -> std::optional<double> {
    const auto* grade = judgement_.find(id, challenge);
    return grade ? std::optional(points_of(*grade)) : std::nullopt;
  });
}

std::optional<Place> Recount::place(const std::string& model, int round) const {
  return place_by(judgement_, model,
                  [&](const std::string& id) { return points_of(mean(id, round)); });
}

std::optional<Place> Recount::rank(const std::string& model) const {
  return place_by(judgement_, model, [&](const std::string& id) {
    return complete(id) ? points_of(mean(id)) : std::nullopt;
  });
}

std::optional<int> Recount::better(const stated::Two& models, const std::string& challenge) const {
  const auto* first = judgement_.find(models[0], challenge);
  const auto* second = judgement_.find(models[1], challenge);
  if (!first || !second) return std::nullopt;
  const CellScore a = as_score(*first);
  const CellScore b = as_score(*second);
  return compare(Rubric{}, &a, &b).winner;
}

Record Recount::record(const stated::Two& models,
                       const std::vector<std::string>& challenges) const {
  Record record;
  for (const auto& challenge : challenges) {
    const auto winner = better(models, challenge);
    record.count(winner ? PairVerdict{Margin::tie, *winner} : PairVerdict{});
  }
  return record;
}

std::optional<Record> Recount::named_record(const std::string& document,
                                            const stated::Two& models) const {
  const stated::Two turned{models[1], models[0]};
  for (const auto& pair : judgement_.pairs) {
    if (pair.document != document || (pair.models != models && pair.models != turned)) continue;
    Record record;
    for (const auto& row : pair.winners)
      record.count({Margin::tie, row.model.empty() ? 0 : row.model == models[0] ? 1 : -1});
    return record;
  }
  return std::nullopt;
}

std::vector<DeniedWinner> denied_winners(const Recount& recount) {
  const Judgement& judgement = recount.judgement();
  std::vector<DeniedWinner> denied;
  for (const auto& pair : judgement.pairs)
    for (const auto& row : pair.winners) {
      const auto better = recount.better(pair.models, row.challenge);
      const int named = row.model.empty() ? 0 : row.model == pair.models[0] ? 1 : -1;
      if (!better || *better == named) continue;
      denied.push_back(
          {&pair, &row,
           fmt::format("{} and {}", judgement.find(pair.models[0], row.challenge)->letter,
                       judgement.find(pair.models[1], row.challenge)->letter)});
    }
  return denied;
}

std::vector<Inversion> inversions(const Judgement& judgement) {
  const auto points = [&](const Judgement::Score& score) -> std::optional<double> {
    const auto* grade = judgement.find(score.model, score.challenge);
    return grade ? letter_points(grade->letter) : std::nullopt;
  };
  std::vector<Inversion> found;
  for (const auto& lower : judgement.scores)
    for (const auto& higher : judgement.scores)
      if (lower.overall <= higher.overall && points(lower) && points(higher) &&
          *points(lower) > *points(higher))
        found.push_back({&lower, &higher});
  return found;
}

}  // namespace gauntlet
