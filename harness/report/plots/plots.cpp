// SPDX-License-Identifier: Apache-2.0
#include "harness/report/plots/plots.h"

#include "harness/report/model/plot_path.h"
#include "harness/report/plots/curve_plot.h"

namespace gauntlet {

namespace {

void add_curves(const ReportedCell& cell, std::map<std::string, std::string>& plots) {
  for (const auto& check : cell.checks)
    for (std::size_t i = 0; i < check.seen.curves.size(); ++i)
      plots[curve_path(cell, check.seen, i)] = draw(check.seen.curves[i]);
}

}  // namespace

std::map<std::string, std::string> draw_plots(const Aggregate& aggregate) {
  std::map<std::string, std::string> plots;
  if (!aggregate.cells.empty()) {
    plots[kMatrixPlot] = draw_matrix(aggregate);
    plots[kTrajectoryPlot] = draw_trajectory(aggregate);
    plots[kCeilingsPlot] = draw_ceilings(aggregate);
  }
  for (const auto& challenge : aggregate.challenges)
    plots[speed_path(challenge.name)] = draw_speed(aggregate, challenge.name);
  for (const auto& audit : aggregate.audits) plots[kills_path(audit.entry())] = draw_kills(audit);
  for (const auto& cell : aggregate.cells) add_curves(cell, plots);
  std::erase_if(plots, [](const auto& plot) { return plot.second.empty(); });
  return plots;
}

}  // namespace gauntlet
