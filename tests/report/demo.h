// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/report/report.h"
#include "tests/store/sample.h"

namespace gauntlet::demo {

inline Rubric rubric() {
  Rubric rubric = load_rubric(std::filesystem::path(GAUNTLET_ROOT) / "harness/score/rubric.yaml");
  rubric.digest = "0123456789abcdef";  // so that a comment in the file changes no golden page
  return rubric;
}

inline CheckObservation timed(double ratio) {
  CheckObservation check = sample::passed("speed", Section::performance);
  check.speeds.push_back({"1024x1024", 9, 1000 / ratio, 1000, ratio, ratio * 0.97, ratio * 1.03,
                          0.98, 1.02, 0.5, 0.55});
  check.facts.push_back({"saved bytes per row", 8, "B"});
  return check;
}

inline CellObservation good(const std::string& submission, const std::string& challenge,
                            double ratio) {
  CellObservation cell = sample::cell(submission, challenge);
  cell.checks = {sample::passed("base"), sample::passed("odd_sizes", Section::robustness),
                 timed(ratio), sample::passed("warning_free_build", Section::engineering)};
  return cell;
}

inline CellObservation trapped(const std::string& submission, const std::string& challenge) {
  CellObservation cell = good(submission, challenge, 1.2);
  CheckObservation trap = sample::failed("offset_ladder", Severity::critical);
  for (const char* id : {"scaled", "long_rows", "zero_rows"})
    cell.checks.push_back(sample::passed(id));
  trap.info.detects = "variance as E[x^2] - E[x]^2";
  trap.finding->miss = Miss{"dx[6][1023]", 0.5, 1, 5.3e-5, 12, 4096};
  trap.finding->summary = describe(*trap.finding->miss);
  trap.finding->evidence = {"row 6, columns 1021..1023", "got  0.5  0.5  0.5",
                            "want 1.0  1.0  1.0"};
  cell.checks.push_back(trap);
  return cell;
}

inline CellObservation unbuilt(const std::string& submission, const std::string& challenge) {
  CellObservation cell = sample::cell(submission, challenge);
  cell.build.ok = false;
  cell.build.messages =
      "solution.cpp:88:21: error: expected ';'\n   88 | ``` | @everyone #1 \x1b[31m";
  return cell;
}

inline CellObservation partial(const std::string& submission, const std::string& challenge) {
  CellObservation cell = good(submission, challenge, 1.0);
  cell.checks[2].verdict = Verdict::unmeasured;
  cell.checks[2].speeds.clear();
  cell.checks[2].finding = Finding{Verdict::unmeasured,
                                   "1024x1024",
                                   "40 ns a lap is 3.1 times what this machine can do",
                                   {},
                                   std::nullopt};
  return cell;
}

inline ModelCard model_card(const std::string& name, const std::string& thinking) {
  return {name,           "a provider", "2026-04-01", "ab12",    "1",
          "opencode 1.2", thinking,     "none",       "unknown", "unknown"};
}

/// Says four things of itself: one is true, one false, two nobody can tell; and one of its facts
/// speaks to a claim that it does not make.
inline CellObservation claiming(CellObservation cell) {
  cell.stated_claims = {{ClaimKind::bound, Bound::memory},
                        {ClaimKind::passes_over_input, 1.0},
                        {ClaimKind::saved_bytes, 8.0},
                        {ClaimKind::time_exponent, 1.0}};
  cell.checks[2].facts = {{"saved bytes per row", 8, "B", ClaimKind::saved_bytes}};
  cell.time_growth = Growth{"rows", {{64, 1000}, {128, 4100}, {256, 15900}, {512, 64000}}, ""};
  return cell;
}

/// An audit that found one of two mutants.
inline AuditRecord audit() {
  AuditRecord record{"first",   Device::cpu, "9c1e0f2255aa", {"base", "odd_sizes", "speed"},
                     {"speed"}, {}};
  record.rows = {{"reference", "reference", "", {}, {}, {}, "0x1"},
                 {"mutant",
                  "drops_tail",
                  "the tail is dropped",
                  {{"odd_sizes", 1, 1}, {"base", 2, 3}},
                  {"base", "odd_sizes"},
                  {},
                  "0x2"},
                 {"mutant",
                  "adds_one",
                  "adds </desc><script>one",
                  {{"odd_sizes", 1, 1}, {"speed", 0, 3}},
                  {"base", "odd_sizes"},
                  {"speed kills it with 0 of 3 seeds, want two of three"},
                  "0x3"},
                 {"honest", "two_pass", "two passes", {}, {}, {}, "0x4"}};
  return record;
}

/// Four submissions and the reference on two challenges: a good one, a trapped one, one that does
/// not build and took part once, one that is partial.
inline ReportInput input() {
  ReportInput input;
  input.rubric = rubric();
  input.needs = load_needs(std::filesystem::path(GAUNTLET_ROOT) / "harness/score/needs.yaml");
  input.ledger = {{"2026-04-02T08:00:00Z", "bravo", "first", "A 95", "C+ 79", {"another grader"}}};
  input.challenges = {{"first", "First things", "medium", 1, "Do the *first* thing."},
                      {"second", "Second thoughts", "hard", 2}};
  input.cells = {good("alpha", "first", 1.0),     good("alpha", "second", 0.5),
                 trapped("bravo", "first"),       good("bravo", "second", 1.5),
                 unbuilt("charlie", "first"),     partial("delta", "first"),
                 good("reference", "first", 1.0), good("reference", "second", 1.0)};
  input.cells[2] = claiming(input.cells[2]);
  input.cells[5].claims_fault = "claims.yaml:1: bound: must be memory or compute, not '|`@all'";
  input.cards = {{"alpha", model_card("Alpha", "high")},
                 {"bravo", model_card("Bravo", "off")},
                 {"delta", model_card("Delta | @all", "high")}};
  input.audits = {audit()};
  return input;
}

}  // namespace gauntlet::demo
