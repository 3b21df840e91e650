// SPDX-License-Identifier: Apache-2.0
#include "harness/attacks/effects.h"

#include <algorithm>
#include <functional>
#include <map>

#include "harness/core/error.h"

namespace gauntlet {
namespace {

using Seen = std::function<bool(const Evidence&, const Effect&)>;

bool has_object(const Evidence& evidence, const std::string& name) {
  return std::any_of(evidence.objects.begin(), evidence.objects.end(),
                     [&](const auto& object) { return object.find(name) != std::string::npos; });
}

const std::map<std::string, Seen>& effects() {
  static const std::map<std::string, Seen> all{
      // A wrong, late or forged answer passed.
      {"accepted", [](auto& e, auto&) { return e.verdict == Verdict::passed && e.cases > 0; }},
      // It passed in fewer than this many seconds a case, which its answers really take.
      {"faster", [](auto& e, auto& x) { return e.cases > 0 && e.seconds < x.amount * e.cases; }},
      // Taken for our own fault: it counts against nobody.
      {"broken", [](auto& e, auto&) { return e.verdict == Verdict::broken; }},
      {"leak", [](auto& e, auto&) { return e.leaked; }},
      {"died", [](auto& e, auto&) { return e.died; }},
      {"stalled", [](auto& e, auto& x) { return e.trial_seconds >= x.amount; }},
      {"signal", [](auto& e, auto&) { return e.signals > 0 || e.died; }},
      {"memory_changed", [](auto& e, auto&) { return e.memory_changed; }},
      {"settings_changed", [](auto& e, auto&) { return e.settings_changed; }},
      {"traced", [](auto& e, auto&) { return e.traced; }},
      {"processes", [](auto& e, auto& x) { return e.processes >= x.amount; }},
      {"threads", [](auto& e, auto& x) { return e.threads >= x.amount; }},
      {"survivor", [](auto& e, auto&) { return e.survivors > 0; }},
      {"resident_mib", [](auto& e, auto& x) { return e.resident_mib >= x.amount; }},
      {"shared_mib", [](auto& e, auto& x) { return e.shared_mib >= x.amount; }},
      {"tables_mib", [](auto& e, auto& x) { return e.tables_mib >= x.amount; }},
      {"locked_kib", [](auto& e, auto& x) { return e.locked_kib >= x.amount; }},
      {"namespace", [](auto& e, auto&) { return e.own_namespace; }},
      {"scheduling", [](auto& e, auto&) { return e.other_scheduling; }},
      {"cores", [](auto& e, auto&) { return e.other_cores; }},
      {"object", [](auto& e, auto& x) { return has_object(e, x.word); }},
      {"planted", [](auto& e, auto&) { return e.planted; }},
      {"planted_mib", [](auto& e, auto& x) { return e.planted_mib >= x.amount; }},
      {"victim_changed", [](auto& e, auto&) { return e.victim_changed; }},
      {"token", [](auto& e, auto&) { return e.token; }},
      {"listens", [](auto& e, auto&) { return e.listens; }},
      {"file_locked", [](auto& e, auto&) { return e.file_locked; }},
      {"ipc", [](auto& e, auto&) { return e.left_ipc; }},
      {"key", [](auto& e, auto&) { return e.left_key; }},
      // The compiler went to work on what it should have been refused, or worked on and on.
      {"built", [](auto& e, auto&) { return e.built; }},
      {"stopped", [](auto& e, auto&) { return e.stopped; }},
  };
  return all;
}

}  // namespace

bool is_effect(const std::string& kind) {
  return effects().contains(kind);
}

std::vector<std::string> effect_names() {
  std::vector<std::string> names;
  for (const auto& [name, seen] : effects()) names.push_back(name);
  return names;
}

bool succeeded(const Effect& effect, const Evidence& evidence) {
  return effects().at(effect.kind)(evidence, effect);
}

bool hindered(const Evidence& evidence) {
  return evidence.verdict != Verdict::passed || evidence.cases == 0 || evidence.died;
}

}  // namespace gauntlet
