// SPDX-License-Identifier: Apache-2.0
#include "harness/report/data/packing.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace gauntlet {
namespace {

// What a clock or a sum of floats says is not known to more digits than these; of what is drawn,
// less than a thousandth of the drawing is seen.
constexpr int kDigits = 6;
constexpr int kCurveDigits = 4;
constexpr int kFactDigits = 4;

// A point that lies nearer to the line between its neighbours, as a share of the curve's height,
// is hardly told from it: two pixels.
constexpr double kSeen = 1.0 / 120;

constexpr char kUnit = '\t';   // between a fact's name and its unit
constexpr char kNumber = '#';  // before the number of a common fact
constexpr int kOften = 4;

Json rounded(double value, int digits) {
  if (!std::isfinite(value)) return value;
  if (value == std::floor(value) && std::abs(value) < 1e15) return static_cast<std::int64_t>(value);
  return std::stod(fmt::format("{:.{}g}", value, digits));
}

Json rounded(const Json& value, int digits) {
  return value.is_number_float() ? rounded(value.get<double>(), digits) : value;
}

using Points = std::vector<std::pair<double, double>>;

/// Marks those between the ends that a line between the ends would show wrongly.
void mark_seen(const Points& points, std::size_t first, std::size_t last, double near,
               std::vector<bool>& seen) {
  double farthest = near;
  std::size_t at = first;
  for (std::size_t i = first + 1; i < last; ++i) {
    const double share =
        (points[i].first - points[first].first) / (points[last].first - points[first].first);
    const double line = points[first].second + share * (points[last].second - points[first].second);
    const double off = std::abs(points[i].second - line);
    if (!(off > farthest)) continue;
    farthest = off;
    at = i;
  }
  if (at == first) return;
  seen[at] = true;
  mark_seen(points, first, at, near, seen);
  mark_seen(points, at, last, near, seen);
}

/// Ramer, Douglas and Peucker's way of drawing a line with fewer points. Points that do not go from
/// left to right all stay.
Json seen_points(const Json& pairs) {
  Points points;
  for (const Json& pair : pairs) {
    if (!pair.at(0).is_number() || !pair.at(1).is_number()) return pairs;
    points.emplace_back(pair.at(0).get<double>(), pair.at(1).get<double>());
  }
  const bool ascending =
      std::adjacent_find(points.begin(), points.end(), [](const auto& a, const auto& b) {
        return !(a.first < b.first);
      }) == points.end();
  if (points.size() < 3 || !ascending) return pairs;
  const auto [low, high] = std::minmax_element(
      points.begin(), points.end(), [](auto& a, auto& b) { return a.second < b.second; });
  std::vector<bool> seen(points.size(), false);
  seen.front() = seen.back() = true;
  mark_seen(points, 0, points.size() - 1, (high->second - low->second) * kSeen, seen);
  Json kept = Json::array();
  for (std::size_t i = 0; i < points.size(); ++i)
    if (seen[i])
      kept.push_back(
          {rounded(points[i].first, kCurveDigits), rounded(points[i].second, kCurveDigits)});
  return kept;
}

/// An object with this key would be taken for what fold makes.
bool is_taken(const std::string& key) {
  static const std::set<std::string> kTaken{"", "each", "kinds", "which", "some", "have"};
  return kTaken.contains(key) || key.find_first_not_of("0123456789") == std::string::npos;
}

/// One entry for each of the list's, under what `key_of` says; null where that is no use.
template <class Key, class Value>
Json by_key(const Json& list, const Key& key_of, const Value& value_of) {
  Json object = Json::object();
  for (const Json& one : list) {
    const std::string key = key_of(one);
    if (is_taken(key) || object.contains(key)) return nullptr;
    object[key] = value_of(one);
  }
  return object;
}

Json values_of(const Json& speed, const std::vector<std::string>& fields) {
  Json values = Json::array();
  for (const auto& field : fields) values.push_back(speed.value(field, Json()));
  while (!values.empty() && values.back().is_null()) values.erase(values.end() - 1);
  return values;
}

/// The number alone, where there is nothing besides.
Json value_of(const Json& fact) {
  Json rest = fact;
  for (auto& part : rest) part = rounded(part, kFactDigits);
  if (fact.size() == 3) return rest.at("value");
  rest.erase("name");
  rest.erase("unit");
  return rest;
}

/// "" for a name that cannot be told from what is written around it.
std::string name_and_unit(const Json& fact) {
  const std::string name = fact.at("name");
  if (name.find(kUnit) != std::string::npos || name.starts_with(kNumber)) return "";
  return name + kUnit + fact.at("unit").get<std::string>();
}

std::string with_number(const std::vector<std::string>& common, const std::string& name) {
  const auto at = std::find(common.begin(), common.end(), name);
  return at == common.end() ? name : fmt::format("{}{}", kNumber, at - common.begin());
}

std::string without_number(const std::vector<std::string>& common, const std::string& key) {
  return key.starts_with(kNumber) ? common.at(std::stoul(key.substr(1))) : key;
}

}  // namespace

