#include <algorithm>
#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/report/html.h"
#include "harness/report/phrases.h"

namespace gauntlet {
namespace {

using html::text;

constexpr double kUngraded = -1;  // sorts below every score
constexpr double kAbsent = -2;

std::string anchor(const std::string& submission, const std::string& challenge) {
  return fmt::format("cell-{}-{}", submission, challenge);
}

std::string lower(std::string word) {
  for (char& c : word)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return word;
}

std::string head_cell(const std::string& title) {
  return fmt::format("<th scope=\"col\"><button type=\"button\">{}</button></th>", text(title));
}

std::string matrix_cell(const Aggregate& aggregate, const std::string& submission,
                        const std::string& challenge) {
  const ReportedCell* cell = aggregate.find(submission, challenge);
  if (!cell)
    return fmt::format("<td data-value=\"{}\"><abbr title=\"did not take part\">{}</abbr></td>",
                       kAbsent, unicode_signs().absent);
  const BoardCell scored{cell->score, cell->place};
  return fmt::format("<td class=\"{}\" data-value=\"{}\"><a href=\"#{}\">{}</a></td>",
                     lower(cell->score.letter.substr(0, 1)), cell->score.score.value_or(kUngraded),
                     anchor(submission, challenge),
                     text(cell_text(aggregate.rubric, &scored, unicode_signs())));
}

/// What the filter looks into: names, grades, and the checks that failed.
std::string words_of(const Aggregate& aggregate, const ReportedSubmission& submission,
                     const std::vector<std::string>& challenges) {
  std::string words = submission.name;
  if (submission.papers) words += " " + submission.papers->name;
  for (const auto& challenge : challenges) {
    const ReportedCell* cell = aggregate.find(submission.name, challenge);
    if (!cell) continue;
    words += " " + challenge;
    for (const auto& check : cell->checks)
      if (blames_submission(check.seen.verdict)) words += " " + check.seen.info.id;
  }
  return lower(words);
}

std::string html_matrix(const Aggregate& aggregate) {
  const auto challenges = aggregate.standard_challenges();
  std::string page =
      "<div id=\"tools\" hidden><label for=\"filter\">Filter by submission or failed check</label> "
      "<input id=\"filter\" type=\"search\" autocomplete=\"off\"> <span id=\"status\" "
      "role=\"status\"></span></div>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"Grade matrix\"><table id=\"matrix\"><caption>Grades, places in brackets. A "
      "heading sorts, a grade opens its findings.</caption>\n<thead><tr>" +
      head_cell("Submission");
  for (const auto& challenge : challenges)
    page += head_cell(aggregate.challenge(challenge).about.title);
  page += head_cell("Mean") + "</tr></thead>\n<tbody>\n";
  for (const auto& submission : aggregate.submissions) {
    page += fmt::format("<tr data-words=\"{}\"><th scope=\"row\">{}</th>",
                        text(words_of(aggregate, submission, challenges)), text(submission.name));
    for (const auto& challenge : challenges)
      page += matrix_cell(aggregate, submission.name, challenge);
    page += fmt::format("<td data-value=\"{}\">{}</td></tr>\n",
                        submission.mean ? submission.mean->score : kUngraded,
                        text(mean_text(aggregate.rubric, submission.mean, unicode_signs())));
  }
  return page + "</tbody></table></div>\n";
}

std::string sections(const Aggregate& aggregate, const CellScore& score) {
  std::string table =
      "<table><caption>Sections</caption><thead><tr><th scope=\"col\">Section</th><th "
      "scope=\"col\">Weight</th><th scope=\"col\">Score</th><th scope=\"col\">Measured in "
      "full</th></tr></thead><tbody>";
  for (const auto& section : score.sections)
    table +=
        fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{} of {}</td></tr>",
                    name_of(section.section), points(aggregate.rubric.weight_of(section.section)),
                    section.score ? points(*section.score) : unicode_signs().unmeasured,
                    section.measured, section.total);
  return score.sections.empty() ? "" : table + "</tbody></table>\n";
}

std::string finding(const ReportedCell& cell, const ReportedCheck& check) {
  const Finding& found = *check.seen.finding;
  std::string item = fmt::format(
      "<li><strong>{}</strong> {} ({}, {}), hunts {}<br>{}<br><code>./gauntlet show {} "
      "{}/{}</code>",
      text(check.seen.info.id), name_of(check.seen.verdict), name_of(check.seen.info.section),
      name_of(check.seen.info.severity), text(check.seen.info.attacks), text(found.summary),
      text(cell.submission()), text(cell.challenge()), text(check.seen.info.id));
  std::string evidence;
  for (const auto& line : found.evidence) evidence += line + "\n";
  if (!evidence.empty())
    item += fmt::format("<pre>{}</pre>", text(printable(evidence, kEvidenceBytes)));
  return item + "</li>\n";
}

std::string html_findings(const ReportedCell& cell) {
  std::string list;
  std::vector<std::string> passed;
  for (const auto& check : cell.checks) {
    if (check.seen.finding) list += finding(cell, check);
    if (check.seen.verdict == Verdict::passed) passed.push_back(check.seen.info.id);
  }
  std::string page = list.empty() ? "" : "<ul>\n" + list + "</ul>\n";
  if (!cell.build.ok)
    page += fmt::format("<p>It does not build. The compiler said:</p><pre>{}</pre>\n",
                        text(printable(cell.build.messages, kEvidenceBytes)));
  if (!passed.empty())
    page += fmt::format("<details><summary>{} checks passed</summary><p>{}</p></details>\n",
                        passed.size(), text(sentence_list(passed)));
  return page;
}

std::string stated_claims(const ReportedCell& cell) {
  std::string list;
  for (const JudgedClaim& one : cell.stated_claims)
    list += fmt::format("<li><strong>{}</strong> {} {}: {}{}{}</li>\n", name_of(one.verdict),
                        name_of(one.claim.kind), text(claimed_text(one.claim)), text(one.measured),
                        one.measured.empty() ? "" : "; ", text(one.why));
  if (!list.empty()) list = "<h3>What it claims, measured</h3>\n<ul>\n" + list + "</ul>\n";
  if (!cell.claims_fault.empty())
    list += fmt::format("<p>Its claims cannot be read: {}</p>\n", text(cell.claims_fault));
  return list;
}

std::string cell_section(const Aggregate& aggregate, const ReportedCell& cell) {
  const BoardCell scored{cell.score, cell.place};
  std::string page = fmt::format(
      "<section class=\"cell\" id=\"{}\" tabindex=\"-1\" aria-label=\"Findings\">\n<h2>{}: "
      "{}</h2>\n<p><strong>{}</strong>",
      anchor(cell.submission(), cell.challenge()), text(cell.submission()),
      text(aggregate.challenge(cell.challenge()).about.title),
      text(cell_text(aggregate.rubric, &scored, unicode_signs())));
  if (cell.score.capped()) page += fmt::format(". Capped: {}", text(cap_text(cell.score)));
  if (cell.score.partial())
    page += fmt::format(". Not measured: {}", text(sentence_list(cell.score.not_measured)));
  return page + ".</p>\n" + sections(aggregate, cell.score) + html_findings(cell) +
         stated_claims(cell) + "<p><a href=\"#matrix\">Back to the matrix</a></p>\n</section>\n";
}

/// Cells at other sizes than the standard one have no place in the matrix.
std::string html_other_sizes(const Aggregate& aggregate) {
  std::string list;
  for (const auto& challenge : aggregate.challenges)
    for (const auto& submission : aggregate.submissions)
      if (const auto* cell = aggregate.find(submission.name, challenge.name);
          cell && !challenge.standard) {
        const BoardCell scored{cell->score, cell->place};
        list += fmt::format("<li>{}, {}: <a href=\"#{}\">{}</a></li>\n", text(submission.name),
                            text(challenge.about.title), anchor(submission.name, challenge.name),
                            text(cell_text(aggregate.rubric, &scored, unicode_signs())));
      }
  return list.empty() ? "" : "<h2>At other sizes</h2>\n<ul>\n" + list + "</ul>\n";
}

}  // namespace

std::string render_html(const Aggregate& aggregate) {
  const std::string script(html::kScript);
  std::string page = fmt::format(
      "<!DOCTYPE html>\n{}<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src {}\">\n<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>Gauntlet: results</title>\n<style>{}</style>\n"
      "</head>\n<body>\n<h1>Results</h1>\n",
      kGeneratedMark, html::script_source(script), html::kStyle);
  page += fmt::format(
      "<p>{} capped. {} partial: some checks or timed cases could not be measured. {} did not take "
      "part. n/m: not measurable on the machine that graded. A shared place ends in =. The "
      "reference takes no place. The same results as pages: README.md.</p>\n",
      unicode_signs().capped, unicode_signs().partial, unicode_signs().absent);
  page += "<main>\n" + html_matrix(aggregate) + html_other_sizes(aggregate);
  for (const auto& cell : aggregate.cells) page += cell_section(aggregate, cell);
  return page + "</main>\n<script>" + script + "</script>\n</body>\n</html>\n";
}

}  // namespace gauntlet
