#include <cmath>
#include <fmt/format.h>

#include "harness/core/entry.h"
#include "harness/report/markdown.h"
#include "harness/report/pages.h"
#include "harness/report/phrases.h"

namespace gauntlet {
namespace {

constexpr std::size_t kShownSummary = 90;  // bytes of a finding, in a table

std::string cut(std::string text) {
  if (text.size() <= kShownSummary) return text;
  std::size_t end = kShownSummary;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + " ...";
}

}  // namespace

std::string submission_page(std::string_view name) {
  return fmt::format("submissions/{}.md", name);
}

std::string challenge_page(std::string_view name) {
  return fmt::format("challenges/{}.md", name);
}

std::string pair_page(std::string_view a, std::string_view b) {
  return fmt::format("pairs/{}_vs_{}.md", std::min(a, b), std::max(a, b));
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

std::string cell_text(const Aggregate& all, const ReportedCell* cell) {
  if (!cell) return unicode_signs().absent;
  const BoardCell scored{cell->score, cell->place};
  return cell_text(all.rubric, &scored, unicode_signs());
}

std::string check_text(const Aggregate& all, std::string_view challenge, std::string_view check,
                       std::string_view up) {
  return fmt::format("{} in {}", markdown::code(check), challenge_link(all, challenge, up));
}

std::string signed_points(double difference) {
  const std::string text = fmt::format("{:+.1f}", difference);
  return text == "+0.0" || text == "-0.0" ? "0" : text;
}

std::string range_text(const Interval& range) {
  return fmt::format("{:.1f}–{:.1f}", range.low, range.high);
}

std::vector<std::vector<std::string>> column_groups(const std::vector<std::string>& names,
                                                    std::size_t widest) {
  const std::size_t tables = (names.size() + widest - 1) / widest;
  std::vector<std::vector<std::string>> groups(tables);
  for (std::size_t i = 0; i < names.size(); ++i)
    groups[i * tables / names.size()].push_back(names[i]);
  return groups;
}

std::string outcome_text(const ReportedCell* cell, std::string_view check) {
  if (!cell) return unicode_signs().absent;
  const ReportedCheck* seen = cell->find(check);
  if (!seen) return cell->score.failed_to_build ? "did not build" : "not asked";
  if (seen->seen.verdict != Verdict::passed) {
    std::string text(name_of(seen->seen.verdict));
    if (seen->seen.finding) text += ": " + cut(seen->seen.finding->summary);
    return text;
  }
  if (!seen->share) return "too noisy";
  if (*seen->share < 1) return fmt::format("{:.0f}% of its points", *seen->share * 100);
  return "passed";
}

std::string picture(std::string_view words, std::string_view path, const std::string& drawing) {
  return drawing.empty() ? "" : fmt::format("![{}]({})\n\n", markdown::text(words), path);
}

std::string speed_text(const SpeedMeasurement& speed) {
  return fmt::format("{}x ({}–{})", ratio_text(speed.ratio), ratio_text(speed.low),
                     ratio_text(speed.high));
}

std::string fact_text(const Fact& fact) {
  return fmt::format("{}: {:.4g} {}", fact.name, fact.value, fact.unit);
}

std::vector<std::string> contestants(const Aggregate& all) {
  std::vector<std::string> names;
  for (const auto& submission : all.submissions)
    if (!submission.is_reference()) names.push_back(submission.name);
  return names;
}

}  // namespace gauntlet
