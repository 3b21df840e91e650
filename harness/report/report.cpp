#include "harness/report/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/core/error.h"
#include "harness/report/claim_check.h"
#include "harness/report/html.h"
#include "harness/report/pages.h"
#include "harness/report/plot.h"
#include "harness/report/plots.h"
#include "harness/report/rejudge.h"

namespace gauntlet {
namespace {

using Pages = std::map<std::string, std::string>;

void add(Pages& pages, const std::string& path, std::string content) {
  if (!pages.emplace(path, std::move(content)).second)
    throw Broken(OwnFault::bug, fmt::format("two pages want to be {}: rename a submission", path));
}

void add_curves(const ReportInput& input, Pages& pages) {
  for (const auto& cell : input.cells)
    for (const auto& check : cell.checks)
      for (std::size_t i = 0; i < check.curves.size(); ++i)
        add(pages, plot_path(cell.submission, cell.challenge, check.info.id, i),
            draw(check.curves[i]));
}

void add_pages(const Aggregate& all, Claims& claims, Pages& pages) {
  add(pages, "README.md", render_index(all, claims));
  for (const auto& column : all.challenges)
    add(pages, challenge_page(column.name), render_challenge(all, claims, column));
  for (const auto& submission : all.submissions)
    add(pages, submission_page(submission.name), render_submission(all, claims, submission));
  if (all.cells.empty()) return;
  add(pages, "ranking.md", render_ranking(all, claims));
  add(pages, "rounds.md", render_rounds(all, claims));
  add(pages, "differentiators.md", render_differentiators(all, claims));
  add(pages, "picks.md", render_picks(all, claims));
  add(pages, "ledger.md", render_ledger(all));
  add(pages, "pairs/README.md", render_pairs(all, claims));
  for (const auto& pair : all.pairs)
    add(pages, pair_page(pair.first, pair.second), render_pair(all, claims, pair));
}

void require_truth(const Json& aggregate, const Json& claims) {
  auto complaints = unsound_numbers(aggregate);
  for (auto& complaint : false_claims(aggregate, claims)) complaints.push_back(complaint);
  if (complaints.empty()) return;
  if (complaints.size() > 5) complaints.resize(5);
  throw Broken(OwnFault::bug, fmt::format("the report would say what does not hold:\n  {}",
                                          fmt::join(complaints, "\n  ")));
}

}  // namespace

std::string plot_path(std::string_view submission, std::string_view challenge,
                      std::string_view check, std::size_t curve) {
  return fmt::format("plots/{}/{}_{}_{}.svg", submission, challenge, check, curve);
}

std::map<std::string, std::string> render_report(const ReportInput& input) {
  const Aggregate all = aggregate(input);
  Claims claims(all);
  Pages pages;
  add_pages(all, claims, pages);
  if (!input.judgements.empty()) add(pages, "judged.md", render_judged(input.judgements, all));
  add_curves(input, pages);
  for (auto& [path, drawing] : draw_plots(all)) add(pages, path, std::move(drawing));
  add(pages, "index.html", render_html(all));
  const Json numbers = document(all);
  const Json sentences = claims.document();
  require_truth(numbers, sentences);
  add(pages, "aggregate.json", json_text(numbers));
  add(pages, "claims.json", json_text(sentences));
  return pages;
}

}  // namespace gauntlet
