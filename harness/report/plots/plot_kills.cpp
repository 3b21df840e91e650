// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/report/plots/plots.h"
#include "harness/report/plots/svg.h"

namespace gauntlet {
namespace {

constexpr double kKillBox = 15;
constexpr double kKillTop = 170;  // for the slanted names of the checks
constexpr double kKillLetter = 6.2;
constexpr double kKillRight = 110;   // the last slanted name leans out
constexpr double kLeastWidth = 640;  // for the title

std::vector<const AuditRecord::Row*> mutants_of(const AuditRecord& audit) {
  std::vector<const AuditRecord::Row*> mutants;
  for (const auto& row : audit.rows)
    if (row.kind == "mutant") mutants.push_back(&row);
  return mutants;
}

std::string summary(const AuditRecord& audit) {
  return fmt::format("{}: {} of {} mutants killed, {} of {} honest runs rejected", audit.entry(),
                     audit.right("mutant"), audit.count("mutant"),
                     audit.count("honest") - audit.right("honest"), audit.count("honest"));
}

std::string in_words(const AuditRecord& audit) {
  std::string text =
      fmt::format("Checks that killed nothing: {}. ",
                  audit.idle_checks.empty() ? "none" : sentence_list(audit.idle_checks));
  for (const auto* mutant : mutants_of(audit)) {
    std::vector<std::string> named;
    for (const KillCount& count : mutant->named) named.push_back(in_words(count));
    const std::string note = mutant->note.empty() ? "" : fmt::format(" ({})", mutant->note);
    text += fmt::format("{}{} killed by {} checks, of those named {}. ", mutant->name, note,
                        mutant->failed_checks.size(), sentence_list(named));
  }
  return text;
}

/// What happened between a mutant and a check; "" when nothing did or had to.
std::string kind_of(const AuditRecord::Row& mutant, const std::string& check) {
  const bool named = std::any_of(mutant.named.begin(), mutant.named.end(),
                                 [&](const KillCount& count) { return count.check == check; });
  if (!contains(mutant.failed_checks, check)) return named ? "missed" : "";
  return named ? "named" : "kill";
}

/// Told apart without the colours: a large box, a small one, a cross.
void draw_meeting(Svg& svg, double x, double y, const std::string& kind) {
  const double inset = kind == "kill" ? 4 : 1.5;
  const double far = kKillBox - inset;
  if (kind == "missed") {
    svg.line(x + inset, y + inset, x + far, y + far, "ceiling");
    svg.line(x + inset, y + far, x + far, y + inset, "ceiling");
  } else {
    svg.box(x + inset, y + inset, far - inset, far - inset, kind);
  }
}

}  // namespace

std::string draw_kills(const AuditRecord& audit) {
  const auto mutants = mutants_of(audit);
  if (mutants.empty()) return "";
  std::size_t longest = 0;
  for (const auto* mutant : mutants) longest = std::max(longest, mutant->name.size());
  const double left = 16 + kKillLetter * static_cast<double>(longest);
  const double width = std::max(
      kLeastWidth, left + kKillBox * static_cast<double>(audit.checks.size()) + kKillRight);
  const double height = kKillTop + kKillBox * static_cast<double>(mutants.size()) + 34;
  Svg svg(width, height, summary(audit), in_words(audit));
  svg.text(12, 22, "start", summary(audit), "title");
  for (std::size_t i = 0; i < audit.checks.size(); ++i)
    svg.slanted(left + kKillBox * (static_cast<double>(i) + 0.5), kKillTop - 6, audit.checks[i]);
  double y = kKillTop;
  for (const auto* mutant : mutants) {
    svg.text(left - 6, y + kKillBox - 4, "end", mutant->name, "small");
    svg.line(left, y + kKillBox, left + kKillBox * static_cast<double>(audit.checks.size()),
             y + kKillBox, "grid");
    for (std::size_t i = 0; i < audit.checks.size(); ++i)
      if (const std::string kind = kind_of(*mutant, audit.checks[i]); !kind.empty())
        draw_meeting(svg, left + kKillBox * static_cast<double>(i), y, kind);
    y += kKillBox;
  }
  svg.text(12, height - 10, "start",
           "large box: a check that must notice the mutant and did; small box: another that did; "
           "cross: one that must and did not",
           "small");
  return svg.str();
}

}  // namespace gauntlet
