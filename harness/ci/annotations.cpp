// SPDX-License-Identifier: Apache-2.0
#include "harness/ci/annotations.h"

#include <algorithm>
#include <fmt/format.h>
#include <sstream>
#include <vector>

#include "harness/ci/findings.h"
#include "harness/core/text.h"

namespace gauntlet {
namespace {

constexpr std::size_t kLongest = 500;

/// As the runner decodes it; ':' and ',' have a meaning among properties only.
std::string escaped(std::string_view text, bool property) {
  std::string safe;
  for (const char c : without_commands(one_line(text, kLongest)))
    if (c == '%' || (property && (c == ':' || c == ',')))
      safe += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      safe += c;
  return safe;
}

std::string line_of(const CiFinding& finding) {
  std::string place = "file=" + escaped(finding.file, true);
  if (finding.line > 0) place += fmt::format(",line={}", finding.line);
  if (finding.line > 0 && finding.column > 0) place += fmt::format(",col={}", finding.column);
  const char* kind = finding.severity >= Severity::major ? "error" : "warning";
  return fmt::format("::{} {},title={}::{}\n", kind, place,
                     escaped(fmt::format("{}: {}", name_of(finding.severity), finding.rule), true),
                     escaped(finding.text, false));
}

/// Without a file: nothing that anybody handed in is the reason.
std::string own_fault_line(const std::string& text) {
  return fmt::format("::warning title=gauntlet left this open::{}\n", escaped(text, false));
}

std::vector<std::string> lines_of(const CiRun& run) {
  std::vector<std::string> lines;
  if (!run.fault.empty()) lines.push_back(own_fault_line(run.fault));
  for (const GateAnswer& gate : run.gates)
    if (gate.outcome == GateOutcome::failed)
      lines.push_back(fmt::format("::error file={},title={}::{}\n", escaped(gate.file, true),
                                  escaped(gate.rule, true),
                                  escaped(gate.key.text() + ": " + gate.text, false)));
  for (const CiFinding& finding : findings_of(run)) lines.push_back(line_of(finding));
  for (const CiCell& cell : run.cells)
    if (is_broken(cell.score))
      lines.push_back(
          own_fault_line(fmt::format("{} is incomplete through no fault of its own: {}",
                                     cell.seen.key.text(), sentence_list(cell.score.reasons))));
  return lines;
}

}  // namespace

std::string annotations(const CiRun& run) {
  std::vector<std::string> lines = lines_of(run);
  if (lines.size() > kMostAnnotations) {
    const std::size_t more = lines.size() - (kMostAnnotations - 1);
    lines.resize(kMostAnnotations - 1);
    lines.push_back(fmt::format("::notice title=gauntlet::and {} more in the summary\n", more));
  }
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

std::string without_commands(std::string_view text) {
  std::string safe;
  bool begins = true;  // nothing but blanks since the line began
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    // Commands are "::" at the beginning of a line and, of old, "##[" anywhere.
    const bool command = begins && c == ':' && i + 1 < text.size() && text[i + 1] == ':';
    if (command || text.substr(i, 3) == "##[") {
      safe += c;
      safe += ' ';
    } else {
      safe += c;
    }
    begins = c == '\n' || c == '\r' || (begins && (c == ' ' || c == '\t'));
  }
  return safe;
}

}  // namespace gauntlet
