// SPDX-License-Identifier: Apache-2.0
#include "harness/run/slurm/handed_over.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/run/cell_timings_json.h"
#include "harness/store/reuse.h"

namespace gauntlet {
namespace {

/// Two checkouts that differ, or a folder that somebody else wrote into.
void require_asked_for(const CellObservation& seen, const CellRequest& request) {
  const Provenance& from = seen.provenance;
  if (from.submission_digest != request.solution.digest() ||
      from.grader_digest != grader_for(request.challenge.id).digest ||
      (request.seed && *request.seed != seen.seed))
    throw UserError("what it graded is not what it was asked to grade");
}

bool all_broken(const CellObservation& seen) {
  return std::all_of(seen.checks.begin(), seen.checks.end(), [](const CheckObservation& check) {
    return check.verdict == Verdict::broken;
  });
}

}  // namespace

GradedCell handed_over(const JobFolder& folder, const CellTry& one, const CellRequest& request) {
  const Json said = folder.answer(one);
  if (said.value("schema", "") != "gauntlet.run-cell/1")
    throw UserError(one_line(said.value("message", "it said nothing that can be read"), 400));
  const ResultStore results = folder.results(one);
  std::string why;
  if (auto proven = load_proven(results, request.key(), why)) {
    require_asked_for(proven->observation, request);
    GradedCell cell{std::move(proven->observation), results.load_receipt(request.key())};
    if (said.contains("timings")) cell.timings = timings_from_json(said["timings"]);
    return cell;
  }
  // A grading process that died has no receipt, and there is nothing that one could prove.
  if (auto seen = results.load(request.key()); seen && all_broken(*seen))
    return {*std::move(seen), std::nullopt};
  throw UserError(fmt::format("its result cannot be used: {}", why));
}

}  // namespace gauntlet
