#include "harness/store/cell_comparison.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/store/json_fields.h"
#include "harness/store/observation_json.h"

namespace gauntlet {
namespace {

using Outcome = Proof::Outcome;

const CheckTrace* trace_of(const Receipt& receipt, const std::string& check) {
  for (const CheckTrace& trace : receipt.closing->checks)
    if (trace.id == check) return &trace;
  return nullptr;
}

const CheckObservation* check_of(const CellObservation& cell, const std::string& check) {
  for (const CheckObservation& seen : cell.checks)
    if (seen.info.id == check) return &seen;
  return nullptr;
}

/// Whether a check measured memory or time without a race: its numbers move by a page or a tick.
bool measures(const CheckObservation& check) {
  constexpr std::array<std::string_view, 5> kUnits{"MiB", "ns", "us", "ms", "s"};
  return check.workspace ||
         std::any_of(check.facts.begin(), check.facts.end(), [&](const Fact& fact) {
           return std::find(kUnits.begin(), kUnits.end(), fact.unit) != kUnits.end();
         });
}

/// As the store writes it, by which numbers that are none compare as well.
Json written(const CellObservation& cell) {
  return Json::parse(to_json(cell));
}

Json written_check(const Json& cell, const std::string& id) {
  for (const Json& check : cell["checks"])
    if (check["id"] == id) return check;
  return Json::object();
}

/// The part of `then` that `now` writes differently, cut; empty when they are the same.
std::string difference(const Json& then, const Json& now) {
  if (then == now) return "";
  return fmt::format("was {}, is now {}", one_line(then.dump(-1, ' ', true), 160),
                     one_line(now.dump(-1, ' ', true), 160));
}

}  // namespace

std::vector<Proof> compare_questions(const CellObservation& then, const CellObservation& now) {
  std::vector<Proof> proofs;
  if (then.key.device != now.key.device)
    proofs.push_back({"device", Outcome::refuted, "the observation names another one"});
  for (const CheckObservation& is : now.checks) {
    const CheckObservation* was = check_of(then, is.info.id);
    if (was != nullptr &&
        (was->info.weight != is.info.weight || was->info.severity != is.info.severity ||
         was->info.section != is.info.section))
      proofs.push_back({"rules of " + is.info.id, Outcome::refuted,
                        "its section, weight or severity is not what this grader says"});
  }
  return proofs;
}

std::vector<Proof> compare_earned(const Receipt& claimed, const CellObservation& then,
                                  const Receipt& seen, const CellObservation& now) {
  std::vector<Proof> proofs;
  for (const CheckTrace& trace : seen.closing->checks) {
    const CheckTrace* before = trace_of(claimed, trace.id);
    const CheckObservation* was = check_of(then, trace.id);
    const CheckObservation* is = check_of(now, trace.id);
    if (trace.timed || !before || !was || !is || was->earned == is->earned) continue;
    // What a submission's own tests say, and what other outputs are worth, may change by itself.
    const bool repeated = trace.calls > 0 && before->outputs == trace.outputs;
    proofs.push_back({"points of " + trace.id, repeated ? Outcome::refuted : Outcome::noted,
                      fmt::format("{:.4g} of them were earned, now {:.4g}{}", was->earned,
                                  is->earned, repeated ? " by the same outputs" : "")});
  }
  return proofs;
}

std::vector<Unrepeated> rests_on_receipt(const Receipt& seen, const CellObservation& then) {
  std::vector<Unrepeated> found;
  for (const CheckTrace& trace : seen.closing->checks) {
    const CheckObservation* was = check_of(then, trace.id);
    if (!trace.timed || !was) continue;
    found.push_back({trace.id, was->earned, {}});
    for (const SpeedMeasurement& speed : was->speeds) found.back().ratios.push_back(speed.ratio);
    std::sort(found.back().ratios.begin(), found.back().ratios.end());
  }
  return found;
}

std::vector<Proof> compare_seen(const Receipt& claimed, const CellObservation& then,
                                const Receipt& seen, const CellObservation& now) {
  std::vector<Proof> proofs;
  const Json was = written(then);
  const Json is = written(now);
  const auto compare = [&](const std::string& what, const Json& before, const Json& after,
                           bool repeated) {
    if (const std::string differs = difference(before, after); !differs.empty())
      proofs.push_back({what, repeated ? Outcome::refuted : Outcome::noted, differs});
  };
  const bool same_library = !claimed.library.empty() && claimed.library == seen.library;
  for (const char* part : {"warnings", "messages", "flags"})
    compare(fmt::format("{} of the build", part), was["build"][part], is["build"][part],
            same_library);
  for (const char* part : {"stated_claims", "claims_fault"})
    compare(part, was.value(part, Json()), is.value(part, Json()), true);
  for (const CheckTrace& trace : seen.closing->checks) {
    const CheckTrace* before = trace_of(claimed, trace.id);
    const CheckObservation* after = check_of(now, trace.id);
    if (trace.timed || !before || !after || measures(*after)) continue;
    const Json old_check = written_check(was, trace.id);
    const Json new_check = written_check(is, trace.id);
    const bool repeated = trace.calls > 0 && before->outputs == trace.outputs;
    for (const char* part : {"cases", "facts", "curves", "exhibits", "workspace", "finding"})
      compare(fmt::format("{} of {}", part, trace.id), old_check.value(part, Json()),
              new_check.value(part, Json()), repeated && part != std::string_view("finding"));
  }
  return proofs;
}

std::vector<std::string> not_compared(const Receipt& seen, const CellObservation& then,
                                      const CellObservation& now) {
  std::vector<std::string> parts;
  for (const CheckTrace& trace : seen.closing->checks)
    if (const CheckObservation* check = check_of(now, trace.id);
        !trace.timed && check && measures(*check))
      parts.push_back("what was measured in " + trace.id);
  if (then.time_growth) parts.push_back("the growth of time");
  if (then.provenance.copy_gb_per_s > 0) parts.push_back("the machine's ceilings");
  return parts;
}

}  // namespace gauntlet
