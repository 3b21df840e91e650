#include "harness/attacks/attack_matrix.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include <nlohmann/json.hpp>

#include "harness/attacks/effects.h"
#include "harness/attacks/testbed.h"
#include "harness/sandbox/report.h"

namespace gauntlet {
namespace {

using Json = nlohmann::json;

AttackCell judge_attack(const Attack& attack, const Evidence& seen) {
  AttackCell cell;
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

AttackCell judge_honest(const Evidence& seen) {
  AttackCell cell;
  cell.verdict = seen.verdict;
  cell.bad = hindered(seen);
  if (cell.bad) cell.problem = fmt::format("hindered: {}: {}", name_of(seen.verdict), seen.summary);
  return cell;
}

Json to_json(const AttackCell& cell) {
  return {{"bad", cell.bad}, {"problem", cell.problem}, {"verdict", name_of(cell.verdict)}};
}

AttackCell cell_from(const Json& json) {
  return {json.at("bad"), json.at("problem"), verdict_named(json.at("verdict").get<std::string>())};
}

/// One column of the matrix, in the order of the corpus.
std::vector<AttackCell> column(const Tier& tier, const AttackCorpus& corpus, Testbed& testbed,
                               const std::function<void(const std::string&)>& tell) {
  Defences defences;
  defences.walls.namespaces = tier.namespaces;
  tell(fmt::format("{} programs as: {}", corpus.attacks.size() + corpus.honest.size(), tier.name));
  testbed.settle();
  std::vector<AttackCell> cells;
  for (const Attack& attack : corpus.attacks) {
    cells.push_back(judge_attack(attack, testbed.try_attack(attack, defences)));
  }
  for (const OddProgram& program : corpus.honest) {
    cells.push_back(judge_honest(testbed.try_honest(program, defences)));
  }
  return cells;
}

std::vector<AttackCell> column_as(const Tier& tier, const AttackCorpus& corpus, Testbed& testbed,
                                  const std::function<void(const std::string&)>& tell) {
  if (tier.as_root) return column(tier, corpus, testbed, tell);
  const std::string text = testbed.as_ordinary_user([&] {
    Json cells = Json::array();
    for (const AttackCell& cell : column(tier, corpus, testbed, tell))
      cells.push_back(to_json(cell));
    return cells.dump(-1, ' ', false, Json::error_handler_t::replace);
  });
  std::vector<AttackCell> cells;
  for (const Json& cell : Json::parse(text)) cells.push_back(cell_from(cell));
  return cells;
}

int count(const AttackMatrix& report, bool attacks, bool (*counts)(const AttackCell&)) {
  int found = 0;
  for (const AttackRow& row : report.rows)
    if (row.category.empty() != attacks)
      found += static_cast<int>(std::count_if(row.cells.begin(), row.cells.end(), counts));
  return found;
}

bool is_bad(const AttackCell& cell) {
  return cell.bad;
}

}  // namespace

int AttackMatrix::attacks() const {
  return static_cast<int>(std::count_if(rows.begin(), rows.end(),
                                        [](const auto& row) { return !row.category.empty(); }));
}

int AttackMatrix::honest() const {
  return static_cast<int>(rows.size()) - attacks();
}

int AttackMatrix::classes() const {
  std::set<std::string> all;
  for (const AttackRow& row : rows)
    if (!row.category.empty()) all.insert(row.category);
  return static_cast<int>(all.size());
}

int AttackMatrix::successes() const {
  return count(*this, true, is_bad);
}

int AttackMatrix::false_alarms() const {
  return count(*this, false, is_bad);
}

int AttackMatrix::problems() const {
  const auto has_problem = [](const AttackCell& cell) { return !cell.problem.empty(); };
  return count(*this, true, has_problem) + count(*this, false, has_problem);
}

bool AttackMatrix::ok() const {
  return attacks() > 0 && !rows.front().cells.empty() && problems() == 0;
}

AttackMatrix run_attacks(const Workshop& workshop, const AttackCorpus& corpus,
                         const std::function<void(const std::string&)>& tell) {
  AttackMatrix report;
  Testbed testbed(workshop, corpus);
  report.tiers = tiers_here(testbed);
  for (const Attack& attack : corpus.attacks)
    report.rows.push_back({attack.name, attack.category, attack.goal, {}});
  for (const OddProgram& program : corpus.honest)
    report.rows.push_back({program.name, "", program.oddity, {}});
  for (const Tier& tier : report.tiers) {
    if (!tier.why_not.empty()) continue;
    const std::vector<AttackCell> cells = column_as(tier, corpus, testbed, tell);
    for (std::size_t i = 0; i < cells.size(); ++i) report.rows[i].cells.push_back(cells[i]);
  }
  return report;
}

}  // namespace gauntlet
