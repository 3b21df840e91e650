#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "harness/core/entry.h"
#include "harness/core/text.h"
#include "harness/report/markdown.h"
#include "harness/report/phrases.h"
#include "harness/report/report.h"

namespace gauntlet {
namespace {

using markdown::Table;

constexpr std::size_t kWidestMatrix = 6;  // challenges a table; GitHub scrolls beyond 8 columns

std::string title_of(const ReportInput& input, const std::string& name) {
  const Entry entry = Entry::named(name);
  for (const auto& challenge : input.challenges)
    if (challenge.id == entry.challenge)
      return entry.is_standard() ? challenge.title
                                 : fmt::format("{}, {}", challenge.title, entry.size);
  return name;
}

std::string link_to(const std::string& submission) {
  return fmt::format("[{0}](submissions/{0}.md)", submission);
}

/// Equally long runs of columns, none wider than kWidestMatrix.
std::vector<std::vector<std::string>> column_groups(const std::vector<std::string>& challenges) {
  const std::size_t tables = (challenges.size() + kWidestMatrix - 1) / kWidestMatrix;
  std::vector<std::vector<std::string>> groups(tables);
  for (std::size_t i = 0; i < challenges.size(); ++i)
    groups[i * tables / challenges.size()].push_back(challenges[i]);
  return groups;
}

std::string matrix(const ReportInput& input, const Board& board) {
  std::string page;
  const auto groups = column_groups(board.challenges());
  for (const auto& group : groups) {
    const bool last = &group == &groups.back();
    std::vector<std::string> header{"Submission"};
    for (const auto& id : group) header.push_back(markdown::text(title_of(input, id)));
    if (last) header.push_back("Mean");
    Table table(header);
    for (const auto& submission : board.submissions()) {
      std::vector<std::string> row{link_to(submission)};
      for (const auto& id : group)
        row.push_back(cell_text(input.rubric, board.find(submission, id), unicode_signs()));
      if (last) row.push_back(mean_text(input.rubric, board.mean(submission), unicode_signs()));
      table.row(row);
    }
    page += table.str() + "\n";
  }
  return page;
}

/// Cells at other sizes, in a table of their own.
std::string other_sizes(const ReportInput& input, const Board& board) {
  if (board.other_sizes().empty()) return "";
  Table table({"Submission", "At another size", "Grade"}, 2);
  for (const auto& submission : board.submissions())
    for (const auto& name : board.other_sizes())
      if (const BoardCell* cell = board.find(submission, name))
        table.row({link_to(submission), markdown::text(title_of(input, name)),
                   cell_text(input.rubric, cell, unicode_signs())});
  return table.str() + "\n";
}

std::string footnote(const CellObservation& cell, const CellScore& score, const Signs& signs) {
  std::string notes;
  const std::string where = fmt::format("{} in {}: ", cell.submission, cell.challenge);
  if (score.capped())
    notes += fmt::format("- {} {}{}\n", signs.capped, where, markdown::text(cap_text(score)));
  if (score.partial())
    notes +=
        fmt::format("- {} {}not measured: {}{}\n", signs.partial, where,
                    markdown::text(sentence_list(score.not_measured)),
                    score.broken > 0 ? fmt::format("; {} of them through a fault of the grader's; "
                                                   "grade it again",
                                                   score.broken)
                                     : "");
  return notes;
}

std::string footnotes(const ReportInput& input, const Board& board) {
  std::string notes;
  for (const auto& cell : input.cells)
    notes += footnote(cell, board.find(cell.submission, cell.challenge)->score, unicode_signs());
  return notes + "\n" +
         fmt::format(
             "{} capped. {} partial: some checks could not be measured. {} did not take part. n/m: "
             "not measurable on the machine that graded. Solutions ran on the CPU unless the cell "
             "names a device. Places compare cells of one challenge that answered the same "
             "questions on the same device; = shares a place with the first of its group, within "
             "{} points. "
             "The reference takes no place.\n\n",
             unicode_signs().capped, unicode_signs().partial, unicode_signs().absent,
             points(input.rubric.tie_band));
}

/// The failures that lowered a grade.
std::string findings(const ReportInput& input, const Board& board) {
  std::string list;
  for (const auto& cell : input.cells) {
    const CellScore& score = board.find(cell.submission, cell.challenge)->score;
    for (const auto& check : cell.checks) {
      const bool caps = std::any_of(score.caps.begin(), score.caps.end(),
                                    [&](const Cap& cap) { return cap.check == check.info.id; });
      if (!caps || !check.finding) continue;
      list += fmt::format("- **{}**, {}: {} {} ({}): {}  \n  {}\n", cell.submission, cell.challenge,
                          markdown::code(check.info.id), name_of(check.verdict),
                          name_of(check.info.severity), markdown::code(check.finding->summary),
                          markdown::code(show_command(cell, check.info.id)));
    }
  }
  return "## Findings that cap a grade\n\n" + (list.empty() ? "None.\n" : list) + "\n";
}

std::string conditions(const ReportInput& input, const std::string& a, const std::string& b) {
  const auto first = input.papers.find(a);
  const auto second = input.papers.find(b);
  if (first == input.papers.end() || second == input.papers.end()) return "papers missing";
  const auto unequal = unequal_conditions(first->second, second->second);
  return unequal.empty() ? "the same" : "not the same: " + sentence_list(unequal);
}

std::string head_to_head(const ReportInput& input, const Board& board) {
  Table table({"Pair", "Won", "Lost", "Tied", "n/a", "Run under conditions"});
  const auto& names = board.submissions();
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = i + 1; j < names.size(); ++j) {
      if (names[i] == kReferenceName || names[j] == kReferenceName) continue;
      const Record record = board.record(names[i], names[j]);
      table.row({fmt::format("{} {} {}", names[i], record.verb(), names[j]),
                 std::to_string(record.won), std::to_string(record.lost),
                 std::to_string(record.tied), std::to_string(record.not_comparable),
                 markdown::text(conditions(input, names[i], names[j]))});
    }
  if (table.empty()) return "";
  return "## Head to head\n\nFrom the side of the first-named; a challenge counts as n/a unless "
         "both were graded on the same questions and device.\n\n" +
         table.str() + "\n";
}

std::string method(const Rubric& rubric) {
  std::string sections;
  for (const Section section :
       {Section::correctness, Section::robustness, Section::performance, Section::engineering})
    sections += fmt::format("{}{} {}", sections.empty() ? "" : ", ", name_of(section),
                            points(rubric.weight_of(section)));
  std::string letters;
  for (const auto& band : rubric.letters)
    letters += fmt::format("{}{} from {}", letters.empty() ? "" : ", ", band.letter,
                           points(band.at_least));
  return fmt::format(
      "## How grades are made\n\n"
      "Every number here follows from executed checks by `harness/score/rubric.yaml`; none was "
      "typed in. A section's score is the weighted mean of its measured checks; the raw score is "
      "the weighted mean of the sections ({}). A failed check also caps the score: major {}, "
      "critical {}, fatal {}. Letters: {}. A timed check earns its points by the ratio reference "
      "time / "
      "solution time: all at {:g}, none at {:g}, logarithmic between. One attempt each: this ranks "
      "submissions; how far the same model would vary was not measured.\n\n",
      sections, points(rubric.cap_of(Severity::major)), points(rubric.cap_of(Severity::critical)),
      points(rubric.cap_of(Severity::fatal)), letters, rubric.full_ratio, rubric.zero_ratio);
}

std::string provenance(const ReportInput& input) {
  std::set<std::string> lines;
  for (const auto& cell : input.cells) {
    const Provenance& from = cell.provenance;
    lines.insert(
        fmt::format("- Gauntlet {}, {} by grader {}, on {} ({} cores, {}), {}, sandbox {}\n",
                    markdown::text(from.gauntlet_version), markdown::text(cell.challenge),
                    markdown::text(from.grader_digest.substr(0, 12)), markdown::text(from.cpu),
                    from.cores, markdown::text(from.kernel), markdown::text(cell.build.compiler),
                    markdown::text(from.sandbox)));
  }
  std::string text =
      fmt::format("## Made from\n\n- rubric {}\n", input.rubric.digest.substr(0, 12));
  for (const auto& line : lines) text += line;
  return text;
}

}  // namespace

std::string render_index(const ReportInput& input, const Board& board) {
  std::string page = std::string(kGeneratedMark) + "# Results\n\n";
  if (input.cells.empty())
    page += "No submission has been graded yet.\n\n";
  else
    page += matrix(input, board) + other_sizes(input, board) + footnotes(input, board) +
            findings(input, board) + head_to_head(input, board);
  return page + method(input.rubric) + provenance(input);
}

}  // namespace gauntlet
