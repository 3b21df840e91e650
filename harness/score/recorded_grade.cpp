// SPDX-License-Identifier: Apache-2.0
#include "harness/score/recorded_grade.h"

#include <fmt/format.h>

#include "harness/store/json_fields.h"

namespace gauntlet {

std::string recorded_grade(const std::string& score, const std::string& shown_name) {
  const auto in = JsonFields::of_document(score, shown_name, "gauntlet.score/1");
  if (!in.has("letter")) return in.text("status");
  const std::string letter = in.text("letter");
  const auto printed = in.integer("printed");
  if (!in.has("high_letter") || in.text("high_letter") == letter)
    return fmt::format("{} {}", letter, printed);
  return fmt::format("{}..{}, {} to {}", letter, in.text("high_letter"), printed,
                     in.integer("high_printed"));
}

}  // namespace gauntlet
