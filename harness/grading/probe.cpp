// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/probe.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "harness/core/error.h"

namespace gauntlet {

Probe::Probe(CheckInfo info, const Seed& run_seed, Setting setting)
    : run_seed_(run_seed),
      check_seed_(derive(run_seed, "check " + info.id)),
      setting_(std::move(setting)) {
  observation_.info = std::move(info);
  observation_.earned = 1;
}

Seed Probe::begin(std::string case_name) {
  case_name_ = std::move(case_name);
  ++observation_.cases;
  return derive(check_seed_, case_name_);
}

Rng Probe::begin_case(std::string case_name) {
  return Rng(begin(std::move(case_name)));
}

Rng Probe::common_stream(std::string_view name) const {
  return Rng(derive(derive(run_seed_, "common"), name));
}

void Probe::take_machine() {
  if (setting_.take_machine) setting_.take_machine();
}

void Probe::say(const std::string& text) {
  if (setting_.say) setting_.say(text);
}

void Probe::run(CallBase& call) {
  run_with_unusual_floats(call, {});
  run_until_freed(call);
}

void Probe::run_for(CallBase& call, std::int64_t want) {
  run_with_unusual_floats(call, want);
  run_until_freed(call);
  require_returned(call, want);
}

void Probe::run_with_unusual_floats(CallBase& call, std::optional<std::int64_t> want) {
  const bool counts_questions = !call.callbacks().empty() && want.value_or(0) == 0;
  // The first call is one of them.
  if (unusual_every_ == 0 || calls_++ % unusual_every_ != 0 || counts_questions) return;
  for (const bool unusual : {false, true}) {
    call.unusual_floats = call.zero_subnormals = unusual;
    run_once(call);
    call.unusual_floats = call.zero_subnormals = false;
    // Whether a valid call is refused may hang on what is rounded: a mean below the largest scale.
    if (want && !unusual) require_returned(call, *want);
  }
}

void Probe::require_returned(const CallBase& call, std::int64_t want) {
  if (call.returned != want)
    fail(fmt::format("{} returned {}, want {}", call.symbol, call.returned, want));
}

void Probe::run_once(CallBase& call, bool again) {
  heap_bytes_.reset();
  try {
    again ? setting_.solution.run_again(call) : setting_.solution.run(call);
  } catch (const SolutionFailure& failure) {
    throw CheckEnded{{failure.verdict, case_name_, failure.what(), {}, std::nullopt}};
  }
  if (call.measure_heap) heap_bytes_ = call.heap_bytes;
}

/// Calls it again, an even number of times: what alternates from call to call does so as if there
/// had been none.
void Probe::require_freed(CallBase& call) {
  const std::int64_t first = *call.heap_bytes;
  std::int64_t in_use = first, growth = 0;
  int calls = 0, alike = 0;
  for (bool grows = true; grows || calls % 2 != 0;) {
    run_once(call, true);
    ++calls;
    const std::int64_t before = std::exchange(in_use, call.heap_bytes.value_or(in_use));
    const std::int64_t grew = in_use - before;
    grows = grows && grew > 0;
    alike = grew == std::exchange(growth, grew) ? alike + 1 : 1;
    if (grows && (alike == kGrowing || calls == kMostGrowing))
      fail(
          fmt::format("{} does not free what it allocates: malloc had more in use behind each of "
                      "{} calls alike, {} bytes in all",
                      call.symbol, calls, in_use - first));
  }
}

void Probe::run_until_freed(CallBase& call) {
  call.measure_heap = until_freed_ && call.callbacks().empty() && !call.measure_memory;
  const std::optional<std::int64_t> before = heap_bytes_;
  run_once(call);
  if (!call.measure_heap || !call.heap_bytes) return;
  const bool anyway = ++measured_calls_ % kAgainAnyway == 0;
  if (before && *call.heap_bytes <= *before && !anyway) {
    call.measure_heap = false;
    return;
  }
  const std::int64_t returned = call.returned;
  std::vector<std::vector<std::byte>> results;
  for (const Buffer& buffer : call.buffers())
    results.emplace_back(buffer.result.begin(), buffer.result.end());
  require_freed(call);
  call.measure_heap = false;
  if (call.returned != returned)
    fail(fmt::format("{} returned {}, and {} when it was called again alike", call.symbol, returned,
                     call.returned));
  for (std::size_t i = 0; i < results.size(); ++i)
    std::ranges::copy(results[i], call.buffers()[i].result.begin());
}

void Probe::restart() {
  heap_bytes_.reset();
  setting_.solution.restart();
}

void Probe::fail(std::string summary, std::vector<std::string> evidence) {
  throw CheckEnded{
      {Verdict::wrong, case_name_, std::move(summary), std::move(evidence), std::nullopt}};
}

void Probe::fail(const Miss& miss, std::vector<std::string> evidence) {
  throw CheckEnded{{Verdict::wrong, case_name_, describe(miss), std::move(evidence), miss}};
}

void Probe::require(bool holds, std::string_view otherwise) {
  if (!holds) fail(std::string(otherwise));
}

void Probe::require(const std::optional<Miss>& miss) {
  if (miss) fail(*miss);
}

void Probe::unmeasured(std::string reason) {
  throw CheckEnded{{Verdict::unmeasured, case_name_, std::move(reason), {}, std::nullopt}};
}

void Probe::earn(double share) {
  if (!(share >= 0 && share <= 1))
    throw Broken(OwnFault::bug,
                 fmt::format("check {} awards {} of its points", observation_.info.id, share));
  observation_.earned = std::min(observation_.earned, share);
}

void Probe::record(Fact fact) {
  for (Fact& known : observation_.facts)
    if (known.name == fact.name) {
      known = std::move(fact);
      return;
    }
  observation_.facts.push_back(std::move(fact));
}

void Probe::fact(std::string name, double value, std::string unit) {
  record({std::move(name), value, std::move(unit)});
}

void Probe::answer(ClaimKind kind, std::string name, double value, std::string unit,
                   std::optional<Interval> range) {
  record({std::move(name), value, std::move(unit), kind, range});
}

void Probe::workspace_at(std::string axis, double size, double mib) {
  auto& seen = observation_.workspace;
  if (!seen) seen = Growth{std::move(axis), {}, {}};
  seen->points.emplace_back(size, mib);
}

void Probe::exhibit(Exhibit exhibit) {
  observation_.exhibits.push_back(std::move(exhibit));
}

void Probe::curve(Curve curve) {
  constexpr std::size_t kMostPoints = 500;
  auto& points = curve.points;
  if (points.size() > kMostPoints) {
    const std::size_t step = points.size() / (kMostPoints - 1) + 1;
    std::vector<std::pair<double, double>> kept;
    for (std::size_t i = 0; i + 1 < points.size(); i += step) kept.push_back(points[i]);
    kept.push_back(points.back());
    points = std::move(kept);
  }
  observation_.curves.push_back(std::move(curve));
}

void Probe::race(const RaceSpec& spec, RaceBudget budget) {
  budget.reserve = setting_.race_reserve;
  if (setting_.race_pairs) budget.min_pairs = budget.max_pairs = *setting_.race_pairs;
  const Seed secret = begin(spec.case_name);
  if (!setting_.reference) unmeasured("speed is not measured in this run");
  // First whether there is a race at all: to make a reference takes seconds.
  Session& reference = setting_.reference();
  RaceResult result;
  try {
    result = gauntlet::race(spec, budget, secret, setting_.solution, reference,
                            setting_.reference_again());
  } catch (const SolutionFailure& failure) {
    throw CheckEnded{{failure.verdict, case_name_, failure.what(), {}, std::nullopt}};
  }
  const bool no_speed =
      setting_.race_pairs && (!result.finding || result.finding->verdict == Verdict::unmeasured);
  if (no_speed) return;
  if (result.finding) {
    result.finding->case_name = case_name_;
    throw CheckEnded{*std::move(result.finding)};
  }
  if (beats_every_look(spec, result.speed.solution_ns, ceilings(), raise_ceilings))
    fail(
        fmt::format("{:.0f} ns a lap, and the least work of one takes this machine {:.0f} ns at "
                    "best: the time is not believed",
                    result.speed.solution_ns, least_ns(spec, ceilings())));
  observation_.speeds.push_back(std::move(result.speed));
}

}  // namespace gauntlet
