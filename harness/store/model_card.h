// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gauntlet {

/// How a submission came to be: submissions/<model>/model.yaml. Every value may be `unknown`, none
/// may be missing, so that "nobody knows" is a statement and not an oversight.
struct ModelCard {
  std::string name;  // as reports print it
  std::string provider;
  std::string date;           // of the generation
  std::string prompt_digest;  // of the prompts that the model was given, see prompts_digest
  std::string attempt;        // 1, 2, ... of independent generations
  std::string agent_harness;
  std::string thinking_level;
  std::string quantisation;
  std::string tokens;
  std::string wall_time;

  /// Keys as model.yaml writes them, in its order, with their values.
  std::vector<std::pair<std::string_view, std::string>> entries() const;
};

inline constexpr std::string_view kUnknown = "unknown";

/// Throws UserError (file, line, key) for a missing key, an unknown key or an empty value.
ModelCard read_model_card(const std::filesystem::path& file);
ModelCard model_card_from_yaml(const std::string& text, const std::string& shown_name);

std::string model_card_to_yaml(const ModelCard& card);

/// The conditions in which two cards differ or which either does not know: the reasons why their
/// submissions were "not run under the same conditions". The name is no condition, nor is what came
/// out of the run: date, tokens and time.
std::vector<std::string> unequal_conditions(const ModelCard& a, const ModelCard& b);

}  // namespace gauntlet
