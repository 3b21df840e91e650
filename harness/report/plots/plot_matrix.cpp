// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/report/plots/plots.h"
#include "harness/report/plots/svg.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

constexpr double kGradeBox = 64;
constexpr double kGradeRow = 26;
constexpr double kGradeTop = 150;     // for the slanted names of the challenges
constexpr double kGradeLetter = 7.5;  // pixels that a letter of a name takes

std::string kind_of(const std::string& letter) {
  return letter.empty() ? "none" : std::string(1, static_cast<char>(letter.front() - 'A' + 'a'));
}

std::string words_for(const std::optional<BoardCell>& cell) {
  return cell ? grade_text(cell->score, unicode_signs()) : unicode_signs().absent;
}

/// A range has room for its letters only.
std::string box_text(const std::optional<BoardCell>& cell) {
  if (!cell || !cell->score.grade.spans()) return words_for(cell);
  return fmt::format("{}..{}", cell->score.grade.letter, cell->score.grade.high_letter);
}

std::string in_words(const Aggregate& aggregate, const std::vector<std::string>& challenges) {
  std::string text;
  for (const auto& submission : aggregate.submissions) {
    std::vector<std::string> grades;
    for (const auto& challenge : challenges)
      grades.push_back(
          fmt::format("{} {}", challenge, words_for(aggregate.score(submission.name, challenge))));
    text += fmt::format("{}: {}. ", submission.name, sentence_list(grades));
  }
  return text;
}

}  // namespace

std::string draw_matrix(const Aggregate& aggregate) {
  const auto challenges = aggregate.standard_challenges();
  std::size_t longest = 10;
  for (const auto& submission : aggregate.submissions)
    longest = std::max(longest, submission.name.size());
  const double left = 16 + kGradeLetter * static_cast<double>(longest);
  const double width = left + kGradeBox * static_cast<double>(challenges.size()) + 110;
  const double height =
      kGradeTop + kGradeRow * static_cast<double>(aggregate.submissions.size()) + 12;
  Svg svg(width, height, "Grade matrix", in_words(aggregate, challenges));
  svg.text(12, 22, "start", "Grade matrix", "title");
  for (std::size_t i = 0; i < challenges.size(); ++i)
    svg.slanted(left + kGradeBox * (static_cast<double>(i) + 0.5), kGradeTop - 8, challenges[i]);
  double y = kGradeTop;
  for (const auto& submission : aggregate.submissions) {
    svg.text(left - 8, y + kGradeRow / 2 + 4, "end", submission.name);
    double x = left;
    for (const auto& challenge : challenges) {
      const auto cell = aggregate.score(submission.name, challenge);
      const std::string kind = cell ? kind_of(cell->score.grade.letter) : "none";
      svg.box(x + 1, y + 1, kGradeBox - 2, kGradeRow - 2, kind);
      svg.text(x + kGradeBox / 2, y + kGradeRow / 2 + 4, "middle", box_text(cell),
               kind == "none" ? "" : "on");
      x += kGradeBox;
    }
    y += kGradeRow;
  }
  return svg.str();
}

}  // namespace gauntlet
