// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/report_input.h"

#include <sstream>

#include "harness/build/challenge.h"
#include "harness/core/files.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

/// The first paragraph of a prompt below its title, on one line.
std::string first_paragraph(const std::string& prompt) {
  std::istringstream lines(prompt);
  std::string paragraph;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() && !paragraph.empty()) break;
    if (line.empty() || line[0] == '#') continue;
    paragraph += (paragraph.empty() ? "" : " ") + line;
  }
  return paragraph;
}

/// Published grades that were imported: <folder>/judged/NAME.yaml.
std::map<std::string, Judgement> judgements(const fs::path& folder) {
  std::map<std::string, Judgement> read;
  if (!fs::is_directory(folder / "judged")) return read;
  for (const auto& entry : fs::directory_iterator(folder / "judged"))
    if (entry.path().extension() == ".yaml")
      read[entry.path().stem().string()] = read_judgement(entry.path());
  return read;
}

}  // namespace

ReportData report_data(const fs::path& folder) {
  return ReportData(folder / "data");
}

fs::path ledger_file(const fs::path& folder) {
  return folder / "data" / "ledger.jsonl";
}

std::vector<CellObservation> published_cells(const Context& context) {
  std::vector<CellObservation> cells;
  for (auto& cell : report_data(context.workspace / "reports").load())
    if (!cell.grade.empty()) cells.push_back(std::move(cell.seen));
  return cells;
}

ReportInput report_frame(const Context& context) {
  ReportInput input;
  input.rubric = context.rubric();
  for (const auto& id : context.challenges()) {
    const Challenge challenge = load_challenge(context.root(), id);
    input.challenges.push_back({id, challenge.title, challenge.difficulty, challenge.round,
                                first_paragraph(read_file(challenge.folder / "PROMPT.md"))});
  }
  input.needs = load_needs(context.root() / "harness" / "score" / "needs.yaml");
  return input;
}

ReportInput report_input(const Context& context, const fs::path& folder) {
  ReportInput input = report_frame(context);
  input.ledger = load_ledger(ledger_file(folder));
  const ReportData data = report_data(folder);
  for (auto& cell : data.load())
    if (!cell.grade.empty()) input.cells.push_back(std::move(cell.seen));
  input.cards = data.cards();
  input.judgements = judgements(folder);
  input.audits = load_audits(folder / "audit");
  return input;
}

}  // namespace gauntlet
