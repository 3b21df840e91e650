// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/ask_check.h"

#include <chrono>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/grading/device_evidence.h"

namespace gauntlet {

CheckObservation ask_check(const Check& check, const Seed& seed, Probe::Setting setting) {
  Probe probe(check, seed, std::move(setting));
  CheckObservation& seen = probe.observation();
  const auto start = std::chrono::steady_clock::now();
  try {
    probe.restart();
    check.ask(probe);
    seen.verdict = Verdict::passed;
    if (seen.cases == 0) seen.finding = broken_finding(OwnFault::bug, "the check asked nothing");
  } catch (const CheckEnded& ended) {
    seen.finding = ended.finding;
  } catch (const SolutionFailure& failure) {
    seen.finding = {failure.verdict, "", failure.what(), {}, std::nullopt};
  } catch (const std::exception& error) {
    seen.finding = broken_finding(own_fault_of(error), error.what());
    seen.finding->case_name = probe.case_name();
  }
  if (seen.finding) {
    add_device_evidence(*seen.finding, probe.solution());
    seen.verdict = seen.finding->verdict;
  }
  seen.seconds = seconds_since(start);
  return std::move(seen);
}

CheckObservation not_asked(const Check& check, const std::string& why) {
  CheckObservation seen;
  seen.info = check;
  seen.verdict = Verdict::timed_out;
  seen.finding = {Verdict::timed_out, "", "not asked: " + why, {}, std::nullopt};
  return seen;
}

}  // namespace gauntlet
