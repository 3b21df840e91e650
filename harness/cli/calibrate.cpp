// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <fmt/format.h>

#include "harness/cli/verbs.h"
#include "harness/core/machine.h"
#include "harness/core/share_bound.h"
#include "harness/core/stats.h"
#include "harness/run/calibration.h"

namespace gauntlet {
namespace {

double load_now() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

std::string share_text(int hits, int of, double bound, const char* word) {
  if (of == 0) return "-";
  return fmt::format("{} of {}, {} {:.1f} %", hits, of, word, 100 * bound);
}

double middle(const std::vector<double>& values) {
  return values.empty() ? 0 : quantile(values, 0.5);
}

std::string row_text(const CalibrationRow& row) {
  const std::string question =
      row.slower == 0 ? "itself" : fmt::format("{:.0f} % slower", 100 * row.slower);
  const std::string found =
      row.slower == 0
          ? "-"
          : share_text(row.called_slower, row.races,
                       1 - upper_bound_of_share(row.races - row.called_slower, row.races),
                       "at least");
  return fmt::format(
      "{:<37} {:<12} {:<26} {:<28} {:>10} {:>6.0f} {:>6.1f}\n", name_of(row.neighbour), question,
      share_text(row.wrong(), row.races, upper_bound_of_share(row.wrong(), row.races), "at most"),
      found, row.unmeasured, middle(row.pairs), middle(row.seconds));
}

Json row_document(const CalibrationRow& row) {
  return {{"neighbour", name_of(row.neighbour)},
          {"slower", row.slower},
          {"races", row.races},
          {"false_verdicts", row.wrong()},
          {"false_at_most", json_number(upper_bound_of_share(row.wrong(), row.races))},
          {"found", row.called_slower},
          {"unmeasured", row.unmeasured},
          {"pairs", json_number(middle(row.pairs))},
          {"seconds", json_number(middle(row.seconds))}};
}

}  // namespace

VerbResult calibrate(const Context& context, const CalibrateOptions& options) {
  const Machine machine = this_machine();
  const double load = load_now();
  const std::vector<double> slower =
      options.itself ? std::vector{0.0} : std::vector{0.0, 0.05, 0.2};
  const Calibration seen = calibrate_races(context.environment, context.rubric(), options.races,
                                           slower, context.seed ? *context.seed : Seed::fresh(),
                                           [&](const std::string& text) { context.remark(text); });
  VerbResult answer;
  answer.text = fmt::format(
      "machine    {}, {} cores, {}\nload       {:.2f} before the first race\nraces      {}, at "
      "most "
      "{:g} s each; bounds hold with 95 %\n\n{:<37} {:<12} {:<26} {:<28} {:>10} {:>6} {:>6}\n",
      machine.cpu, machine.cores, machine.kernel, load,
      seen.ahead ? "come before other programs" : "share the processors with other programs",
      seen.seconds_a_race, "the machine", "raced", "false verdicts", "found", "unmeasured", "pairs",
      "s");
  answer.document = {{"schema", "gauntlet.calibrate/1"},
                     {"cpu", machine.cpu},
                     {"cores", machine.cores},
                     {"kernel", machine.kernel},
                     {"load", json_number(load)},
                     {"races_come_first", seen.ahead},
                     {"seconds_a_race", json_number(seen.seconds_a_race)},
                     {"rows", Json::array()}};
  for (const CalibrationRow& row : seen.rows) {
    answer.text += row_text(row);
    answer.document["rows"].push_back(row_document(row));
  }
  return answer;
}

}  // namespace gauntlet
