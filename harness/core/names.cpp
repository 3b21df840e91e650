// SPDX-License-Identifier: Apache-2.0
#include "harness/core/names.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/text.h"

namespace gauntlet {

bool is_plain_name(std::string_view name) {
  const auto first = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const auto later = [&](char c) { return first(c) || c == '.' || c == '-' || c == '_'; };
  return !name.empty() && name.size() <= 64 && first(name[0]) &&
         std::all_of(name.begin(), name.end(), later);
}

std::string why_no_submission_name(std::string_view name) {
  if (!is_plain_name(name))
    return fmt::format(
        "'{}' is no name for a submission: use up to 64 lower-case letters, digits, "
        "'.', '-' and '_', beginning with a letter or digit",
        one_line(name, 80));
  for (const std::string_view ending : {".md", ".svg", ".html", ".json", ".jsonl", ".yaml"})
    if (name.ends_with(ending))
      return fmt::format(
          "'{}' is no name for a submission: it ends in '{}', as files of reports do; "
          "rename its folder",
          name, ending);
  // The page of a pair is called "alpha_vs_bravo": a name that begins, ends or goes on like that
  // would make two pairs of one page.
  if (fmt::format("_{}_", name).find("_vs_") != std::string::npos)
    return fmt::format(
        "'{}' is no name for a submission: reports write 'vs' between the two names "
        "of a pair; rename its folder",
        name);
  return "";
}

}  // namespace gauntlet
