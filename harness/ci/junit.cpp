// SPDX-License-Identifier: Apache-2.0
#include "harness/ci/junit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pugixml.hpp>
#include <sstream>

#include "harness/core/text.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

constexpr std::size_t kLongestText = std::size_t{8} << 10;

/// Text from anywhere that XML 1.0 can hold: printable() leaves no control characters, but two
/// code points that are valid UTF-8 and no characters, U+FFFE and U+FFFF.
std::string xml_text(std::string_view text, std::size_t limit = kLongestText) {
  std::string safe = printable(text, limit);
  for (const std::string_view none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})
    for (std::size_t at = safe.find(none); at != std::string::npos; at = safe.find(none, at))
      safe.replace(at, none.size(), "\xEF\xBF\xBD");
  return safe;
}

struct Counts {
  int tests = 0;
  int failures = 0;
  int errors = 0;
  int skipped = 0;
  double seconds = 0;
};

/// One <testsuite> with the attributes that follow from its cases.
class Suite {
 public:
  Suite(pugi::xml_node parent, const std::string& name, Counts& all)
      : node_(parent.append_child("testsuite")), all_(all) {
    node_.append_attribute("name") = xml_text(name).c_str();
    for (const char* count : {"tests", "failures", "errors", "skipped", "time"})
      node_.append_attribute(count) = "0";
  }
  Suite(const Suite&) = delete;
  Suite& operator=(const Suite&) = delete;

  ~Suite() {
    write(node_, own_);
    all_.tests += own_.tests;
    all_.failures += own_.failures;
    all_.errors += own_.errors;
    all_.skipped += own_.skipped;
    all_.seconds += own_.seconds;
  }

  static void write(pugi::xml_node node, const Counts& counts) {
    node.attribute("tests") = counts.tests;
    node.attribute("failures") = counts.failures;
    node.attribute("errors") = counts.errors;
    node.attribute("skipped") = counts.skipped;
    node.attribute("time") = fmt::format("{:.3f}", counts.seconds).c_str();
  }

  /// Before any case, as the schema has it.
  void property(const char* name, const std::string& value) {
    if (!properties_) properties_ = node_.append_child("properties");
    pugi::xml_node one = properties_.append_child("property");
    one.append_attribute("name") = name;
    one.append_attribute("value") = xml_text(value).c_str();
  }

  void passed(const std::string& group, const std::string& name, double seconds = 0) {
    add(group, name, seconds);
  }

  void failure(const std::string& group, const std::string& name, std::string_view type,
               const std::string& text, double seconds = 0) {
    ++own_.failures;
    outcome(add(group, name, seconds), "failure", type, text);
  }

  void error(const std::string& group, const std::string& name, const std::string& text,
             double seconds = 0) {
    ++own_.errors;
    outcome(add(group, name, seconds), "error", "grader", text);
  }

  void skipped(const std::string& group, const std::string& name, const std::string& text) {
    ++own_.skipped;
    add(group, name, 0).append_child("skipped").append_attribute("message") =
        xml_text(one_line(text)).c_str();
  }

 private:
  pugi::xml_node add(const std::string& group, const std::string& name, double seconds) {
    ++own_.tests;
    own_.seconds += seconds;
    pugi::xml_node test = node_.append_child("testcase");
    test.append_attribute("classname") = xml_text(group).c_str();
    test.append_attribute("name") = xml_text(name).c_str();
    test.append_attribute("time") = fmt::format("{:.3f}", seconds).c_str();
    return test;
  }

  static void outcome(pugi::xml_node test, const char* kind, std::string_view type,
                      const std::string& text) {
    pugi::xml_node node = test.append_child(kind);
    node.append_attribute("type") = std::string(type).c_str();
    node.append_attribute("message") = xml_text(text.substr(0, text.find('\n'))).c_str();
    node.text().set(xml_text(text).c_str());
  }

  pugi::xml_node node_;
  pugi::xml_node properties_;
  Counts own_;
  Counts& all_;
};

