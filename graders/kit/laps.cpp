// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/laps.h"

#include <fmt/format.h>
#include <numeric>

#include "graders/kit/device.h"
#include "harness/core/machine.h"
#include "harness/core/parallel.h"

namespace gauntlet::kit {
namespace {

Finding wrong(const Miss& miss) {
  return {Verdict::wrong, "", describe(miss), {}, miss};
}

void judge_a_lap(Probe& probe, const RaceSpec& spec) {
  Rng rng = probe.begin_case(spec.case_name);
  Rng inputs(rng.seed());
  Rng judge(rng.seed());
  spec.prepare(inputs, judge);
  Lap lap;
  try {
    lap = spec.lap(probe.solution());
    if (!lap.finding && lap.judge_all) lap.finding = lap.judge_all();
  } catch (const SolutionFailure& failure) {
    lap.finding = Finding{failure.verdict, "", failure.what(), {}, std::nullopt};
  }
  if (!lap.finding) return;
  lap.finding->case_name = spec.case_name;
  throw CheckEnded{*std::move(lap.finding)};
}

}  // namespace

std::vector<std::int64_t> some_of(Rng& judge, std::int64_t below, int count) {
  std::vector<std::int64_t> rows;
  for (int n = 0; n < count; ++n) rows.push_back(judge.integer(0, below - 1));
  return rows;
}

std::vector<std::int64_t> all_of(std::int64_t below) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(below));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

std::optional<Miss> first_of_rows(
    const std::vector<std::int64_t>& rows,
    const std::function<std::optional<Miss>(std::int64_t row)>& miss_of) {
  const int threads = this_machine().cores;
  std::vector<std::optional<Miss>> found(static_cast<std::size_t>(threads));
  parallel_for(found.size(), threads, [&](std::size_t part) {
    const std::size_t end = rows.size() * (part + 1) / found.size();
    for (std::size_t i = rows.size() * part / found.size(); i < end && !found[part]; ++i)
      found[part] = miss_of(rows[i]);
  });
  for (auto& miss : found)
    if (miss) return std::move(miss);
  return std::nullopt;
}

void race(Probe& probe, const std::vector<RaceSpec>& specs, const RaceBudget& budget) {
  // All of them first: the first race of an audit ends the check. None on a device, where a grade has
  // none either.
  if (probe.audit() && !on_device(probe))
    for (const RaceSpec& spec : specs) judge_a_lap(probe, spec);
  for (const RaceSpec& spec : specs) probe.race(spec, budget);
}

void judge_all_later(Lap& lap, std::function<std::optional<Miss>()> miss) {
  if (lap.finding) return;
  lap.judge_all = [miss = std::move(miss)]() -> std::optional<Finding> {
    if (const auto found = miss()) return wrong(*found);
    return std::nullopt;
  };
}

Lap verified_lap(Session& session, CallBase& call,
                 const std::function<std::optional<Miss>()>& miss) {
  session.run(call);
  Lap lap;
  lap.took(call);
  if (call.returned != 0)
    lap.finding = Finding{Verdict::wrong,
                          "",
                          fmt::format("{} returned {}, want 0", call.symbol, call.returned),
                          {},
                          std::nullopt};
  else if (const auto found = miss())
    lap.finding = wrong(*found);
  return lap;
}

}  // namespace gauntlet::kit
