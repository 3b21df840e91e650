// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/score/board.h"

namespace gauntlet {

enum class Measure { sections, lowest_score, speed, challenges };
std::string_view name_of(Measure measure);

/// What somebody may want of a submission, as data: harness/score/needs.yaml explains the fields.
struct Need {
  std::string id;
  std::string title;
  Measure measure = Measure::sections;
  std::array<double, 4> sections{};  // weights, for Measure::sections
  std::vector<double> rounds;        // empty: all
  bool critical_veto = false;
};

/// Throw UserError (file, line, key).
std::vector<Need> load_needs(const std::filesystem::path& file);
std::vector<Need> needs_from_yaml(const std::string& text, const std::string& shown_name);

}  // namespace gauntlet
