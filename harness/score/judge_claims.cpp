// SPDX-License-Identifier: Apache-2.0
#include "harness/score/judge_claims.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "harness/core/names.h"
#include "harness/score/growth_fit.h"

namespace gauntlet {
namespace {

constexpr NameTable<ClaimVerdict, 3> kVerdicts{"verdict on a claim",
                                               {"true", "false", "not verifiable"}};

constexpr double kMiB = 1 << 20;

// How near to its interval a claimed exponent has to lie, and how wide an interval may be that
// still says something.
constexpr double kExponentTolerance = 0.25;
constexpr double kWidestExponent = 0.6;

JudgedClaim not_verifiable(const StatedClaim& claim, std::string why) {
  return {claim, ClaimVerdict::not_verifiable, "", std::move(why), std::nullopt};
}

/// Judges a number by the interval of those that measurement leaves possible.
JudgedClaim by_interval(const StatedClaim& claim, const Interval& possible, std::string measured,
                        std::string why) {
  const double claimed = std::get<double>(claim.value);
  const bool inside = claimed >= possible.low && claimed <= possible.high;
  return {claim, inside ? ClaimVerdict::holds : ClaimVerdict::refuted, std::move(measured),
          std::move(why), possible};
}

/// What the checks of this cell recorded for claims of a kind; null when none does.
const Fact* answer_to(const CellObservation& cell, ClaimKind kind) {
  for (const auto& check : cell.checks)
    for (const Fact& fact : check.facts)
      if (fact.answers == kind) return &fact;
  return nullptr;
}

Interval range_of(const Fact& fact) {
  return fact.range.value_or(Interval{fact.value, fact.value});
}

/// "8.06 to 18 B (saved bytes per row)".
std::string figure_of(const Fact& fact) {
  const Interval seen = range_of(fact);
  const std::string figure = seen.low == seen.high
                                 ? fmt::format("{:.4g}", seen.low)
                                 : fmt::format("{:.4g} to {:.4g}", seen.low, seen.high);
  return fmt::format("{} {} ({})", figure, fact.unit, fact.name);
}

JudgedClaim nothing_answers(const StatedClaim& claim) {
  return not_verifiable(claim, "this grader measures nothing that answers it");
}

/// Something has a speed. The machine may have been too busy for any.
bool timed(const CellObservation& cell) {
  return std::any_of(cell.checks.begin(), cell.checks.end(),
                     [](const auto& check) { return !check.speeds.empty(); });
}

JudgedClaim not_timed(const StatedClaim& claim) {
  return not_verifiable(claim, "no case was timed");
}

JudgedClaim judge_saved_bytes(const StatedClaim& claim, const CellObservation& cell) {
  constexpr double kTolerance = 0.01;
  const Fact* fact = answer_to(cell, claim.kind);
  if (!fact) return nothing_answers(claim);
  const Interval seen = range_of(*fact);
  return by_interval(claim, {seen.low * (1 - kTolerance), seen.high * (1 + kTolerance)},
                     figure_of(*fact), "what the solution asks its caller to keep, within 1%");
}

JudgedClaim judge_peak_workspace(const StatedClaim& claim, const CellObservation& cell) {
  constexpr double kShare = 0.25;
  constexpr double kFixed = 0.125;  // libraries, stacks of threads
  const Fact* fact = answer_to(cell, claim.kind);
  if (!fact) return nothing_answers(claim);
  const double most = range_of(*fact).high;
  return by_interval(
      claim, {std::max(0.0, (1 - kShare) * most - kFixed), std::numeric_limits<double>::infinity()},
      figure_of(*fact),
      fmt::format("a bound, but for {:.0f}% and {:g} MiB, which libraries and threads may take",
                  100 * kShare, kFixed));
}

JudgedClaim judge_time_exponent(const StatedClaim& claim, const CellObservation& cell) {
  if (!cell.time_growth) return nothing_answers(claim);
  const Growth& growth = *cell.time_growth;
  const auto fit = fitted_exponent(growth);
  if (!fit)
    return not_verifiable(claim, growth.fault.empty()
                                     ? "too few sizes were timed"
                                     : fmt::format("too few sizes were timed: {}", growth.fault));
  const Interval& seen = fit->interval;
  if (seen.high - seen.low > kWidestExponent)
    return not_verifiable(
        claim,
        fmt::format("the times lie too far from one line: a slope of {:.2f}, 95% {:.2f} to {:.2f}",
                    fit->value, seen.low, seen.high));
  return by_interval(
      claim, {seen.low - kExponentTolerance, seen.high + kExponentTolerance},
      fmt::format("{:.2f}, 95% {:.2f} to {:.2f}, over {} = {:.0f} to {:.0f}", fit->value, seen.low,
                  seen.high, growth.axis, growth.points.front().first, growth.points.back().first),
      fmt::format("the interval of the fitted slope, and {:g} around it", kExponentTolerance));
}

JudgedClaim judge_memory_exponent(const StatedClaim& claim, const CellObservation& cell) {
  const auto asked = std::find_if(cell.checks.begin(), cell.checks.end(),
                                  [](const auto& check) { return check.workspace.has_value(); });
  if (asked == cell.checks.end()) return nothing_answers(claim);
  const Growth& growth = *asked->workspace;
  const auto seen = workspace_growth(growth);
  if (!seen) return not_verifiable(claim, "its memory was measured at fewer than two sizes");
  const auto& [first, small] = growth.points.front();
  const auto& [last, large] = growth.points.back();
  JudgedClaim judged = by_interval(
      claim, {seen->exponent.low - kExponentTolerance, seen->exponent.high + kExponentTolerance},
      fmt::format("{:.3g} MiB at {} = {:.0f}, {:.3g} MiB at {:.0f}", small, growth.axis, first,
                  large, last),
      "the exponents that pages, libraries and threads leave open");
  if (judged.verdict != ClaimVerdict::holds) return judged;
  const bool stays = !seen->visible && std::get<double>(claim.value) == 0;
  if (stays) judged.why = "it does not grow by more than a few pages";
  if (stays || seen->exponent.high - seen->exponent.low <= kWidestExponent) return judged;
  judged.verdict = ClaimVerdict::not_verifiable;
  judged.why = "so little that libraries and threads may be all of it";
  return judged;
}

/// The faster way to use memory that was measured; older observations know copying only.
double memory_gb_per_s(const Provenance& on) {
  return std::max(on.read_gb_per_s, on.copy_gb_per_s);
}

/// Most passes that the time of a case leaves room for. What the last-level cache holds need not
/// come from memory again; the rest is read at most 1.25 times as fast as we can, see beats_physics
/// in harness/measure. Where only copying was measured, it crosses a bus that is at most 1.5 times
/// as fast as a copy counts, and 7% for the ceiling's own noise.
std::optional<double> most_passes(const Provenance& on, const SpeedMeasurement& speed) {
  const double slack = on.read_gb_per_s > 0 ? 1.25 : 1.5 * 1.07;
  const double uncached = speed.input_bytes - on.cache_bytes;
  if (!(on.cache_bytes > 0 && uncached > 0 && on.copy_gb_per_s > 0)) return std::nullopt;
  return slack * speed.solution_ns * memory_gb_per_s(on) / uncached;
}

JudgedClaim judge_passes(const StatedClaim& claim, const CellObservation& cell) {
  std::optional<double> most;
  double largest = 0;
  for (const auto& check : cell.checks)
    for (const auto& speed : check.speeds) {
      largest = std::max(largest, speed.input_bytes);
      if (const auto passes = most_passes(cell.provenance, speed))
        most = std::min(most.value_or(*passes), *passes);
    }
  if (largest == 0) return timed(cell) ? nothing_answers(claim) : not_timed(claim);
  if (!most && !(cell.provenance.cache_bytes > 0))
    return not_verifiable(claim, "this machine does not say how much its caches hold");
  if (!most)
    return not_verifiable(claim,
                          fmt::format("the timed inputs, {:.4g} MiB, fit into the last-level cache "
                                      "of {:.4g} MiB, where a pass leaves no trace",
                                      largest / kMiB, cell.provenance.cache_bytes / kMiB));
  JudgedClaim judged = by_interval(claim, {0, *most}, fmt::format("at most {:.3g}", *most),
                                   "more would take longer at this machine's bandwidth");
  if (judged.verdict == ClaimVerdict::holds) {
    judged.verdict = ClaimVerdict::not_verifiable;
    judged.why = "the time leaves room for it, and nothing here counts memory traffic";
  }
  return judged;
}

/// How near a timed case came to each ceiling.
struct CeilingShares {
  std::string case_name;
  double memory = 0;
  double compute = 0;