std::string evidence_text(const CellObservation& cell, const CheckObservation& check) {
  if (!check.finding) return "";
  std::string text = check.finding->summary;
  if (!check.finding->case_name.empty()) text += "\ncase: " + check.finding->case_name;
  for (const std::string& line : check.finding->evidence) text += "\n" + line;
  return text + "\nReproduce: " + rerun_command(cell, check.info.id);
}

void add_check(const CiCell& cell, const CheckObservation& check, Suite& suite) {
  const std::string group = cell.seen.key.row() + "." + cell.seen.key.column();
  const std::string text = evidence_text(cell.seen, check);
  if (check.verdict == Verdict::passed)
    suite.passed(group, check.info.id, check.seconds);
  else if (check.verdict == Verdict::unmeasured)
    suite.skipped(group, check.info.id, text);
  else if (check.verdict == Verdict::broken)
    suite.error(group, check.info.id, text, check.seconds);
  else
    suite.failure(group, check.info.id, name_of(check.info.severity), text, check.seconds);
}

void add_cell(pugi::xml_node root, const CiCell& cell, Counts& all) {
  const CellKey& key = cell.seen.key;
  Suite suite(root, key.row() + " " + key.column(), all);
  suite.property("grade", grade_text(cell.score, ascii_signs()));
  if (cell.score.score) {
    suite.property("score", points(*cell.score.score));
    suite.property("score_high", points(cell.score.ends().high));
  }
  suite.property("seed", cell.seen.seed.text());
  suite.property("submission_digest", cell.seen.provenance.submission_digest);
  suite.property("grader_digest", cell.seen.provenance.grader_digest);
  const std::string group = key.row() + "." + key.column();
  if (cell.seen.build.ok)
    suite.passed(group, "build", cell.seen.build.seconds);
  else if (is_broken(cell.score))
    suite.error(group, "build", "it could not be built here: no fault of the submission");
  else
    suite.failure(group, "build", "fatal", "does not build\n" + cell.seen.build.messages,
                  cell.seen.build.seconds);
  for (const CheckObservation& check : cell.seen.checks) add_check(cell, check, suite);
}

void add_gates(pugi::xml_node root, const CiRun& run, Counts& all) {
  if (run.gates.empty()) return;
  Suite suite(root, "gates", all);
  for (const GateAnswer& gate : run.gates) {
    const std::string group = "gates." + gate.rule;
    const std::string name = gate.key.text();
    if (gate.outcome == GateOutcome::passed) suite.passed(group, name);
    if (gate.outcome == GateOutcome::failed) suite.failure(group, name, "gate", gate.text);
    if (gate.outcome == GateOutcome::incomparable) suite.skipped(group, name, gate.text);
    if (gate.outcome == GateOutcome::unanswered) suite.error(group, name, gate.text);
  }
}

}  // namespace

std::string junit_xml(const CiRun& run) {
  pugi::xml_document document;
  pugi::xml_node head = document.append_child(pugi::node_declaration);
  head.append_attribute("version") = "1.0";
  head.append_attribute("encoding") = "UTF-8";
  pugi::xml_node root = document.append_child("testsuites");
  for (const char* name : {"name", "tests", "failures", "errors", "skipped", "time"})
    root.append_attribute(name) = "0";
  root.attribute("name") = "gauntlet";
  Counts all;
  if (!run.submissions.empty() || !run.fault.empty()) {
    Suite suite(root, "submissions", all);
    for (const CiSubmission& one : run.submissions) {
      const std::string name = one.changed.generation();
      if (one.problems.empty())
        suite.passed("submissions", name);
      else
        suite.failure("submissions", name, "invalid",
                      fmt::format("{}", fmt::join(one.problems, "\n")));
    }
    if (!run.fault.empty()) suite.error("gauntlet", "grader", run.fault);
  }
  for (const CiCell& cell : run.cells) add_cell(root, cell, all);
  add_gates(root, run, all);
  Suite::write(root, all);
  std::ostringstream out;
  document.save(out, "  ");
  return out.str();
}

}  // namespace gauntlet
