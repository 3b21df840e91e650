// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "harness/cli/exit_codes.h"
#include "harness/cli/progress.h"
#include "harness/cli/verbs.h"
#include "harness/core/files.h"
#include "harness/run/cell_request_json.h"
#include "harness/run/cell_timings_json.h"

namespace gauntlet {

VerbResult run_cell_of(const Context& context, const RunCellOptions& options) {
  CellRequest request = cell_request_from_json(read_file(options.request, kResultFile),
                                               options.request.string(), context.root());
  const ResultStore out = context.store_in(options.out);
  request.results = out.root();
  const Rubric rubric = context.rubric();
  ProgressDisplay display(*context.err, context.live, context.quiet, 1);
  CellTimings timings;
  const auto cells = context.runner().grade(
      {request}, [&](const CellEvent& event) { display.show(event); },
      [&](const GradedCell& cell) {
        keep(out, rubric, cell);
        timings = cell.timings;
      });
  const CellKey key = request.key();
  VerbResult answer;
  answer.text = fmt::format("{}\n", out.observation_file(key).string());
  answer.document = {{"schema", "gauntlet.run-cell/1"}};
  put_cell_key(answer.document, key);
  answer.document["observation"] = out.observation_file(key).string();
  if (std::filesystem::exists(out.receipt_file(key)))  // there is none when the grader broke
    answer.document["receipt"] = out.receipt_file(key).string();
  answer.document["timings"] = timings_to_json(timings);
  if (score_cell(rubric, cells.front()).broken > 0) answer.exit_code = kExitIncomplete;
  return answer;
}

}  // namespace gauntlet
