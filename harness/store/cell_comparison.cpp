// SPDX-License-Identifier: Apache-2.0
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

Json part_of(const Json& cell, const std::string& check, const char* part) {
  for (const Json& one : cell["checks"])
    if (one["id"] == check) return one.value(part, Json());
  return {};
}

std::string cut(const Json& written) {
  return one_line(written.dump(-1, ' ', true), 160);
}

/// Whether it came again in one of the runs, or is a number no further outside of theirs than these
/// lie apart.
bool lies_near(const Json& was, const std::vector<Json>& runs) {
  if (std::find(runs.begin(), runs.end(), was) != runs.end()) return true;
  std::vector<double> numbers;
  for (const Json& run : runs)
    if (run.is_number()) numbers.push_back(run.get<double>());
  if (!was.is_number() || numbers.empty()) return false;
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  const double apart = *high - *low;
  return was.get<double>() >= *low - apart && was.get<double>() <= *high + apart;
}

/// The same for each number and word of it, beside runs that have some at the same places.
bool all_lies_near(const Json& was, const std::vector<Json>& runs) {
  if (!was.is_structured()) return lies_near(was, runs);
  const auto places = [](const Json& flat) {
    std::vector<std::string> keys;
    for (const auto& leaf : flat.items()) keys.push_back(leaf.key());
    return keys;
  };
  const Json leaves = was.flatten();
  std::vector<Json> alike;
  for (const Json& run : runs)
    if (run.is_structured() && places(run.flatten()) == places(leaves))
      alike.push_back(run.flatten());
  for (const auto& leaf : leaves.items()) {
    std::vector<Json> values;
    for (const Json& run : alike) values.push_back(run[leaf.key()]);
    if (!lies_near(leaf.value(), values)) return false;
  }
  return true;
}

/// Where a part of an observation stands in its file, and whether a run can be held against it.
struct Part {
  std::string what;   // "facts of offset_ladder"
  std::string check;  // empty: of the build or of the claims
  const char* key;
  bool repeated = false;    // it follows from what came again bit by bit
  bool only_words = false;  // of which nothing depends
};

/// Compares parts and keeps what there is to say of them.
class PartComparison {
 public:
  explicit PartComparison(Comparison& made) : made_(made) {}

  void add(const Part& part, const Json& was, const std::vector<Json>& runs) {
    if (was == runs.front()) return;
    const std::string differs = fmt::format("was {}, is now {}", cut(was), cut(runs.front()));
    if (part.only_words) {
      made_.proofs.push_back({part.what, Outcome::noted, differs});
    } else if (part.repeated) {
      made_.proofs.push_back({part.what, Outcome::refuted, differs});
    } else if (all_lies_near(was, runs)) {
      made_.wavering.push_back(part.what);
      made_.proofs.push_back(
          {part.what, Outcome::noted,
           fmt::format("{}; {} runs are as far from each other", differs, runs.size())});
    } else {
      made_.unconfirmed.push_back(part.what);
      made_.proofs.push_back(
          {part.what, Outcome::unconfirmed,
           fmt::format("{}; nothing like it came in {} run{} with this seed: only the receipt says "
                       "so; verify again on the machine that graded, or grade again",
                       differs, runs.size(), runs.size() == 1 ? "" : "s")});
    }
  }

 private:
  Comparison& made_;
};

/// What hangs on a check's outputs. Of what it measured only the points do.
std::vector<Part> parts_of(const CheckTrace& trace, bool repeated, bool measured) {
  std::vector<Part> parts{{"points of " + trace.id, trace.id, "earned", repeated}};
  if (measured) return parts;
  for (const char* key : {"cases", "facts", "curves", "exhibits", "workspace"})
    parts.push_back({fmt::format("{} of {}", key, trace.id), trace.id, key, repeated});
  parts.push_back({"finding of " + trace.id, trace.id, "finding", repeated, true});
  return parts;
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

Comparison compare_seen(const Receipt& claimed, const CellObservation& then, const Receipt& seen,
                        std::span<const CellObservation> runs) {
  Comparison made;
  PartComparison comparison(made);
  const Json was = written(then);
  std::vector<Json> written_runs;
  for (const CellObservation& run : runs) written_runs.push_back(written(run));
  const Json& is = written_runs.front();
  const bool same_library = !claimed.library.empty() && claimed.library == seen.library;
  for (const char* key : {"warnings", "messages", "flags"})
    comparison.add({fmt::format("{} of the build", key), "", key, same_library}, was["build"][key],
                   {is["build"][key]});
  for (const char* key : {"stated_claims", "claims_fault"})
    comparison.add({key, "", key, true}, was.value(key, Json()), {is.value(key, Json())});
  for (const CheckTrace& trace : seen.closing->checks) {
    const CheckTrace* before = trace_of(claimed, trace.id);
    const CheckObservation* after = check_of(runs.front(), trace.id);
    if (trace.timed || !before || !after || !check_of(then, trace.id)) continue;
    const bool repeated = trace.calls > 0 && before->outputs == trace.outputs;
    const std::size_t confirmed_before = made.unconfirmed.size();
    for (const Part& part : parts_of(trace, repeated, measures(*after))) {
      std::vector<Json> values;
      for (std::size_t i = 0; i < runs.size(); ++i)
        if (check_of(runs[i], trace.id))
          values.push_back(part_of(written_runs[i], trace.id, part.key));
      comparison.add(part, part_of(was, trace.id, part.key), values);
    }
    // A submission's own tests take a minute and more, and have no threads that add by chance.
    if (made.unconfirmed.size() > confirmed_before && trace.calls > 0)
      made.ask_again.push_back(trace.id);
  }
  return made;
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
