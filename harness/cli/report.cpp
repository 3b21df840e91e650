#include "harness/report/report.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/cli/exit_codes.h"
#include "harness/cli/interrupt.h"
#include "harness/cli/report_input.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/machine.h"
#include "harness/core/text.h"
#include "harness/report/replaced.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

/// Such a run would stay the newest until its time has come.
bool lies_ahead(const CellObservation& cell) {
  return cell.provenance.started > utc_now();
}

std::string ahead_of(const std::filesystem::path& file, const CellObservation& cell) {
  return fmt::format("{} says that its run began at {}, which lies ahead of this machine's clock",
                     file.string(), one_line(cell.provenance.started, 40));
}

/// Brings new results into the report's own data, with their receipts. What is there already stays,
/// unless the result is of a later run: a checkout without results/ can still write the whole
/// report.
void take_over(const Context& context, const ResultStore& data) {
  const ResultStore results = context.store();
  for (const auto& cell : data.load_all())
    if (lies_ahead(cell))
      context.remark(ahead_of(data.observation_file(cell.submission, cell.challenge), cell) +
                     ": any other grade replaces it");
  for (const auto& cell : results.load_all()) {
    if (lies_ahead(cell)) {
      context.remark(ahead_of(results.observation_file(cell.submission, cell.challenge), cell) +
                     ": it is not published; set the clock right, or grade again");
      continue;
    }
    const auto known = data.load(cell.submission, cell.challenge);
    if (known && !lies_ahead(*known) && known->provenance.started > cell.provenance.started)
      continue;
    const auto receipt = results.load_receipt(cell.submission, cell.challenge);
    const HoldInterrupts hold;
    data.save(cell);
    data.close_receipt(cell, receipt);
  }
  for (const auto& submission : results.submissions())
    if (const auto papers = results.load_papers(submission)) data.save_papers(submission, *papers);
}

/// What the report that lies there says otherwise.
std::vector<LedgerEntry> replaced_since(const fs::path& published, const ReportInput& now) {
  if (!fs::exists(published)) return {};
  return replaced_grades(read_file(published, kResultFile), published.string(), now, utc_now());
}

/// Pages and plots that this program wrote for a submission or a curve which is gone.
std::vector<std::string> orphans(const fs::path& folder,
                                 const std::map<std::string, std::string>& pages) {
  std::vector<std::string> names;
  for (const char* part : {"submissions", "plots", "pairs", "challenges"}) {
    if (!fs::is_directory(folder / part)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(folder / part)) {
      const std::string name = entry.path().lexically_relative(folder).string();
      const bool ours = entry.path().extension() == ".md" || entry.path().extension() == ".svg";
      if (ours && !pages.count(name) && read_file(entry.path()).rfind(kGeneratedMark, 0) == 0)
        names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> differences(const fs::path& folder,
                                     const std::map<std::string, std::string>& pages) {
  std::vector<std::string> names = orphans(folder, pages);
  for (const auto& [name, content] : pages)
    if (!fs::exists(folder / name) || read_file(folder / name) != content) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

Answer check_report(const Context& context, const fs::path& folder) {
  const auto pages = render_report(report_input(context, folder));
  const auto names = differences(folder, pages);
  Answer answer;
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

Answer report(const Context& context, const ReportOptions& options) {
  if (options.check) return check_report(context, options.folder);
  const ResultStore data = context.store_in(options.folder / "data");
  take_over(context, data);
  ReportInput input = report_input(context, options.folder);
  const auto replaced = replaced_since(options.folder / "aggregate.json", input);
  input.ledger.insert(input.ledger.end(), replaced.begin(), replaced.end());
  const auto pages = render_report(input);
  const auto changed = differences(options.folder, pages);
  const auto gone = orphans(options.folder, pages);
  {
    const HoldInterrupts hold;  // the ledger and the pages belong together
    append_to_ledger(ledger_file(data), replaced);
    for (const auto& name : gone) fs::remove(options.folder / name);
    for (const auto& [name, content] : pages) write_file(options.folder / name, content);
  }
  Answer answer;
  answer.text = fmt::format("{}\n", (options.folder / "README.md").string());
  answer.document = {{"schema", "gauntlet.report/1"},
                     {"folder", options.folder.string()},
                     {"pages", pages.size()},
                     {"changed", Json(changed)}};
  context.remark(fmt::format("{} pages, changed: {}", pages.size(), sentence_list(changed)));
  return answer;
}

}  // namespace gauntlet
