#include "harness/report/report.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

#include "harness/report/plot.h"

namespace gauntlet {

std::string plot_path(const CellObservation& cell, const CheckObservation& check,
                      std::size_t curve) {
  return fmt::format("plots/{}/{}_{}_{}.svg", cell.submission, cell.challenge, check.info.id,
                     curve);
}

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
  for (const auto& cell : input.cells)
    for (const auto& check : cell.checks)
      for (std::size_t i = 0; i < check.curves.size(); ++i)
        pages[plot_path(cell, check, i)] = draw(check.curves[i]);
  return pages;
}

}  // namespace gauntlet
