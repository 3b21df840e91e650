// SPDX-License-Identifier: Apache-2.0
#include "harness/sandbox/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include "harness/core/error.h"

namespace gauntlet {
namespace {

/// Why submissions must not run without a wall that does not hold; empty: they may.
std::string problem_without(const SandboxLayer& layer) {
  switch (layer.wall->if_missing) {
    case Wall::Missing::refuse:
      return fmt::format(
          "{}: {}. Submissions must not run without it; in a container, allow it or "
          "run on the host.",
          layer.wall->name, layer.detail);
    case Wall::Missing::refuse_as_root:
      return geteuid() != 0 ? ""
                            : fmt::format("{}: {}. Run as an ordinary user instead.",
                                          layer.wall->name, layer.detail);
    case Wall::Missing::warn:
    case Wall::Missing::accept:
      return "";
  }
  return "";
}

SandboxReport probe() {
  std::vector<SandboxLayer> layers;
  for (const Wall& wall : all_walls()) {
    if (wall.probe == nullptr) continue;
    ProbeResult found = wall.probe();
    layers.push_back({&wall, found.holds, std::move(found.detail)});
  }
  return report_of(std::move(layers));
}

}  // namespace

SandboxReport report_of(std::vector<SandboxLayer> layers) {
  SandboxReport report;
  for (const SandboxLayer& layer : layers) {
    const Wall& wall = *layer.wall;
    // What is never missing where submissions run needs no telling.
    if (layer.holds && wall.up != nullptr)
      report.tier += (report.tier.empty() ? "" : "+") + std::string(wall.name);
    if (layer.holds) continue;
    if (report.problem.empty()) report.problem = problem_without(layer);
    if (wall.if_missing == Wall::Missing::warn)
      report.weakness = fmt::format("nothing stops {}: {}", wall.stops, layer.detail);
  }
  if (report.tier.empty()) report.tier = "none";
  report.usable = report.problem.empty();
  report.layers = std::move(layers);
  return report;
}

const SandboxReport& probe_sandbox() {
  static const SandboxReport report = probe();
  return report;
}

void require_sandbox(const SandboxReport& report, bool allow_weaker) {
  if (!report.usable) throw UserError("the sandbox does not hold here: " + report.problem);
  if (!report.weakness.empty() && !allow_weaker)
    throw UserError(fmt::format(
        "the sandbox is weaker here than it should be: {}. If that will do, for submissions that "
        "you trust, say --allow-weaker-sandbox; every result will tell.",
        report.weakness));
}

}  // namespace gauntlet