Json shortened(const Json& value) {
  if (value.is_number_float()) return rounded(value, kDigits);
  if (!value.is_structured()) return value;
  Json result = value;
  for (auto& one : result) one = shortened(one);
  if (!value.is_object() || !value.contains("points")) return result;
  for (auto& point : result["points"]) point = Json::array({point.at("x"), point.at("y")});
  if (value.contains("title")) result["points"] = seen_points(result["points"]);
  return result;
}

void restore_points(Json& value) {
  if (!value.is_structured()) return;
  for (auto& one : value) restore_points(one);
  if (!value.is_object() || !value.contains("points")) return;
  for (auto& point : value["points"]) point = {{"x", point.at(0)}, {"y", point.at(1)}};
}

std::vector<std::string> speed_fields(const std::vector<std::vector<Json>>& checks) {
  std::vector<std::string> fields;
  std::set<std::string> known{"case"};
  for (const auto& cell : checks)
    for (const Json& check : cell)
      for (const Json& speed : check.value("speeds", Json::array()))
        for (const auto& item : speed.items())
          if (known.insert(item.key()).second) fields.push_back(item.key());
  return fields;
}

std::vector<std::string> common_facts(const std::vector<std::vector<Json>>& checks) {
  std::vector<std::string> met;
  std::map<std::string, int> times;
  for (const auto& cell : checks)
    for (const Json& check : cell)
      for (const Json& fact : check.value("facts", Json::array()))
        if (times[name_and_unit(fact)]++ == 0) met.push_back(name_and_unit(fact));
  std::erase_if(met, [&](const auto& name) { return is_taken(name) || times[name] < kOften; });
  return met;
}

void pack(const Shorthand& shorthand, Json& check) {
  if (check.contains("speeds"))
    if (Json packed = by_key(
            check["speeds"], [](const Json& one) { return one.at("case").get<std::string>(); },
            [&](const Json& one) { return values_of(one, shorthand.speeds); });
        !packed.is_null())
      check["speeds"] = std::move(packed);
  if (check.contains("facts"))
    if (Json packed = by_key(
            check["facts"],
            [&](const Json& one) { return with_number(shorthand.facts, name_and_unit(one)); },
            value_of);
        !packed.is_null())
      check["facts"] = std::move(packed);
}

void unpack(const Shorthand& shorthand, Json& check) {
  if (check.contains("speeds") && check["speeds"].is_object()) {
    Json speeds = Json::array();
    for (const auto& item : check["speeds"].items()) {
      Json speed{{"case", item.key()}};
      for (std::size_t i = 0; i < item.value().size(); ++i)
        if (!item.value().at(i).is_null()) speed[shorthand.speeds.at(i)] = item.value().at(i);
      speeds.push_back(std::move(speed));
    }
    check["speeds"] = std::move(speeds);
  }
  if (check.contains("facts") && check["facts"].is_object()) {
    Json facts = Json::array();
    for (const auto& item : check["facts"].items()) {
      const std::string name = without_number(shorthand.facts, item.key());
      const std::size_t end = name.find(kUnit);
      Json fact{{"name", name.substr(0, end)}};
      fact["value"] = item.value().is_object() ? item.value().at("value") : item.value();
      fact["unit"] = end == std::string::npos ? "" : name.substr(end + 1);
      if (item.value().is_object()) fact.update(item.value());
      facts.push_back(std::move(fact));
    }
    check["facts"] = std::move(facts);
  }
}

}  // namespace gauntlet
