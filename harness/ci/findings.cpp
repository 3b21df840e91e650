// SPDX-License-Identifier: Apache-2.0
#include "harness/ci/findings.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fmt/format.h>
#include <sstream>

#include "harness/core/text.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

/// Reads ":<number>" at `at` and moves behind it; 0 when there is none.
int take_number(std::string_view line, std::size_t& at) {
  if (at >= line.size() || line[at] != ':') return 0;
  int number = 0;
  const char* end = line.data() + line.size();
  const auto parsed = std::from_chars(line.data() + at + 1, end, number);
  if (parsed.ec != std::errc() || number < 1) return 0;
  at = static_cast<std::size_t>(parsed.ptr - line.data());
  return number;
}

std::string one_of_line(const CheckObservation& check) {
  if (!check.finding) return std::string(name_of(check.verdict));
  const std::string where =
      check.finding->case_name.empty() ? "" : fmt::format(" [{}]", check.finding->case_name);
  return fmt::format("{}: {}{}", name_of(check.verdict), check.finding->summary, where);
}

/// What a check has against a solution. Where its evidence names a line of the solution's, as it
/// does for kernels, that is the place.
CiFinding finding_of(const CiCell& cell, const CheckObservation& check) {
  CiFinding finding{cell.seen.key.entry() + "/" + check.info.id,
                    check.info.detects,
                    check.info.severity,
                    cell.main_file(),
                    0,
                    0,
                    one_of_line(check),
                    rerun_command(cell.seen, check.info.id)};
  if (!check.finding) return finding;
  std::string evidence;
  for (const std::string& line : check.finding->evidence) evidence += one_line(line) + "\n";
  const auto places = places_in(evidence, cell.files);
  if (places.empty()) return finding;
  finding.file = cell.folder + "/" + places.front().file;
  finding.line = places.front().line;
  return finding;
}

/// What the compiler said of a solution's own files.
void add_messages(const CiCell& cell, std::vector<CiFinding>& findings) {
  const std::string build = cell.seen.key.entry() + "/build";
  bool placed = false;
  for (const SaidPlace& place : places_in(cell.seen.build.messages, cell.files)) {
    const bool error = place.said.starts_with("error:") || place.said.starts_with("fatal error:");
    const bool warning = place.said.starts_with("warning:");
    if (!warning && !(error && !cell.seen.build.ok)) continue;
    placed |= error;
    findings.push_back({error ? build : cell.seen.key.entry() + "/warning",
                        error ? "a solution that does not build" : "what the compiler warns of",
                        error ? Severity::fatal : Severity::minor, cell.folder + "/" + place.file,
                        place.line, place.column, place.said});
  }
  if (!cell.seen.build.ok && !placed && !is_broken(cell.score))
    findings.push_back({build, "a solution that does not build", Severity::fatal, cell.main_file(),
                        0, 0, "does not build: " + one_line(cell.seen.build.messages, 400)});
}

void add_problems(const CiSubmission& submission, std::vector<CiFinding>& findings) {
  const std::string card = submission.changed.folder() + "/model.yaml";
  for (const std::string& problem : submission.problems) {
    CiFinding finding{
        "submission", "a submission that breaks the rules", Severity::fatal, card, 0, 0, problem};
    // The reader of YAML names the file with the whole path to it.
    if (const std::size_t at = problem.find(card); at != std::string::npos) {
      const auto places = places_in(problem.substr(at), {card});
      if (!places.empty()) finding.line = places.front().line;
    }
    findings.push_back(finding);
  }
}

}  // namespace

std::vector<SaidPlace> places_in(std::string_view text, const std::vector<std::string>& files) {
  std::vector<SaidPlace> places;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);)
    for (const std::string& file : files) {
      if (!line.starts_with(file)) continue;
      std::size_t at = file.size();
      SaidPlace place{file, take_number(line, at)};
      if (place.line == 0) continue;
      place.column = take_number(line, at);
      if (!std::string_view(line).substr(at).starts_with(": ")) continue;
      place.said = line.substr(at + 2);
      places.push_back(std::move(place));
      break;
    }
  return places;
}

std::vector<CiFinding> findings_of(const CiRun& run) {
  std::vector<CiFinding> findings;
  for (const CiSubmission& submission : run.submissions) add_problems(submission, findings);
  for (const CiCell& cell : run.cells) {
    add_messages(cell, findings);
    for (const CheckObservation& check : cell.seen.checks)
      if (blames_submission(check.verdict) && cell.seen.build.ok)
        findings.push_back(finding_of(cell, check));
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const CiFinding& a, const CiFinding& b) { return a.severity > b.severity; });
  return findings;
}

std::string uri_path(std::string_view path) {
  std::string uri;
  for (const char c : path)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 ||
        std::string_view("/._-~").find(c) != std::string_view::npos)
      uri += c;
    else
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return uri;
}

}  // namespace gauntlet
