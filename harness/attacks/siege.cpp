#include "harness/attacks/siege.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include <nlohmann/json.hpp>

#include "harness/attacks/camp.h"
#include "harness/attacks/effects.h"
#include "harness/sandbox/report.h"

namespace gauntlet {
namespace {

using Json = nlohmann::json;

SiegeCell judge_attack(const Attack& attack, const Evidence& seen) {
  SiegeCell cell;
  cell.verdict = seen.verdict;
  cell.bad = succeeded(attack.effect, seen);
  const bool expected = std::find(attack.verdicts.begin(), attack.verdicts.end(), seen.verdict) !=
                        attack.verdicts.end();
  if (cell.bad)
    cell.problem = fmt::format("succeeded: {} {}", attack.effect.kind, attack.effect.word);
  else if (!expected)
    cell.problem = fmt::format("failed, with an unexpected verdict: {}: {}", name_of(seen.verdict),
                               seen.summary);
  return cell;
}

SiegeCell judge_honest(const Evidence& seen) {
  SiegeCell cell;
  cell.verdict = seen.verdict;
  cell.bad = hindered(seen);
  if (cell.bad) cell.problem = fmt::format("hindered: {}: {}", name_of(seen.verdict), seen.summary);
  return cell;
}

Json to_json(const SiegeCell& cell) {
  return {{"bad", cell.bad}, {"problem", cell.problem}, {"verdict", name_of(cell.verdict)}};
}

SiegeCell cell_from(const Json& json) {
  return {json.at("bad"), json.at("problem"), verdict_named(json.at("verdict").get<std::string>())};
}

/// One column of the matrix, in the order of the corpus.
std::vector<SiegeCell> column(const Tier& tier, const AttackCorpus& corpus, Camp& camp,
                              const std::function<void(const std::string&)>& tell) {
  Defences defences;
  defences.walls.namespaces = tier.namespaces;
  tell(fmt::format("{} programs as: {}", corpus.attacks.size() + corpus.honest.size(), tier.name));
  camp.settle();
  std::vector<SiegeCell> cells;
  for (const Attack& attack : corpus.attacks) {
    cells.push_back(judge_attack(attack, camp.try_attack(attack, defences)));
  }
  for (const OddProgram& program : corpus.honest) {
    cells.push_back(judge_honest(camp.try_honest(program, defences)));
  }
  return cells;
}

std::vector<SiegeCell> column_as(const Tier& tier, const AttackCorpus& corpus, Camp& camp,
                                 const std::function<void(const std::string&)>& tell) {
  if (tier.as_root) return column(tier, corpus, camp, tell);
  const std::string text = camp.as_ordinary_user([&] {
    Json cells = Json::array();
    for (const SiegeCell& cell : column(tier, corpus, camp, tell)) cells.push_back(to_json(cell));
    return cells.dump(-1, ' ', false, Json::error_handler_t::replace);
  });
  std::vector<SiegeCell> cells;
  for (const Json& cell : Json::parse(text)) cells.push_back(cell_from(cell));
  return cells;
}

int count(const SiegeReport& report, bool attacks, bool (*counts)(const SiegeCell&)) {
  int found = 0;
  for (const SiegeRow& row : report.rows)
    if (row.category.empty() != attacks)
      found += static_cast<int>(std::count_if(row.cells.begin(), row.cells.end(), counts));
  return found;
}

bool is_bad(const SiegeCell& cell) {
  return cell.bad;
}

}  // namespace

int SiegeReport::attacks() const {
  return static_cast<int>(std::count_if(rows.begin(), rows.end(),
                                        [](const auto& row) { return !row.category.empty(); }));
}

int SiegeReport::honest() const {
  return static_cast<int>(rows.size()) - attacks();
}

int SiegeReport::classes() const {
  std::set<std::string> all;
  for (const SiegeRow& row : rows)
    if (!row.category.empty()) all.insert(row.category);
  return static_cast<int>(all.size());
}

int SiegeReport::successes() const {
  return count(*this, true, is_bad);
}

int SiegeReport::false_alarms() const {
  return count(*this, false, is_bad);
}

int SiegeReport::problems() const {
  const auto has_problem = [](const SiegeCell& cell) { return !cell.problem.empty(); };
  return count(*this, true, has_problem) + count(*this, false, has_problem);
}

bool SiegeReport::ok() const {
  return attacks() > 0 && !rows.front().cells.empty() && problems() == 0;
}

SiegeReport besiege(const Workshop& workshop, const AttackCorpus& corpus,
                    const std::function<void(const std::string&)>& tell) {
  SiegeReport report;
  Camp camp(workshop, corpus);
  report.tiers = tiers_here(camp);
  for (const Attack& attack : corpus.attacks)
    report.rows.push_back({attack.name, attack.category, attack.goal, {}});
  for (const OddProgram& program : corpus.honest)
    report.rows.push_back({program.name, "", program.oddity, {}});
  for (const Tier& tier : report.tiers) {
    if (!tier.why_not.empty()) continue;
    const std::vector<SiegeCell> cells = column_as(tier, corpus, camp, tell);
    for (std::size_t i = 0; i < cells.size(); ++i) report.rows[i].cells.push_back(cells[i]);
  }
  return report;
}

}  // namespace gauntlet
