#include "harness/report/report.h"

#include <algorithm>
#include <tuple>

namespace gauntlet {

std::map<std::string, std::string> render_report(const ReportInput& any_order) {
  ReportInput input = any_order;
  std::sort(input.cells.begin(), input.cells.end(), [](const auto& a, const auto& b) {
    return std::tie(a.submission, a.challenge) < std::tie(b.submission, b.challenge);
  });
  std::vector<std::string> ids;
  for (const auto& challenge : input.challenges) ids.push_back(challenge.id);
  const Board board(input.rubric, input.cells, ids);
  std::map<std::string, std::string> pages;
  pages["README.md"] = render_index(input, board);
  for (const auto& submission : board.submissions())
    pages["submissions/" + submission + ".md"] = render_submission(input, board, submission);
  return pages;
}

}  // namespace gauntlet
