// SPDX-License-Identifier: Apache-2.0
// Records and places judged a second time, from aggregate.json alone: what this file and
// harness/score agree on was thought of twice.
#pragma once

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "harness/store/json_fields.h"
#include "tests/report/rescore.h"

namespace gauntlet {
namespace rejudging {

constexpr double kRounding = 1e-6;

struct Judged {
  std::string margin;
  int winner = 0;
};

inline const Json* cell_of(const Json& aggregate, const Json& submission, const Json& challenge) {
  // Cells are sorted by submission, then challenge.
  const Json& cells = aggregate.at("cells");
  const auto key = [](const Json& cell) {
    return std::tie(cell.at("submission").get_ref<const std::string&>(),
                    cell.at("challenge").get_ref<const std::string&>());
  };
  const auto wanted =
      std::tie(submission.get_ref<const std::string&>(), challenge.get_ref<const std::string&>());
  const auto found =
      std::lower_bound(cells.begin(), cells.end(), wanted,
                       [&](const Json& cell, const auto& name) { return key(cell) < name; });
  if (found != cells.end() && key(*found) == wanted) return &*found;
  for (const auto& mean : aggregate.at("means"))
    if (key(mean) == wanted) return &mean;
  return nullptr;
}

inline bool same_grader(const Json& a, const Json& b) {
  return a.at("device") == b.at("device") && a.at("from").at("grader") == b.at("from").at("grader");
}

inline bool fell_into_a_trap(const Json& cell) {
  return std::any_of(cell.at("caps").begin(), cell.at("caps").end(), [](const Json& cap) {
    return cap.at("severity") == "critical" || cap.at("severity") == "fatal";
  });
}

/// By how many points the first is surely ahead; nothing when nobody can say.
inline std::optional<double> lead(const Json& first, const Json& second) {
  const auto number = [](const Json& cell, const char* key) { return cell.at(key).get<double>(); };
  if (!same_grader(first, second)) return std::nullopt;
  const double above = number(first, "score") - number(second, "high");
  const double below = number(second, "score") - number(first, "high");
  if (number(first, "score") == number(first, "high") &&
      number(second, "score") == number(second, "high"))
    return above;
  if (above > 0) return above;
  if (below > 0) return -below;
  return std::nullopt;
}

inline Judged judge(const Json& rubric, const Json* first, const Json* second) {
  if (!first || !second || !first->contains("score") || !second->contains("score"))
    return {"n/a", 0};
  const auto ahead_or_not = lead(*first, *second);
  if (!ahead_or_not) return {"n/a", 0};
  const double ahead = *ahead_or_not;
  const double points = std::abs(ahead);
  if (points == 0 || points < rubric.at("tie_band").get<double>()) return {"Tie", 0};
  const bool upper_trapped = fell_into_a_trap(ahead > 0 ? *first : *second);
  const bool lower_trapped = fell_into_a_trap(ahead > 0 ? *second : *first);
  if (upper_trapped && !lower_trapped) return {"Split", 0};
  const int winner = ahead > 0 ? 1 : -1;
  if (lower_trapped && !upper_trapped) return {"Decisive (critical failure)", winner};
  if (points < rubric.at("narrow_below").get<double>()) return {"Narrow", winner};
  return {points < rubric.at("moderate_below").get<double>() ? "Moderate" : "Decisive", winner};
}

inline std::string name_of_pair(const Json& pair) {
  return fmt::format("{} and {}", pair.at("first").get<std::string>(),
                     pair.at("second").get<std::string>());
}

/// A column's cells on one device that have places.
using Column = std::vector<const Json*>;

/// The places that a cell may have, the last of them first.
struct Places {
  int last = 0;
  int first = 0;
};

/// Of each cell, best score first: by scores alone, then as far as what is missing of the cell
/// itself leaves them open.
inline std::vector<Places> places_in(const Column& column, double band) {
  const auto end = [&](std::size_t i, const char* key) { return column[i]->at(key).get<double>(); };
  const auto before = [&](double score, std::size_t own, const char* key) {
    int count = 1;
    for (std::size_t i = 0; i < column.size(); ++i)
      if (i != own && end(i, key) > score && end(i, key) - score >= band) ++count;
    return count;
  };
  std::vector<Places> places;
  std::size_t head = 0;
  for (std::size_t i = 0; i < column.size(); ++i) {
    const double behind = end(head, "score") - end(i, "score");
    if (behind > 0 && behind >= band) head = i;
    Places own{static_cast<int>(head) + 1, static_cast<int>(head) + 1};
    if (end(i, "high") > end(i, "score")) {
      own.last = std::max(own.last, before(end(i, "score"), i, "high"));
      own.first = std::min(own.first, before(end(i, "high"), i, "score"));
    }
    places.push_back(own);
  }
  return places;
}

/// Scores alone do not say what several attempts share: tests/score/attempts_test.cpp does.
inline bool placed_by_resampling(const Column& column) {
  return std::any_of(column.begin(), column.end(), [](const Json* cell) {
    return cell->contains("attempts") && cell->at("attempts").size() > 1;
  });
}

inline void check_column(const std::string& name, double band, Column& column,
                         std::vector<std::string>& complaints) {
  if (placed_by_resampling(column)) return;
  std::stable_sort(column.begin(), column.end(), [](const Json* a, const Json* b) {
    return a->at("score").get<double>() > b->at("score").get<double>();
  });
  const auto places = places_in(column, band);
  for (std::size_t i = 0; i < column.size(); ++i) {
    const std::string said = column[i]->at("place");
    const std::size_t dots = said.find("..");
    const bool open = dots != std::string::npos;
    const auto sharing = [&](const Places& other) {
      return other.first <= places[i].last && places[i].last <= other.last;
    };
    const bool shared = std::count_if(places.begin(), places.end(), sharing) > 1;
    if (std::stoi(said) != places[i].last || open != (places[i].first < places[i].last) ||
        (open && std::stoi(said.substr(dots + 2)) != places[i].first) ||
        (said.back() == '=') != (shared && !open))
      complaints.push_back(fmt::format("{}: {} has place {} where the scores give {} to {}{}", name,
                                       column[i]->at("submission").get<std::string>(), said,
                                       places[i].last, places[i].first, shared ? ", shared" : ""));
  }
}

/// A letter that the bands do not give for a score, or for the integer that stands for it.
inline bool wrong_letter(const Json& rubric, double score, const Json& printed,
                         const Json& letter) {
  const auto of = [&](double points) {
    for (const auto& band : rubric.at("letters"))
      if (points >= band.at("at_least").get<double>()) return band.at("letter");
    return Json();
  };
  return of(score) != letter || of(printed.get<double>()) != letter;
}

inline void check_cell(const Json& rubric, const Json& cell, std::vector<std::string>& complaints) {
  if (!cell.contains("score")) return;
  const double score = cell.at("score").get<double>();
  const double high = cell.at("high").get<double>();
  const std::string where = fmt::format("{} in {}", cell.at("submission").get<std::string>(),
                                        cell.at("challenge").get<std::string>());
  if (const double again = rescored(rubric, cell, {}); std::abs(again - score) > kRounding)
    complaints.push_back(
        fmt::format("{}: score {:.6f}, its checks give {:.6f}", where, score, again));
  if (score > cell.at("raw").get<double>() || high > cell.at("high_raw").get<double>())
    complaints.push_back(fmt::format("{}: a cap lifted the score", where));
  if (score > high || (score < high && cell.at("reasons").empty()))
    complaints.push_back(fmt::format("{}: {:.6f} to {:.6f} without a reason", where, score, high));
  if (wrong_letter(rubric, score, cell.at("printed"), cell.at("letter")) ||
      wrong_letter(rubric, high, cell.at("high_printed"), cell.at("high_letter")))
    complaints.push_back(fmt::format("{}: letters {} and {} that the scores do not give", where,
                                     cell.at("letter").get<std::string>(),
                                     cell.at("high_letter").get<std::string>()));
}

/// The cells of single attempts in a challenge.
inline std::vector<const Json*> attempts_at(const Json& aggregate, const Json& several,
                                            const Json& challenge) {
  std::vector<const Json*> cells;
  for (const auto& row : several.at("rows"))
    if (const Json* cell = cell_of(aggregate, row, challenge)) cells.push_back(cell);
  return cells;
}

/// What several attempts came to in a challenge, added up anew from their cells.
inline void check_attempts(const Json& aggregate, const Json& several, const Json& said,
                           std::vector<std::string>& complaints) {
  double low = 0;
  double high = 0;
  double best = 0;
  double lowest = 100;
  int passed = 0;
  const auto cells = attempts_at(aggregate, several, said.at("challenge"));
  for (const Json* cell : cells) {
    const double score = cell->value("score", 0.0);
    low += score;
    high += cell->value("high", 100.0);
    best = std::max(best, score);
    lowest = std::min(lowest, score);
    if (cell->at("passes").get<bool>()) ++passed;
  }
  const auto count = static_cast<double>(cells.size());
  const auto off = [&](const char* key, double value) {
    return std::abs(said.at(key).get<double>() - value) > kRounding;
  };
  const Json* mean = cell_of(aggregate, several.at("submission"), said.at("challenge"));
  double none = 1;  // of two attempts, drawn one after the other, none passes
  for (int i = 0; i < 2; ++i) none *= std::max(0.0, count - passed - i) / (count - i);
  if (off("attempts", count) || off("mean", low / count) || off("high", high / count) ||
      off("best", best) || off("lowest", lowest) || off("passed", passed) || !mean ||
      (mean->contains("score") && std::abs(mean->at("score").get<double>() - low / count) > 1e-6) ||
      (count > 1 &&
       std::abs(said.at("pass_at").at(1).at("chance").get<double>() - (1 - none)) > kRounding))
    complaints.push_back(fmt::format("{} in {}: attempts do not add up to what is said of them",
                                     several.at("submission").get<std::string>(),
                                     said.at("challenge").get<std::string>()));
}

/// The differences of a pair's rows, and their mean, from the cells.
inline std::string difference_complaint(const Json& aggregate, const Json& pair) {
  double sum = 0;
  int shared = 0;
  for (const auto& row : pair.at("rows")) {
    if (row.contains("difference") == (row.at("margin") == "n/a"))
      return fmt::format("{}: a difference without a verdict, or the reverse", name_of_pair(pair));
    if (!row.contains("difference")) continue;
    const double difference = lead(*cell_of(aggregate, pair.at("first"), row.at("challenge")),
                                   *cell_of(aggregate, pair.at("second"), row.at("challenge")))
                                  .value_or(0);
    if (std::abs(difference - row.at("difference").get<double>()) > kRounding)
      return fmt::format("{}: a difference that the scores do not have", name_of_pair(pair));
    sum += difference;
    ++shared;
  }
  const double mean = shared > 0 ? pair.at("mean_difference").get<double>() : 0;
  if (shared > 0 && std::abs(mean - sum / shared) > kRounding)
    return fmt::format("{}: mean difference {:.6f}, the rows give {:.6f}", name_of_pair(pair), mean,
                       sum / shared);
  return "";
}

}  // namespace rejudging

/// What is wrong with the record of a pair, one of aggregate.json's `pairs`, judged from the cells
/// of the two anew; empty when it follows from them.
inline std::string record_complaint(const Json& aggregate, const Json& pair) {
  using namespace rejudging;
  std::map<std::string, int> counted{{"won", 0}, {"lost", 0}, {"tied", 0}, {"not_comparable", 0}};
  for (const auto& row : pair.at("rows")) {
    const Judged judged =
        judge(aggregate.at("rubric"), cell_of(aggregate, pair.at("first"), row.at("challenge")),
              cell_of(aggregate, pair.at("second"), row.at("challenge")));
    if (judged.margin != row.at("margin") || judged.winner != row.at("winner"))
      return fmt::format("{} in {}: says {} for {}, the scores give {} for {}", name_of_pair(pair),
                         row.at("challenge").get<std::string>(),
                         row.at("margin").get<std::string>(), row.at("winner").get<int>(),
                         judged.margin, judged.winner);
    ++counted[judged.margin == "n/a" ? "not_comparable"
              : judged.winner > 0    ? "won"
              : judged.winner < 0    ? "lost"
                                     : "tied"];
  }
  const Json& record = pair.at("record");
  const Json& reversed = pair.at("reversed");
  for (const auto& [word, count] : counted)
    if (record.at(word) != count)
      return fmt::format("{}: {} {}, the rows give {}", name_of_pair(pair), word,
                         record.at(word).get<int>(), count);
  if (reversed.at("won") != record.at("lost") || reversed.at("lost") != record.at("won") ||
      reversed.at("tied") != record.at("tied"))
    return fmt::format("{}: the record is not its own reverse", name_of_pair(pair));
  const int lead = counted["won"] - counted["lost"];
  const bool shared = counted["won"] + counted["lost"] + counted["tied"] > 0;
  const char* verb = !shared    ? "shares nothing with"
                     : lead > 0 ? "leads"
                     : lead < 0 ? "trails"
                                : "is level with";
  if (record.at("verb") != verb)
    return fmt::format("{}: '{}' where the record says '{}'", name_of_pair(pair),
                       record.at("verb").get<std::string>(), verb);
  return difference_complaint(aggregate, pair);
}

/// Complaints about records, letters and places that do not follow from the cells' scores: a record
/// must add up to the number of challenges and be its own reverse, places must follow the scores
/// and skip after shared ones, ranges must have a reason, no cap may lift a score, letters are
/// those of the bands.
inline std::vector<std::string> unsound_numbers(const Json& aggregate) {
  using namespace rejudging;
  std::vector<std::string> complaints;
  std::size_t standard = 0;
  for (const auto& challenge : aggregate.at("challenges"))
    if (challenge.at("standard").get<bool>()) ++standard;
  for (const auto& pair : aggregate.at("pairs")) {
    if (pair.at("rows").size() != standard)
      complaints.push_back(fmt::format("{}: {} rows for {} challenges", name_of_pair(pair),
                                       pair.at("rows").size(), standard));
    const std::string complaint = record_complaint(aggregate, pair);
    if (!complaint.empty()) complaints.push_back(complaint);
  }
  std::map<std::string, Column> columns;
  for (const auto& cell : aggregate.at("cells"))
    check_cell(aggregate.at("rubric"), cell, complaints);
  for (const char* list : {"cells", "means"})
    for (const auto& cell : aggregate.at(list))
      if (cell.contains("place"))
        columns[cell.at("challenge").get<std::string>() + " on " +
                cell.at("device").get<std::string>()]
            .push_back(&cell);
  for (const auto& several : aggregate.at("attempts"))
    for (const auto& said : several.at("challenges"))
      check_attempts(aggregate, several, said, complaints);
  for (auto& [name, column] : columns)
    check_column(name, aggregate.at("rubric").at("tie_band").get<double>(), column, complaints);
  return complaints;
}

}  // namespace gauntlet
