// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "harness/report/pages/pages.h"
#include "harness/report/text/markdown.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {
std::string submission_page(std::string_view name) {
  return fmt::format("submissions/{}.md", file_word(name));
}

std::string challenge_page(std::string_view name) {
  return fmt::format("challenges/{}.md", name);
}

std::string pair_page(std::string_view a, std::string_view b) {
  return fmt::format("pairs/{}_vs_{}.md", file_word(std::min(a, b)), file_word(std::max(a, b)));
}

std::string page_head(std::string_view title, std::string_view up) {
  return fmt::format("{}# {}\n\n[All results]({}README.md)\n\n", kGeneratedMark,
                     markdown::text(title), up);
}

std::string finished(std::string page) {
  while (page.size() > 1 && page.substr(page.size() - 2) == "\n\n") page.pop_back();
  return page;
}

std::string submission_link(std::string_view name, std::string_view up) {
  return fmt::format("[{}]({}{})", name, up, submission_page(name));
}

std::string challenge_link(const Aggregate& all, std::string_view name, std::string_view up) {
  return fmt::format("[{}]({}{})", markdown::text(all.challenge(name).about.title), up,
                     challenge_page(name));
}

std::string cell_text(const ReportedCell* cell) {
  if (!cell) return unicode_signs().absent;
  const BoardCell scored{cell->score, cell->place};
  return cell_text(&scored, unicode_signs());
}

std::string section_text(const CellScore& score, Section section) {
  for (const auto& one : score.sections)
    if (one.section == section) return section_text(one, unicode_signs());
  return unicode_signs().absent;
}

std::string matrix_name(const Aggregate& all, std::string_view name, std::string_view up) {
  const SubmissionAttempts* several = all.attempts_of(name);
  const std::string link = submission_link(name, up);
  return several ? fmt::format("{}, {} attempts", link, several->rows.size()) : link;
}

std::string check_text(const Aggregate& all, std::string_view challenge, std::string_view check,
                       std::string_view up) {
  return fmt::format("{} in {}", markdown::code(check), challenge_link(all, challenge, up));
}

std::vector<std::vector<std::string>> column_groups(const std::vector<std::string>& names,
                                                    std::size_t widest) {
  const std::size_t tables = (names.size() + widest - 1) / widest;
  std::vector<std::vector<std::string>> groups(tables);
  for (std::size_t i = 0; i < names.size(); ++i)
    groups[i * tables / names.size()].push_back(names[i]);
  return groups;
}

std::string picture(const Files& plots, const std::string& path, std::string_view words,
                    std::string_view up) {
  if (!plots.contains(path)) return "";
  return fmt::format("![{}]({}{})\n\n", markdown::text(words), up, path);
}

std::string site_file(std::string_view path) {
  return markdown::code(fmt::format("build/report/{}", path));
}

std::vector<std::string> contestants(const Aggregate& all) {
  std::vector<std::string> names;
  for (const auto& row : all.rows())
    if (!is_reference_row(row)) names.push_back(row);
  return names;
}

}  // namespace gauntlet
