// SPDX-License-Identifier: Apache-2.0
// What CI reads of a run, however hostile the submission's texts are.
#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <pugixml.hpp>
#include <sstream>

#include "harness/ci/annotations.h"
#include "harness/ci/findings.h"
#include "harness/ci/gates.h"
#include "harness/ci/junit.h"
#include "harness/ci/sarif.h"
#include "harness/ci/step_summary.h"
#include "harness/core/files.h"
#include "tests/ci/ci_sample.h"

using namespace gauntlet;
using sample::ci_cell;
using sample::ci_cell_after;
using sample::ci_run;
using sample::failed;
using sample::kHostile;
using sample::not_asked;
using sample::passed;

namespace {

/// Every place where a stranger's text can stand.
CiRun hostile_run() {
  CheckObservation wrong = failed("odd", Severity::critical);
  wrong.finding = Finding{Verdict::wrong, kHostile, kHostile, {kHostile}, std::nullopt};
  CheckObservation ours = not_asked("ours", Verdict::broken);
  ours.finding->summary = kHostile;
  CheckObservation open = not_asked("open", Verdict::unmeasured);
  open.finding->summary = kHostile;
  CiRun run = ci_run({ci_cell({passed("base"), wrong, ours, open})});
  CiCell unbuilt = ci_cell({});
  unbuilt.seen.build.ok = false;
  unbuilt.seen.build.messages = "solution.cpp:3:5: error: " + kHostile + "\n" + kHostile;
  unbuilt.score = score_cell(run.rubric, unbuilt.seen);
  run.cells.push_back(unbuilt);
  CiSubmission odd;
  odd.changed.name = kHostile;
  odd.problems = {kHostile};
  run.submissions.push_back(odd);
  run.gates = {{"min-grade " + kHostile, run.cells[0].seen.key, run.cells[0].main_file(),
                GateOutcome::failed, kHostile}};
  run.base = run.baseline = run.fault = kHostile;
  return run;
}

pugi::xml_document parsed(const std::string& xml) {
  pugi::xml_document document;
  const auto result = document.load_string(xml.c_str());
  INFO(result.description());
  REQUIRE(result.status == pugi::status_ok);
  return document;
}

int count_of(const std::string& text, const std::string& word) {
  int found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++found;
  return found;
}

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("JUnit tells failures of a submission from what is ours and from what nobody asked") {
  const auto document = parsed(junit_xml(ci_run(
      {ci_cell({passed("base"), failed("odd", Severity::major), not_asked("ours", Verdict::broken),
                not_asked("gpu", Verdict::unmeasured)})})));
  const pugi::xml_node all = document.child("testsuites");
  CHECK(all.attribute("tests").as_int() == 6);  // the submission and the build as well
  CHECK(all.attribute("failures").as_int() == 1);
  CHECK(all.attribute("errors").as_int() == 1);
  CHECK(all.attribute("skipped").as_int() == 1);
  const pugi::xml_node suite = all.find_child_by_attribute("name", "bravo first");
  CHECK(std::string(suite.first_child().name()) == "properties");
  const auto named = [&](const char* name) {
    return suite.find_child_by_attribute("testcase", "name", name);
  };
  CHECK(std::string(named("odd").attribute("classname").value()) == "bravo.first");
  CHECK(std::string(named("odd").child("failure").attribute("type").value()) == "major");
  CHECK(std::string(named("odd").child("failure").text().get()).find("rerun bravo first") !=
        std::string::npos);
  CHECK_FALSE(named("ours").child("error").empty());
  CHECK_FALSE(named("gpu").child("skipped").empty());
  CHECK(named("base").first_child().empty());
}

TEST_CASE("what broke before it was built is no failure in any document") {
  CiCell cell = ci_cell({not_asked("base", Verdict::broken)});
  cell.seen.build.ok = false;
  const CiRun run = ci_run({cell});
  CHECK(count_of(junit_xml(run), "<failure") == 0);
  CHECK(findings_of(run).empty());
  CHECK(sarif(run)["runs"][0]["results"].empty());
  CHECK(sarif(run)["runs"][0]["invocations"][0]["executionSuccessful"] == false);
  CHECK(annotations(run).find("::error") == std::string::npos);
  CHECK(step_summary(run).find("our own fault") != std::string::npos);
}

TEST_CASE("hostile text leaves XML that other readers accept as well") {
  const std::string xml = junit_xml(hostile_run());
  parsed(xml);
  for (const char* never : {"\x1b", "&#27;", "\xff", "\xEF\xBF\xBF", "]]></", "</testcase>]]"})
    CHECK(xml.find(never) == std::string::npos);
  if (!std::filesystem::exists("/usr/bin/xmllint")) {
    MESSAGE("there is no xmllint (apt install libxml2-utils): pugixml alone read the file");
    return;
  }
  const ScratchFolder folder("junit");
  write_file(folder.path() / "junit.xml", xml);
  CHECK(std::system(
            ("/usr/bin/xmllint --noout " + (folder.path() / "junit.xml").string()).c_str()) == 0);
}

TEST_CASE("hostile text forges no command of a workflow") {
  const std::string text = annotations(hostile_run());
  CHECK(text.find("##[") == std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\r') == std::string::npos);
  for (const std::string& line : lines_in(text)) {
    CHECK(line.starts_with("::"));
    // Up to the next "::" are properties, which commas part: none of them is theirs.
    CHECK(line.substr(0, line.find("::", 2)).find(",file=") == std::string::npos);
    CHECK(line.find("%0A") == std::string::npos);  // a '%' of theirs is no line break of ours
  }
  const std::string safe = without_commands("a\n::error::x\n \t::error::y\r::notice::z ##[error]w");
  for (const char* never : {"::error", "::notice", "##["})
    CHECK(safe.find(never) == std::string::npos);
  CHECK(without_commands("std::vector\n: # a") == "std::vector\n: # a");
}

TEST_CASE("at most ten annotations, the worst first, and the last counts the others") {
  std::vector<CheckObservation> checks;
  for (int i = 0; i < 20; ++i) checks.push_back(failed("minor" + std::to_string(i)));
  checks.push_back(failed("deadly", Severity::critical));
  const auto lines = lines_in(annotations(ci_run({ci_cell(checks)})));
  REQUIRE(lines.size() == kMostAnnotations);
  CHECK(lines[0] ==
        "::error file=submissions/bravo/first/solution.cpp,title=critical%3A first/deadly::wrong: "
        "dx[0]: got 1, want 2 +- 0.1 [case one]");
  CHECK(lines[1].starts_with("::warning file="));
  CHECK(lines[9] == "::notice title=gauntlet::and 12 more in the summary");
  CHECK(annotations(ci_run({ci_cell({passed("base")})})).empty());
}

TEST_CASE("a finding stands at the line that the compiler names, in the solution's own files") {
  const std::string said =
      "solution.cpp:88:21: error: expression must have a constant value\n"
      "detail/tiles.h:7: error: no column\n"
      "../../other/solution.cpp:1:1: error: not theirs to point at\n"
      "solution.cpp:0:1: error: no line\nsolution.cpp:x: error: no number\nsolution.cpp\n";
  const auto places = places_in(said, {"solution.cpp", "detail/tiles.h"});
  REQUIRE(places.size() == 2);
  CHECK(places[0].line == 88);
  CHECK(places[0].column == 21);
  CHECK(places[1].file == "detail/tiles.h");
  CHECK(places[1].column == 0);

  CiCell cell = ci_cell({});
  cell.seen.build.ok = false;
  cell.seen.build.messages = said;
  cell.score = score_cell(sample::rubric(), cell.seen);
  CiRun run = ci_run({cell});
  run.submissions[0].problems = {"/a/submissions/bravo/model.yaml:3: providr: is no key"};
  const Json results = sarif(run)["runs"][0]["results"];
  REQUIRE(results.size() == 3);
  const auto place = [&](std::size_t i) { return results[i]["locations"][0]["physicalLocation"]; };
  CHECK(place(0)["artifactLocation"]["uri"] == "submissions/bravo/model.yaml");
  CHECK(place(0)["region"]["startLine"] == 3);
  CHECK(place(1)["artifactLocation"]["uri"] == "submissions/bravo/first/solution.cpp");
  CHECK(place(1)["region"] == Json({{"startLine", 88}, {"startColumn", 21}}));
  CHECK(results[1]["level"] == "error");
  CHECK(results[1]["ruleId"] == "first/build");
  CHECK(annotations(run).find("solution.cpp,line=88,col=21,title=") != std::string::npos);
}

TEST_CASE("a finding stands at the line of the kernel that its evidence names") {
  CheckObservation race = failed("race_free", Severity::critical);
  race.finding->evidence = {"elsewhere.cu:3: no file of it", "solution.cu:12: race in k: ..."};
  CiCell cell = ci_cell({race});
  cell.seen.key.device = Device::cuda;
  cell.folder = "submissions/bravo/first@cuda";
  cell.files = {"solution.cu"};
  const auto found = findings_of(ci_run({cell}));
  REQUIRE(found.size() == 1);
  CHECK(found[0].rule == "first@cuda/race_free");
  CHECK(found[0].file == "submissions/bravo/first@cuda/solution.cu");
  CHECK(found[0].line == 12);
  const Json place =
      sarif(ci_run({cell}))["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
  CHECK(place["region"]["startLine"] == 12);
}

TEST_CASE("SARIF has a rule for each result, and a file of the checkout") {
  const Json run = sarif(hostile_run())["runs"][0];
  const Json& rules = run["tool"]["driver"]["rules"];
  CHECK_FALSE(run["results"].empty());
  for (const Json& result : run["results"]) {
    CHECK(rules[result["ruleIndex"].get<std::size_t>()]["id"] == result["ruleId"]);
    const Json place = result["locations"][0]["physicalLocation"]["artifactLocation"];
    CHECK(place["uri"].get<std::string>().starts_with("submissions/"));
    CHECK(place["uriBaseId"] == "%SRCROOT%");
    CHECK_FALSE(result["message"]["text"].get<std::string>().empty());
  }
  CHECK(run["invocations"][0]["toolExecutionNotifications"].size() == 2);
  CHECK(Json::parse(json_text(sarif(hostile_run()))).is_object());
  CHECK(uri_path("submissions/a b%#?.cpp") == "submissions/a%20b%25%23%3F.cpp");
}

TEST_CASE("hostile text does nothing in the summary") {
  std::string text = step_summary(hostile_run());
  // What the compiler said stands between fences, where nothing has a meaning.
  const std::size_t fence = text.find("\n```");
  REQUIRE(fence != std::string::npos);
  text.erase(fence, text.find("\n```", fence + 1) - fence);
  for (const char* never : {"<b>", "@all", "#1 ", "\x1b", "</testcase>", "##[", "\n::error"})
    CHECK_MESSAGE(text.find(never) == std::string::npos, never);
  for (const std::string& line : lines_in(text))
    if (line.starts_with("| bravo")) CHECK(std::count(line.begin(), line.end(), '|') == 6);
}

TEST_CASE("the summary says the verdict first, then what changed, then why") {
  CiRun run = ci_run({ci_cell_after({passed("base"), passed("odd")},
                                    {passed("base"), failed("odd", Severity::critical)})});
  run.outside = 1;
  run.gates = ask_gates({std::nullopt, "", true}, run);
  const std::string text = step_summary(run);
  CHECK(text.starts_with("## Gauntlet\n\n**1 solution graded, 1 gate failed**\n"));
  CHECK(text.find("1 changed file outside the submissions grades nothing") != std::string::npos);
  CHECK(text.find("| bravo | first | F 50 | **worse**: A 100 -&#62; F 50: passed before: odd | "
                  "no-regression **failed** |") != std::string::npos);
  CHECK(text.find("./gauntlet rerun bravo first --check odd --seed 0x") != std::string::npos);
  CHECK(text.find("<details><summary>bravo/first: 1 of 2 checks failed</summary>") !=
        std::string::npos);
}

TEST_CASE("a summary of thousands of failures stays below the limit, by whole rows") {
  std::vector<CheckObservation> checks;
  for (int i = 0; i < 5000; ++i) {
    checks.push_back(failed("check" + std::to_string(i), Severity::critical));
    checks.back().finding->summary = std::string(400, 'x');
  }
  const CiRun one = ci_run({ci_cell(std::move(checks))});
  CHECK(step_summary(one).size() <= kSummaryBytes);
  CHECK(step_summary(one).find("more challenges in detail did not fit") != std::string::npos);
  CHECK(step_summary(one).find("and 4990 more; ci.json has all") != std::string::npos);

  const CiRun many = ci_run(std::vector<CiCell>(300, ci_cell({passed("base"), failed("odd")})));
  for (const std::size_t limit : {std::size_t{4000}, std::size_t{40'000}, kSummaryBytes}) {
    const std::string text = step_summary(many, limit);
    CHECK(text.size() <= limit);
    CHECK(count_of(text, "<details>") == count_of(text, "</details>"));
    for (const std::string& line : lines_in(text))
      if (line.starts_with("| bravo")) CHECK(line.ends_with(" |"));
    CHECK((text.find("did not fit") != std::string::npos) == (limit < kSummaryBytes));
  }
}
