// SPDX-License-Identifier: Apache-2.0
// Scores computed a second time, from aggregate.json alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <string>
#include <vector>

#include "harness/store/json_fields.h"

namespace gauntlet {

/// A check that a score leaves out, or takes for passed with all its points.
struct WhatIf {
  std::string never_asked = {};
  std::string earned = {};
};

namespace rescoring {

struct Sum {
  double points = 0;
  double weight = 0;
};

inline bool has_cap(const Json& cell, const std::string& name) {
  return std::any_of(cell.at("caps").begin(), cell.at("caps").end(),
                     [&](const Json& cap) { return cap.at("check") == name; });
}

inline const Json* find_check(const Json& cell, const Json& id) {
  for (const auto& check : cell.at("checks"))
    if (check.at("id") == id) return &check;
  return nullptr;
}

}  // namespace rescoring

/// The score of one of aggregate.json's `cells`, from the shares and weights of its checks.
inline double rescored(const Json& rubric, const Json& cell, const WhatIf& what_if) {
  using namespace rescoring;
  if (has_cap(cell, "build") || has_cap(cell, "output"))
    return rubric.at("caps").at("fatal").get<double>();
  std::map<std::string, Sum> sections;
  double cap = 100;
  for (const auto& check : cell.at("checks")) {
    const std::string& id = check.at("id").get_ref<const std::string&>();
    if (id == what_if.never_asked) continue;
    const bool earned = id == what_if.earned;
    const std::string severity =
        check.at("verdict") == "cheated" ? "fatal" : check.at("severity").get<std::string>();
    const bool failed = check.at("verdict") != "passed" && !earned;
    if (failed) cap = std::min(cap, rubric.at("caps").at(severity).get<double>());
    Sum& sum = sections[check.at("section")];
    const double weight = check.at("weight").get<double>();
    sum.points += weight * (earned ? 1 : check.value("share", 0.0));
    sum.weight += weight;
  }
  Sum raw;
  for (const auto& [section, sum] : sections) {
    const double weight = rubric.at("sections").at(section).get<double>();
    raw.points += weight * sum.points / sum.weight;
    raw.weight += weight;
  }
  return raw.weight == 0 ? 0 : std::min(cap, 100 * raw.points / raw.weight);
}

/// What is wrong with one of aggregate.json's `differentiators`, counted and scored anew.
inline std::string differentiator_complaint(const Json& aggregate, const Json& one) {
  using namespace rescoring;
  const Json& rubric = aggregate.at("rubric");
  int passed = 0;
  int measured = 0;
  double most = 0;
  double least = 100;
  for (const auto& cell : aggregate.at("cells")) {
    if (cell.at("challenge") != one.at("challenge") || cell.at("submission") == "reference" ||
        cell.at("device") != one.at("device"))
      continue;
    const Json* check = find_check(cell, one.at("check"));
    if (!check || !check->contains("share")) continue;
    ++measured;
    if (check->at("verdict") == "passed") ++passed;
    const double lost =
        rescored(rubric, cell, {.earned = one.at("check")}) - rescored(rubric, cell, {});
    most = std::max(most, lost);
    least = std::min(least, lost);
  }
  if (passed != one.at("passed") || measured != one.at("measured"))
    return fmt::format("{}: {} of {} pass, not {} of {}", one.at("check").get<std::string>(),
                       passed, measured, one.at("passed").get<int>(),
                       one.at("measured").get<int>());
  const double stake = one.at("stake").get<double>();
  if (std::abs(stake - (most - least)) > 1e-6)
    return fmt::format("{}: {:.6f} points at stake, not {:.6f}", one.at("check").get<std::string>(),
                       most - least, stake);
  return "";
}

}  // namespace gauntlet
