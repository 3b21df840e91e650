// SPDX-License-Identifier: Apache-2.0
#include "harness/ci/sarif.h"

#include <fmt/format.h>
#include <map>

#include "harness/ci/findings.h"
#include "harness/core/text.h"

namespace gauntlet {
namespace {

constexpr std::size_t kMostResults = 5000;  // code scanning reads no more of one run

const char* level_of(Severity severity) {
  if (severity >= Severity::critical) return "error";
  return severity == Severity::major ? "warning" : "note";
}

Json place_of(const CiFinding& finding) {
  Json place{{"artifactLocation", {{"uri", uri_path(finding.file)}, {"uriBaseId", "%SRCROOT%"}}}};
  if (finding.line > 0) place["region"]["startLine"] = finding.line;
  if (finding.line > 0 && finding.column > 0) place["region"]["startColumn"] = finding.column;
  return {{"physicalLocation", place}};
}

Json result_of(const CiFinding& finding, std::size_t rule) {
  Json result{{"ruleId", finding.rule},
              {"ruleIndex", rule},
              {"level", level_of(finding.severity)},
              {"message", {{"text", one_line(finding.text, 2000)}}},
              {"locations", Json::array({place_of(finding)})}};
  if (!finding.reproduce.empty()) result["properties"]["reproduce"] = finding.reproduce;
  return result;
}

Json notification(const std::string& text) {
  return {{"level", "error"}, {"message", {{"text", one_line(text, 2000)}}}};
}

/// What kept us from an answer.
Json own_faults(const CiRun& run) {
  Json faults = Json::array();
  if (!run.fault.empty()) faults.push_back(notification(run.fault));
  for (const CiCell& cell : run.cells)
    for (const CheckObservation& check : cell.seen.checks)
      if (check.verdict == Verdict::broken)
        faults.push_back(
            notification(fmt::format("{} {}: {}", cell.seen.key.text(), check.info.id,
                                     check.finding ? check.finding->summary : "broken")));
  return faults;
}

}  // namespace

Json sarif(const CiRun& run) {
  std::map<std::string, std::size_t> indices;
  Json rules = Json::array();
  Json results = Json::array();
  for (const CiFinding& finding : findings_of(run)) {
    if (results.size() == kMostResults) break;  // the worst come first
    const auto [at, fresh] = indices.emplace(finding.rule, rules.size());
    if (fresh)
      rules.push_back({{"id", finding.rule},
                       {"shortDescription", {{"text", one_line(finding.detects, 200)}}},
                       {"defaultConfiguration", {{"level", level_of(finding.severity)}}}});
    results.push_back(result_of(finding, at->second));
  }
  const Json faults = own_faults(run);
  const Json invocation{{"executionSuccessful", faults.empty()},
                        {"toolExecutionNotifications", faults}};
  const Json driver{{"name", "gauntlet"}, {"version", run.version}, {"rules", rules}};
  const Json base{{"%SRCROOT%", {{"description", {{"text", "The root of the checkout."}}}}}};
  Json one{{"tool", {{"driver", driver}}},
           {"invocations", Json::array({invocation})},
           {"originalUriBaseIds", base},
           {"results", results}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", Json::array({one})}};
}

}  // namespace gauntlet
