#include "graders/kit/laps.h"

#include <fmt/format.h>

namespace gauntlet::kit {
namespace {

void judge_a_lap(Probe& probe, const RaceSpec& spec) {
  Rng rng = probe.begin_case(spec.case_name);
  Rng inputs(rng.seed());
  Rng judge(rng.seed());
  spec.prepare(inputs, judge);
  Lap lap;
  try {
    lap = spec.lap(probe.solution());
  } catch (const SolutionFailure& failure) {
    lap.finding = Finding{failure.verdict, "", failure.what(), {}, std::nullopt};
  }
  if (!lap.finding) return;
  lap.finding->case_name = spec.case_name;
  throw CheckEnded{*std::move(lap.finding)};
}

}  // namespace

void race(Probe& probe, const std::vector<RaceSpec>& specs, const RaceBudget& budget) {
  // All of them first: the first race of an audit ends the check.
  if (probe.audit())
    for (const RaceSpec& spec : specs) judge_a_lap(probe, spec);
  for (const RaceSpec& spec : specs) probe.race(spec, budget);
}

Lap verified_lap(Session& session, CallBase& call,
                 const std::function<std::optional<Miss>()>& miss) {
  session.run(call);
  Lap lap{call.elapsed, std::nullopt};
  const auto refuse = [&lap](const std::string& summary, const std::optional<Miss>& found) {
    lap.finding = Finding{Verdict::wrong, "", summary, {}, found};
  };
  if (call.returned != 0)
    refuse(fmt::format("{} returned {}, want 0", call.symbol, call.returned), std::nullopt);
  else if (auto found = miss())
    refuse(describe(*found), found);
  return lap;
}

}  // namespace gauntlet::kit
