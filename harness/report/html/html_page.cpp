// SPDX-License-Identifier: Apache-2.0
#include "harness/report/html/html_page.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <openssl/evp.h>

#include "harness/core/digest.h"
#include "harness/core/text.h"
#include "harness/report/html/element.h"
#include "harness/report/html/html_cell.h"
#include "harness/report/model/matrix_text.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

using html::add;
using pugi::xml_node;

constexpr double kUngraded = -1;  // sorts below every score
constexpr double kAbsent = -2;

std::string lower(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word;
}

void add_heading(xml_node row, std::string_view title) {
  add(add(row, "th", "", {{"scope", "col"}}), "button", title, {{"type", "button"}});
}

void add_grade(xml_node row, const Aggregate& aggregate, const std::string& submission,
               const std::string& challenge) {
  const ReportedCell* cell = aggregate.find(submission, challenge);
  if (const auto mean = aggregate.score(submission, challenge); mean && !cell) {
    add(row, "td", matrix_text(aggregate, submission, challenge, unicode_signs()),
        {{"class", lower(mean->score.grade.letter.substr(0, 1))},
         {"data-value", fmt::to_string(mean->score.score.value_or(kUngraded))}});
    return;
  }
  if (!cell) {
    add(add(row, "td", "", {{"data-value", fmt::to_string(kAbsent)}}), "abbr",
        unicode_signs().absent, {{"title", "did not take part"}});
    return;
  }
  const std::string value = fmt::to_string(cell->score.score.value_or(kUngraded));
  html::add_grade_link(
      add(row, "td", "",
          {{"class", lower(cell->score.grade.letter.substr(0, 1))}, {"data-value", value}}),
      *cell);
}

/// What the filter looks into: names, grades, and the checks that failed.
std::string words_of(const Aggregate& aggregate, const ReportedSubmission& submission,
                     const std::vector<std::string>& challenges) {
  std::string words = submission.name;
  if (submission.card) words += " " + submission.card->name;
  for (const auto& challenge : challenges) {
    const ReportedCell* cell = aggregate.find(submission.name, challenge);
    if (!cell) continue;
    words += " " + challenge;
    for (const auto& check : cell->checks)
      if (blames_submission(check.seen.verdict)) words += " " + check.seen.info.id;
  }
  return lower(words);
}

void add_tools(xml_node main) {
  auto tools = add(main, "div", "", {{"id", "tools"}, {"hidden", "hidden"}});
  add(tools, "label", "Filter by submission or failed check", {{"for", "filter"}});
  html::add_text(tools, " ");
  html::add_void(tools, "input", {{"id", "filter"}, {"type", "search"}, {"autocomplete", "off"}});
  html::add_text(tools, " ");
  add(tools, "span", "", {{"id", "status"}, {"role", "status"}});
}

void add_matrix(xml_node main, const Aggregate& aggregate) {
  const auto challenges = aggregate.standard_challenges();
  auto region = add(
      main, "div", "",
      {{"class", "wide"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", "Grade matrix"}});
  auto table = add(region, "table", "", {{"id", "matrix"}});
  add(table, "caption", "Grades, places in brackets. A heading sorts, a grade opens its findings.");
  auto head = add(add(table, "thead"), "tr");
  add_heading(head, "Submission");
  for (const auto& challenge : challenges)
    add_heading(head, aggregate.challenge(challenge).about.title);
  add_heading(head, "Mean");
  auto body = add(table, "tbody");
  for (const auto* rows : {&aggregate.submissions, &aggregate.single})
    for (const auto& submission : *rows) {
      auto row = add(body, "tr", "", {{"data-words", words_of(aggregate, submission, challenges)}});
      add(row, "th", submission.name, {{"scope", "row"}});
      for (const auto& challenge : challenges)
        add_grade(row, aggregate, submission.name, challenge);
      const double mean = submission.mean ? submission.mean->score : kUngraded;
      add(row, "td", matrix_mean(aggregate, submission, unicode_signs()),
          {{"data-value", fmt::to_string(mean)}});
    }
}

/// Cells at other sizes than the standard one have no place in the matrix.
void add_other_sizes(xml_node main, const Aggregate& aggregate) {
  xml_node list;
  for (const auto& challenge : aggregate.challenges)
    for (const auto& row : aggregate.rows())
      if (const auto* cell = aggregate.find(row, challenge.name); cell && !challenge.standard) {
        if (!list) {
          add(main, "h2", "At other sizes");
          list = add(main, "ul");
        }
        html::add_grade_link(add(list, "li", fmt::format("{}, {}: ", row, challenge.about.title)),
                             *cell);
      }
}

std::string head() {
  pugi::xml_document document;
  html::add_void(document, "meta", {{"charset", "utf-8"}});
  const std::string policy =
      fmt::format("default-src 'none'; style-src 'unsafe-inline'; script-src {}",
                  html::script_source(html::page_js));
  html::add_void(document, "meta",
                 {{"http-equiv", "Content-Security-Policy"}, {"content", policy}});
  html::add_void(document, "meta", {{"name", "viewport"}, {"content", "width=device-width"}});
  add(document, "title", "Gauntlet: results");
  return html::markup(document);
}

std::string body(const Aggregate& aggregate) {
  pugi::xml_document document;
  add(document, "h1", "Results");
  add(document, "p",
      fmt::format(
          "{} capped. {} partial: {} {} did not take part. n/m: not measurable on the machine that "
          "graded. A shared place ends in =; 2nd..1st runs from the place of the low end to the "
          "best possible one. The reference takes no place. The same results as pages: README.md.",
          unicode_signs().capped, unicode_signs().partial, kPartial, unicode_signs().absent));
  auto main = add(document, "main");
  add_tools(main);
  add_matrix(main, aggregate);
  add_other_sizes(main, aggregate);
  for (const auto& cell : aggregate.cells) html::add_cell(main, aggregate, cell);
  return html::markup(document);
}

}  // namespace

std::string html::script_source(std::string_view script) {
  const auto digest = sha256_bytes(script);
  unsigned char text[4 * ((std::tuple_size_v<decltype(digest)> + 2) / 3) + 1];
  EVP_EncodeBlock(text, digest.data(), static_cast<int>(digest.size()));
  return fmt::format("'sha256-{}'", reinterpret_cast<const char*>(text));
}

// Style and script are not text as XML has it: an escaped & would be part of them.
std::string render_html(const Aggregate& aggregate) {
  return fmt::format(
      "<!DOCTYPE html>\n{}<html lang=\"en\">\n<head>\n{}<style>{}</style>\n</head>\n"
      "<body>\n{}<script>{}</script>\n</body>\n</html>\n",
      kGeneratedMark, head(), html::page_css, body(aggregate), html::page_js);
}

}  // namespace gauntlet
