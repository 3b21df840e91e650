// SPDX-License-Identifier: Apache-2.0
#include "harness/report/report.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "harness/cli/exit_codes.h"
#include "harness/cli/report_input.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/hold_interrupts.h"
#include "harness/core/machine.h"
#include "harness/core/text.h"
#include "harness/report/text/phrases.h"
#include "harness/store/reuse.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

using Files = std::map<std::string, std::string>;

/// Such a run would stay the newest until its time has come.
bool lies_ahead(const CellObservation& cell) {
  return cell.provenance.started > utc_now();
}

std::string ahead_of(const std::string& grade, const CellObservation& cell) {
  return fmt::format("{} says that its run began at {}, which lies ahead of this machine's clock",
                     grade, one_line(cell.provenance.started, 40));
}

/// What is published with the new results in it. What is there already stays, unless the result is
/// of a later run: a checkout without results/ can still write the whole report.
std::vector<PublishedCell> taken_over(const Context& context, const Rubric& rubric,
                                      const std::vector<PublishedCell>& published) {
  std::vector<PublishedCell> cells;
  for (const auto& cell : published)
    if (!cell.grade.empty()) cells.push_back(cell);
  for (const auto& cell : cells)
    if (lies_ahead(cell.seen))
      context.remark(ahead_of(fmt::format("the published grade of {} in {}", cell.seen.key.row(),
                                          cell.seen.key.column()),
                              cell.seen) +
                     ": any other grade replaces it");
  std::map<CellKey, std::size_t> places;
  for (std::size_t i = 0; i < cells.size(); ++i) places.emplace(cells[i].seen.key, i);
  const ResultStore results = context.store();
  for (const auto& seen : load_all_marked(results)) {
    if (lies_ahead(seen)) {
      context.remark(ahead_of(results.observation_file(seen.key).string(), seen) +
                     ": it is not published; set the clock right, or grade again");
      continue;
    }
    const auto [place, fresh] = places.emplace(seen.key, cells.size());
    if (fresh) cells.emplace_back();
    PublishedCell& known = cells[place->second];
    if (!lies_ahead(known.seen) && known.seen.provenance.started > seen.provenance.started)
      continue;
    known = {seen, "", "", "", ""};
    const auto receipt = results.load_receipt(seen.key);
    if (!receipt || !seen.unproven.empty()) continue;
    known.commitment = receipt->commitment;
    if (receipt->closing) known.closing = closing_digest(*receipt);
  }
  std::sort(cells.begin(), cells.end(), by_name);
  cells = ReportData::as_kept(cells);  // pages say what their data say
  for (auto& cell : cells) {
    cell.grade = published_grade(rubric, cell.seen);
    cell.rubric = rubric.digest;
  }
  return cells;
}

std::map<std::string, ModelCard> model_cards_of(const Context& context,
                                                const ReportInput& published,
                                                const std::vector<PublishedCell>& cells) {
  std::map<std::string, ModelCard> cards;
  for (const auto& cell : cells) {
    const std::string name = cell.seen.key.generation();
    if (auto now = context.store().load_model_card(cell.seen.key))
      cards[name] = *std::move(now);
    else if (const auto before = published.cards.find(name); before != published.cards.end())
      cards[name] = before->second;
  }
  return cards;
}

/// Pages and plots that this program wrote and that the report has no more.
std::vector<std::string> orphans(const fs::path& folder, const Files& pages) {
  std::vector<std::string> names;
  if (!fs::is_directory(folder)) return names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string();
    const bool ours = entry.path().extension() == ".md" || entry.path().extension() == ".svg";
    if (ours && !pages.count(name) && read_file(entry.path()).rfind(kGeneratedMark, 0) == 0)
      names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Those that belong into the folder that git keeps.
Files for_git(Files files) {
  std::erase_if(files, [](const auto& file) { return !is_for_git(file.first); });
  return files;
}

void write_files(const fs::path& folder, const Files& files) {
  for (const auto& name : orphans(folder, files)) fs::remove(folder / name);
  for (const auto& [name, content] : files)
    if (!fs::exists(folder / name) || read_file(folder / name) != content)
      write_file(folder / name, content);
}

std::vector<std::string> differences(const fs::path& folder, const Files& pages) {
  std::vector<std::string> names = orphans(folder, pages);
  for (const auto& [name, content] : pages)
    if (!fs::exists(folder / name) || read_file(folder / name) != content) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

VerbResult check_report(const Context& context, const fs::path& folder) {
  const auto pages = for_git(render_report(report_input(context, folder)));
  const auto names = differences(folder, pages);
  VerbResult answer;
  answer.document = {{"schema", "gauntlet.report-check/1"}, {"differing", Json(names)}};
  answer.text = names.empty() ? fmt::format("{} pages say what their data say\n", pages.size())
                              : fmt::format(
                                    "these pages are not what their data give: {}; run "
                                    "./gauntlet report and commit what it writes\n",
                                    sentence_list(names));
  if (!names.empty()) answer.exit_code = kExitGateFailed;
  return answer;
}

}  // namespace

VerbResult report(const Context& context, const ReportOptions& options) {
  if (options.check) return check_report(context, options.folder);
  const ReportData data = report_data(options.folder);
  const auto published = data.load();
  ReportInput input = report_input(context, options.folder);
  const auto cells = taken_over(context, input.rubric, published);
  input.cards = model_cards_of(context, input, cells);
  input.cells.clear();
  for (const auto& cell : cells) input.cells.push_back(cell.seen);
  const auto replaced = grade_changes(published, input, utc_now());
  input.ledger.insert(input.ledger.end(), replaced.begin(), replaced.end());
  const Files everything = render_report(input);
  const Files pages = for_git(everything);
  const auto changed = differences(options.folder, pages);
  {
    const HoldInterrupts hold;  // the data, the ledger and the pages belong together
    data.save(cells, input.cards);
    append_to_ledger(ledger_file(options.folder), replaced);
    for (const auto& record : input.audits)  // those of earlier versions in fewer letters
      save_audit(options.folder / "audit", record);
    write_files(options.folder, pages);
    write_files(options.site, everything);
  }
  VerbResult answer;
  answer.text = fmt::format("{}\n{}\n", (options.folder / "README.md").string(),
                            (options.site / "index.html").string());
  answer.document = {{"schema", "gauntlet.report/1"}, {"folder", options.folder.string()},
                     {"site", options.site.string()}, {"pages", pages.size()},
                     {"files", everything.size()},    {"changed", Json(changed)}};
  context.remark(fmt::format("{} pages, changed: {}; {} files of the site", pages.size(),
                             sentence_list(changed), everything.size()));
  return answer;
}

}  // namespace gauntlet
