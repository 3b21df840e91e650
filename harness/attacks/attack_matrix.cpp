// SPDX-License-Identifier: Apache-2.0
#include "harness/attacks/attack_matrix.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "harness/attacks/attack_lanes.h"

namespace gauntlet {
namespace {

int count(const AttackMatrix& report, bool attacks, bool (*counts)(const AttackCell&)) {
  int found = 0;
  for (const AttackRow& row : report.rows)
    if (row.category.empty() != attacks)
      found += static_cast<int>(std::count_if(row.cells.begin(), row.cells.end(), counts));
  return found;
}

bool is_tried(const AttackCell& cell) {
  return cell.tried;
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

int AttackMatrix::trials(bool attacks) const {
  return count(*this, attacks, is_tried);
}

int AttackMatrix::successes() const {
  return count(*this, true, is_bad);
}

int AttackMatrix::false_alarms() const {
  return count(*this, false, is_bad);
}

int AttackMatrix::controls() const {
  return static_cast<int>(
      std::ranges::count_if(rows, [](const AttackRow& row) { return row.control.tried; }));
}

int AttackMatrix::harmless() const {
  return static_cast<int>(std::ranges::count_if(
      rows, [](const AttackRow& row) { return row.control.tried && row.control.bad; }));
}

int AttackMatrix::problems() const {
  const auto has_problem = [](const AttackCell& cell) { return !cell.problem.empty(); };
  return count(*this, true, has_problem) + count(*this, false, has_problem) + harmless();
}

bool AttackMatrix::ok() const {
  return attacks() > 0 && !rows.front().cells.empty() && problems() == 0;
}

AttackMatrix run_attacks(const GradingEnvironment& environment, const AttackCorpus& corpus,
                         bool brief, const std::function<void(const std::string&)>& tell) {
  const auto start = std::chrono::steady_clock::now();
  AttackLanes lanes(environment, corpus, tell);
  AttackMatrix report;
  report.tiers = tiers_here(lanes.some_testbed());
  if (brief) leave_out_middle(report.tiers);
  for (const Attack& attack : corpus.attacks)
    report.rows.push_back({attack.name, attack.category, attack.goal, {}, {}});
  for (const OddProgram& program : corpus.honest)
    report.rows.push_back({program.name, "", program.oddity, {}, {}});
  bool with_unwalled = true;
  for (const Tier& tier : report.tiers) {
    if (!tier.why_not.empty()) continue;
    const std::vector<AttackCell> column = lanes.column(tier, with_unwalled);
    with_unwalled = !brief;
    for (std::size_t i = 0; i < column.size(); ++i) report.rows[i].cells.push_back(column[i]);
  }
  const std::vector<AttackCell> controls = lanes.controls();
  for (std::size_t i = 0; i < controls.size(); ++i) report.rows[i].control = controls[i];
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace gauntlet
