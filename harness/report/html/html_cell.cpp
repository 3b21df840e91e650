// SPDX-License-Identifier: Apache-2.0
#include "harness/report/html/html_cell.h"

#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/report/text/phrases.h"

namespace gauntlet::html {
namespace {

using pugi::xml_node;

std::string anchor_of(const ReportedCell& cell) {
  return fmt::format("cell-{}-{}", file_word(cell.submission()), cell.challenge());
}

std::string grade_of(const ReportedCell& cell) {
  const BoardCell scored{cell.score, cell.place};
  return cell_text(&scored, unicode_signs());
}

void add_sections(xml_node parent, const Aggregate& aggregate, const CellScore& score) {
  if (score.sections.empty()) return;
  auto table = add(parent, "table");
  add(table, "caption", "Sections");
  auto head = add(add(table, "thead"), "tr");
  for (const char* title : {"Section", "Weight", "Score", "Measured in full"})
    add(head, "th", title, {{"scope", "col"}});
  auto body = add(table, "tbody");
  for (const auto& section : score.sections) {
    auto row = add(body, "tr");
    add(row, "th", name_of(section.section), {{"scope", "row"}});
    add(row, "td", points(aggregate.rubric.weight_of(section.section)));
    add(row, "td", section_text(section, unicode_signs()));
    add(row, "td", fmt::format("{} of {}", section.measured, section.total));
  }
}

void add_finding(xml_node list, const ReportedCell& cell, const ReportedCheck& check) {
  const CheckInfo& info = check.seen.info;
  const Finding& found = *check.seen.finding;
  auto item = add(list, "li");
  add(item, "strong", info.id);
  add_text(item, fmt::format(" {} ({}, {}), detects {}", name_of(check.seen.verdict),
                             name_of(info.section), name_of(info.severity), info.detects));
  add(item, "div", found.summary);
  add(add(item, "div"), "code", show_command(cell.submission(), cell.challenge(), info.id));
  std::string evidence;
  for (const auto& line : found.evidence) evidence += line + "\n";
  if (!evidence.empty()) add(item, "pre", printable(evidence, kEvidenceBytes));
}

void add_findings(xml_node parent, const ReportedCell& cell) {
  std::vector<std::string> passed;
  xml_node list;
  for (const auto& check : cell.checks) {
    if (check.seen.verdict == Verdict::passed) passed.push_back(check.seen.info.id);
    if (!check.seen.finding) continue;
    if (!list) list = add(parent, "ul");
    add_finding(list, cell, check);
  }
  if (!cell.build.ok) {
    add(parent, "p", "It does not build. The compiler said:");
    add(parent, "pre", printable(cell.build.messages, kEvidenceBytes));
  }
  if (passed.empty()) return;
  auto details = add(parent, "details");
  add(details, "summary", fmt::format("{} checks passed", passed.size()));
  add(details, "p", sentence_list(passed));
}

void add_measured(xml_node parent, const ReportedCell& cell) {
  xml_node list;
  for (const auto& check : cell.checks)
    for (const Fact& fact : check.seen.facts) {
      if (!list) {
        auto details = add(parent, "details");
        add(details, "summary", "Measured: accuracy, memory, sizes, counts");
        list = add(details, "ul");
      }
      add(list, "li",
          fmt::format("{}, {}: {:.6g} {}", check.seen.info.id, fact.name, fact.value, fact.unit));
    }
}

void add_stated_claims(xml_node parent, const ReportedCell& cell) {
  xml_node list;
  for (const JudgedClaim& one : cell.stated_claims) {
    if (!list) {
      add(parent, "h3", "What it claims, measured");
      list = add(parent, "ul");
    }
    auto item = add(list, "li");
    add(item, "strong", name_of(one.verdict));
    add_text(item, fmt::format(" {} {}: {}{}{}", name_of(one.claim.kind), claimed_text(one.claim),
                               one.measured, one.measured.empty() ? "" : "; ", one.why));
  }
  if (!cell.claims_fault.empty())
    add(parent, "p", "Its claims cannot be read: " + cell.claims_fault);
}

}  // namespace

void add_grade_link(xml_node parent, const ReportedCell& cell) {
  add(parent, "a", grade_of(cell), {{"href", "#" + anchor_of(cell)}});
}

void add_cell(xml_node parent, const Aggregate& aggregate, const ReportedCell& cell) {
  auto section = add(
      parent, "section", "",
      {{"class", "cell"}, {"id", anchor_of(cell)}, {"tabindex", "-1"}, {"aria-label", "Findings"}});
  add(section, "h2",
      fmt::format("{}: {}", cell.submission(), aggregate.challenge(cell.challenge()).about.title));
  auto line = add(section, "p");
  add(line, "strong", grade_of(cell));
  if (cell.score.capped()) add_text(line, ". Capped: " + cap_text(cell.score));
  if (cell.score.open()) add_text(line, fmt::format(". Score {}", ends_text(cell.score.ends())));
  if (cell.score.partial()) add_text(line, ". Not measured: " + sentence_list(cell.score.reasons));
  if (cell.score.unproven) add_text(line, fmt::format(". Not proven: {}", kUnproven));
  add_text(line, ".");
  add_sections(section, aggregate, cell.score);
  add_findings(section, cell);
  add_stated_claims(section, cell);
  add_measured(section, cell);
  add(add(section, "p"), "a", "Back to the matrix", {{"href", "#matrix"}});
}

}  // namespace gauntlet::html
