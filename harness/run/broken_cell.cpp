// SPDX-License-Identifier: Apache-2.0
#include "harness/run/broken_cell.h"

namespace gauntlet {
namespace {

Verdict worst_of(const CellObservation& cell) {
  if (!cell.build.ok) return Verdict::rejected;
  Verdict worst = Verdict::passed;
  for (const CheckObservation& check : cell.checks) worst = worse(worst, check.verdict);
  return worst;
}

}  // namespace

CellObservation broken_cell(const CellRequest& request, const Broken& fault) {
  CellObservation cell;
  cell.key = request.key();
  cell.build.ok = true;
  for (const Check& check : grader_for(request.challenge.id).make().checks) {
    CheckObservation seen;
    seen.info = check;
    seen.verdict = Verdict::broken;
    seen.finding = broken_finding(fault.fault, fault.what());
    cell.checks.push_back(std::move(seen));
  }
  return cell;
}

CellEvent done_event(const CellObservation& cell) {
  const int total = static_cast<int>(cell.checks.size());
  return {CellEvent::Kind::cell_done, cell.key, "", worst_of(cell), total, total};
}

}  // namespace gauntlet
