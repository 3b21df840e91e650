// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/device_evidence.h"

#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/device/device_control.h"

namespace gauntlet {
namespace {

constexpr std::size_t kMostLines = 10;  // of a kernel that is wrong everywhere the first will do

}  // namespace

std::string evidence_line(const DeviceReport::Diagnostic& seen) {
  std::string text = seen.text;
  const std::string place = " at " + seen.source;
  if (const std::size_t at = text.find(place); at != std::string::npos)
    text.erase(at, place.size());
  return fmt::format("{}: {}", seen.source, text);
}

void add_device_evidence(Finding& finding, Session& session) {
  DeviceControl* device = session.device();
  if (device == nullptr || !blames_submission(finding.verdict)) return;
  std::size_t added = 0;
  for (const DeviceReport::Diagnostic& seen : device->report().diagnostics()) {
    std::string line = evidence_line(seen);
    if (contains(finding.evidence, line)) continue;
    if (++added > kMostLines) break;
    finding.evidence.push_back(std::move(line));
  }
}

}  // namespace gauntlet
