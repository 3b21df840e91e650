// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <string>
#include <vector>

#include "harness/store/json_fields.h"
#include "tests/report/rejudge.h"

namespace gauntlet {
namespace claim_checking {

inline const Json& at(const Json& document, const std::string& pointer) {
  return document.at(Json::json_pointer(pointer));
}

inline std::vector<double> numbers_at(const Json& document, const Json& pointers) {
  std::vector<double> numbers;
  for (const auto& pointer : pointers) numbers.push_back(at(document, pointer).get<double>());
  return numbers;
}

/// The first number beyond all others in the direction of `sign`.
inline bool first_leads(const std::vector<double>& numbers, double sign, double by) {
  return std::all_of(numbers.begin() + 1, numbers.end(), [&](double other) {
    const double ahead = sign * (numbers.front() - other);
    return ahead > 0 && ahead >= by;
  });
}

inline std::string shape_of(const Json& submission, double band) {
  struct Round {
    double least = 0;
    double most = 0;
  };
  std::vector<Round> path;
  for (const auto& round : submission.at("rounds"))
    if (round.contains("mean"))
      path.push_back({round["mean"].get<double>(), round["high"].get<double>()});
  if (path.size() < 3) return "too short";
  double low = 100;
  double high = 0;
  for (const Round& round : path) {
    low = std::min(low, round.least);
    high = std::max(high, round.most);
  }
  if (high - low < band) return "flat";
  double deepest_fall = 0;
  double highest_climb = 0;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    deepest_fall = std::max(deepest_fall, path[i].most - path[i + 1].least);
    highest_climb = std::max(highest_climb, path[i + 1].most - path[i].least);
  }
  if (path.back().least - path.front().most >= band && deepest_fall < band) return "rising";
  if (path.front().least - path.back().most >= band && highest_climb < band) return "falling";
  return "no steady direction";
}

/// A number as json_number writes it; an open end of an interval is a word.
inline double number(const Json& json) {
  return json == "inf" ? std::numeric_limits<double>::infinity() : json.get<double>();
}

/// Whom the candidates of a pick leave clearly ahead; nobody when the second is near.
inline std::string picked(const Json& pick, const Json& rubric) {
  const Json* best = nullptr;
  for (const auto& candidate : pick.at("candidates"))
    if (!candidate["vetoed"].get<bool>() && (!best || candidate["value"] > (*best)["value"]))
      best = &candidate;
  if (!best || pick["candidates"].size() < 2) return "";
  const double value = (*best)["value"].get<double>();
  for (const auto& candidate : pick["candidates"]) {
    if (&candidate == best || candidate["vetoed"].get<bool>()) continue;
    const double other = number(candidate["high"]);  // what may be missing of it
    const bool clear =
        pick["measure"] == "speed"        ? value > other * rubric["equal_within"].get<double>()
        : pick["measure"] == "challenges" ? value > other
                                          : value - other >= rubric["tie_band"].get<double>();
    if (!clear) return "";
  }
  return (*best)["submission"].get<std::string>();
}

inline bool holds(const Json& aggregate, const Json& predicate) {
  const std::string kind = predicate.at("kind");
  if (kind == "all")
    return std::all_of(predicate.at("of").begin(), predicate.at("of").end(),
                       [&](const Json& one) { return holds(aggregate, one); });
  const Json& where = predicate.at("at");
  if (kind == "equal") return at(aggregate, where) == predicate.at("value");
  if (kind == "count")
    return std::count_if(where.begin(), where.end(), [&](const Json& pointer) {
             return at(aggregate, pointer) == predicate.at("value");
           }) == predicate.at("exactly").get<std::ptrdiff_t>();
  if (kind == "greatest" || kind == "least")
    return first_leads(numbers_at(aggregate, where), kind == "greatest" ? 1 : -1,
                       predicate.at("by").get<double>());
  if (kind == "near") {
    const auto numbers = numbers_at(aggregate, where);
    return std::abs(numbers.at(0) - numbers.at(1)) < predicate.at("below").get<double>();
  }
  if (kind == "record") return record_complaint(aggregate, at(aggregate, where)).empty();
  if (kind == "shape") {
    const double band = aggregate.at("rubric").at("tie_band").get<double>();
    return shape_of(at(aggregate, where), band) == predicate.at("shape");
  }
  if (kind == "absent")
    return std::none_of(where.begin(), where.end(), [&](const Json& pointer) {
      return aggregate.contains(Json::json_pointer(pointer.get<std::string>()));
    });
  if (kind == "differentiator")
    return differentiator_complaint(aggregate, at(aggregate, where)).empty();
  if (kind == "costs") {
    const Json& check = at(aggregate, where);
    const Json& cell = at(aggregate, predicate.at("cell"));
    const double lost = rescored(aggregate.at("rubric"), cell, {.earned = check.at("id")}) -
                        cell.at("score").get<double>();
    return std::abs(lost - check.at("lost").get<double>()) < 1e-6;
  }
  if (kind == "outside") {
    const Json& claim = at(aggregate, where);
    const double claimed = claim.at("claimed").get<double>();
    return claimed < number(claim.at("possible_low")) ||
           claimed > number(claim.at("possible_high"));
  }
  if (kind == "pick")
    return picked(at(aggregate, where), aggregate.at("rubric")) ==
           at(aggregate, where).at("submission");
  return false;  // a kind that nobody knows proves nothing
}

}  // namespace claim_checking

/// Tries every claim again on what aggregate.json says, and gives a complaint for each that does
/// not hold. Shares no code with what computed the aggregate or made the claims.
inline std::vector<std::string> false_claims(const Json& aggregate, const Json& claims) {
  using namespace claim_checking;
  std::vector<std::string> complaints;
  for (const auto& claim : claims.at("claims")) {
    bool true_again = false;
    std::string why = "its predicate does not hold";
    try {
      true_again = holds(aggregate, claim.at("predicate"));
    } catch (const Json::exception& error) {
      why = error.what();
    }
    if (!true_again)
      complaints.push_back(fmt::format("claim {} ({}): {}", claim.at("id").get<std::string>(),
                                       claim.at("text").get<std::string>(), why));
  }
  return complaints;
}

/// What does not hold of a rendered report: numbers and sentences that its own aggregate.json
/// denies.
inline std::vector<std::string> untruths(const std::map<std::string, std::string>& report) {
  const Json aggregate = Json::parse(report.at("aggregate.json"));
  auto complaints = unsound_numbers(aggregate);
  for (auto& complaint : false_claims(aggregate, Json::parse(report.at("claims.json"))))
    complaints.push_back(std::move(complaint));
  return complaints;
}

}  // namespace gauntlet