  double of(Bound bound) const { return bound == Bound::memory ? memory : compute; }
  double nearer() const { return std::max(memory, compute); }
};

/// Of the cases for which the grader states the least work of both kinds.
std::vector<CeilingShares> ceiling_shares(const CellObservation& cell) {
  std::vector<CeilingShares> all;
  const Provenance& on = cell.provenance;
  if (!(on.copy_gb_per_s > 0 && on.fma_gflop_per_s > 0)) return all;
  for (const auto& check : cell.checks)
    for (const auto& speed : check.speeds)
      if (speed.floor_bytes > 0 && speed.floor_flops > 0 && speed.solution_ns > 0)
        all.push_back({speed.case_name, speed.floor_bytes / memory_gb_per_s(on) / speed.solution_ns,
                       speed.floor_flops / on.fma_gflop_per_s / speed.solution_ns});
  return all;
}

JudgedClaim judge_bound(const StatedClaim& claim, const CellObservation& cell) {
  // A case near one ceiling is held up by it; a case far from both, by something else.
  constexpr double kNear = 0.5;
  constexpr double kClear = 2;
  const auto bound = std::get<Bound>(claim.value);
  const Bound other = bound == Bound::memory ? Bound::compute : Bound::memory;
  const std::vector<CeilingShares> cases = ceiling_shares(cell);
  if (cases.empty()) return timed(cell) ? nothing_answers(claim) : not_timed(claim);
  const auto held_by = [&](Bound by, Bound rival, double clear) {
    return std::count_if(cases.begin(), cases.end(), [&](const CeilingShares& one) {
      return one.of(by) >= kNear && one.of(by) > clear * one.of(rival);
    });
  };
  const auto supporting = held_by(bound, other, 1);
  const auto refuting = held_by(other, bound, kClear);
  const CeilingShares& best = *std::max_element(
      cases.begin(), cases.end(), [](auto& a, auto& b) { return a.nearer() < b.nearer(); });
  JudgedClaim judged{claim, ClaimVerdict::not_verifiable,
                     fmt::format("{:.0f}% of memory bandwidth, {:.1f}% of the FMA peak ({})",
                                 100 * best.memory, 100 * best.compute, best.case_name),
                     "no timed case comes to half of a ceiling: something else holds it up",
                     std::nullopt};
  if (supporting > 0 && refuting > 0) {
    judged.why = "the timed cases are held up by different ceilings";
  } else if (supporting > 0) {
    judged.verdict = ClaimVerdict::holds;
    judged.why = fmt::format("{} of {} timed cases come to half of that ceiling or more",
                             supporting, cases.size());
  } else if (refuting > 0) {
    judged.verdict = ClaimVerdict::refuted;
    judged.why = fmt::format("{} of {} timed cases come to half of the other ceiling or more",
                             refuting, cases.size());
  }
  return judged;
}

JudgedClaim judge(const StatedClaim& claim, const CellObservation& cell) {
  switch (claim.kind) {
    case ClaimKind::bound:
      return judge_bound(claim, cell);
    case ClaimKind::passes_over_input:
      return judge_passes(claim, cell);
    case ClaimKind::saved_bytes:
      return judge_saved_bytes(claim, cell);
    case ClaimKind::peak_workspace:
      return judge_peak_workspace(claim, cell);
    case ClaimKind::time_exponent:
      return judge_time_exponent(claim, cell);
    case ClaimKind::memory_exponent:
      return judge_memory_exponent(claim, cell);
  }
  return nothing_answers(claim);
}

}  // namespace

std::string_view name_of(ClaimVerdict verdict) {
  return kVerdicts.of(verdict);
}

std::string claimed_text(const StatedClaim& claim) {
  if (const auto* bound = std::get_if<Bound>(&claim.value)) return std::string(name_of(*bound));
  return fmt::format("{}{:g}", sense_of(claim.kind) == ClaimSense::bound ? "at most " : "",
                     std::get<double>(claim.value));
}

std::vector<JudgedClaim> judge_claims(const CellObservation& cell) {
  std::vector<JudgedClaim> judged;
  for (const StatedClaim& claim : cell.stated_claims) judged.push_back(judge(claim, cell));
  return judged;
}

Json to_json(const JudgedClaim& judged) {
  Json json{{"claim", name_of(judged.claim.kind)}, {"sense", name_of(sense_of(judged.claim.kind))}};
  if (const auto* number = std::get_if<double>(&judged.claim.value))
    json["claimed"] = json_number(*number);
  else
    json["claimed"] = claimed_text(judged.claim);
  json["verdict"] = name_of(judged.verdict);
  json["measured"] = judged.measured;
  json["why"] = judged.why;
  if (judged.possible) {
    json["possible_low"] = json_number(judged.possible->low);
    json["possible_high"] = json_number(judged.possible->high);
  }
  return json;
}

}  // namespace gauntlet
