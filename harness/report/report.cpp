// SPDX-License-Identifier: Apache-2.0
#include "harness/report/report.h"

#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/report/html/html_page.h"
#include "harness/report/model/plot_path.h"
#include "harness/report/pages/pages.h"
#include "harness/report/plots/plots.h"

namespace gauntlet {
namespace {

void add(Files& pages, const std::string& path, std::string content) {
  if (!pages.emplace(path, std::move(content)).second)
    throw Broken(OwnFault::bug, fmt::format("two pages want to be {}: rename a submission", path));
}

void add_pages(const Aggregate& all, Claims& claims, const Files& plots, Files& pages) {
  add(pages, "README.md", render_index(all, claims, plots));
  for (const auto& column : all.challenges)
    add(pages, challenge_page(column.name), render_challenge(all, claims, column, plots));
  for (const auto& submission : all.submissions)
    add(pages, submission_page(submission.name),
        all.attempts_of(submission.name) ? render_attempts(all, claims, submission)
                                         : render_submission(all, claims, submission));
  for (const auto& attempt : all.single)
    add(pages, submission_page(attempt.name), render_submission(all, claims, attempt));
  if (all.cells.empty()) return;
  add(pages, "ranking.md", render_ranking(all, claims));
  add(pages, "rounds.md", render_rounds(all, claims, plots));
  add(pages, "differentiators.md", render_differentiators(all, claims));
  add(pages, "picks.md", render_picks(all, claims));
  add(pages, "ledger.md", render_ledger(all));
  add(pages, "pairs/README.md", render_pairs(all, claims));
  for (const auto& pair : all.pairs)
    add(pages, pair_page(pair.first, pair.second), render_pair(all, claims, pair));
}

}  // namespace

std::map<std::string, std::string> render_report(const ReportInput& input) {
  const Aggregate all = aggregate(input);
  Claims claims(all);
  const Files plots = draw_plots(all);
  Files pages;
  add_pages(all, claims, plots, pages);
  if (!input.judgements.empty()) add(pages, "judged.md", render_judged(input.judgements, all));
  for (const auto& [path, drawing] : plots) add(pages, path, drawing);
  add(pages, "index.html", render_html(all));
  add(pages, "aggregate.json", json_text(document(all)));
  add(pages, "claims.json", json_text(claims.document()));
  return pages;
}

bool is_for_git(std::string_view path) {
  if (path.ends_with(".md")) return !path.starts_with("pairs/");
  return path == kMatrixPlot || path == kTrajectoryPlot || path == kCeilingsPlot ||
         (path.starts_with("plots/speed/") && path.ends_with(".svg"));
}

}  // namespace gauntlet
