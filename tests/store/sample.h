// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>

#include "harness/store/observation.h"

namespace gauntlet::sample {

inline CheckObservation passed(std::string id, Section section = Section::correctness) {
  CheckObservation check;
  check.info = {std::move(id), "a fault", section, 1, Severity::minor};
  check.verdict = Verdict::passed;
  check.earned = 1;
  check.cases = 3;
  return check;
}

inline CheckObservation failed(std::string id, Severity severity = Severity::minor,
                               Verdict verdict = Verdict::wrong) {
  CheckObservation check = passed(std::move(id));
  check.info.severity = severity;
  check.verdict = verdict;
  check.finding = Finding{verdict, "case one", "dx[0]: got 1, want 2 +- 0.1", {}, std::nullopt};
  return check;
}

inline CellObservation cell(const std::string& submission = "bravo",
                            const std::string& challenge = "first") {
  CellObservation cell;
  cell.key = CellKey::of(submission, challenge);
  cell.seed = 0xfedcba9876543210;
  cell.build = {true, false, "g++ 12.2.0", "-O2", 0, "", 1.25};
  cell.provenance = {"0.1.0",   "9c1e0f2255aa",         "77b04d10", "aabb", "A CPU", 2, "Linux 6.1",
                     "seccomp", "2020-04-03T09:12:44Z", 12.5,       300.25};
  return cell;
}

/// A cell in which every kind of field is used, with the numbers that JSON cannot write.
inline CellObservation full_cell() {
  CellObservation one = cell();
  CheckObservation wrong = failed("offset_ladder", Severity::critical);
  wrong.finding->miss = Miss{"dx[6]",
                             std::numeric_limits<double>::quiet_NaN(),
                             -std::numeric_limits<double>::infinity(),
                             5.3e-5,
                             12,
                             4096};
  wrong.finding->evidence = {"row 6: 1 2 3", "bytes \xff | `tick` \x1b[31m"};
  CheckObservation timed = passed("speed", Section::performance);
  timed.speeds.push_back({"1024x1024", 9, 1000.5, 2000.25, 2.0, 1.9, 2.1, 0.98, 1.02, 0.5, {}});
  timed.facts.push_back({"saved bytes per row", 8, "B"});
  timed.exhibits.push_back({"what it wrote", {"call me\x1b[31m", "| `tick`"}});
  timed.curves.push_back({"loss", "seconds", "nats", {{0, 6.2}, {1.5, 4.25}}});
  timed.speeds[0].floor_bytes = 12e6;
  timed.speeds[0].input_bytes = 4e6;
  timed.facts.push_back({"peak", 0.5, "MiB", ClaimKind::peak_workspace, Interval{0.25, 0.5}});
  timed.workspace = Growth{"rows", {{64, 0.25}, {128, 0.5}}, ""};
  one.provenance.cache_bytes = 32e6;
  one.provenance.files = {{"solution.cpp", "77b04d10"}};
  one.provenance.contract_digest = "c0";
  one.stated_claims = {{ClaimKind::bound, Bound::compute}, {ClaimKind::time_exponent, 1.5}};
  one.claims_fault = "claims.yaml:1: `tick` \x1b[31m";
  one.time_growth = Growth{"rows", {{64, 1000.5}, {128, 2000}}, "SIGSEGV"};
  one.checks = {passed("base"), wrong, timed, failed("gpu", Severity::minor, Verdict::unmeasured)};
  return one;
}

}  // namespace gauntlet::sample
