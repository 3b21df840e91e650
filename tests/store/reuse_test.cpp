#include "harness/store/reuse.h"

#include <doctest/doctest.h>
#include <functional>

#include "tests/store/sample.h"

using namespace gauntlet;

namespace {

CellObservation stored() {
  CellObservation cell = sample::cell();
  cell.checks = {sample::passed("base"), sample::failed("wrong")};
  return cell;
}

ReuseKey matching(const CellObservation& cell) {
  return {cell.provenance.submission_digest,
          cell.provenance.grader_digest,
          cell.build.compiler,
          cell.build.flags,
          cell.provenance.cpu,
          cell.provenance.cores,
          std::nullopt,
          cell.device};
}

}  // namespace

TEST_CASE("a result is reused when nothing that it depends on has changed") {
  CHECK_FALSE(why_not_reusable(stored(), matching(stored())).has_value());
}

TEST_CASE("each thing that a result depends on is named when it differs") {
  const std::vector<std::pair<std::string, std::function<void(ReuseKey&)>>> changes{
      {"the submission changed: 77b04d10 -> x", [](ReuseKey& k) { k.submission_digest = "x"; }},
      {"the grader changed: 9c1e0f22 -> x", [](ReuseKey& k) { k.grader_digest = "x"; }},
      {"the compiler changed: g++ 12.2.0 -> x", [](ReuseKey& k) { k.compiler = "x"; }},
      {"the compiler's flags changed: -O2 -> x", [](ReuseKey& k) { k.flags = "x"; }},
      {"the CPU changed: A CPU -> x", [](ReuseKey& k) { k.cpu = "x"; }},
      {"the number of cores changed: 2 -> 3", [](ReuseKey& k) { k.cores = 3; }},
      {"the device changed: cpu -> cuda", [](ReuseKey& k) { k.device = Device::cuda; }},
      {"the seed changed: 0xfedcba9876543210 -> 0x0000000000000007",
       [](ReuseKey& k) { k.seed = 7; }}};
  for (const auto& [reason, change] : changes) {
    ReuseKey key = matching(stored());
    change(key);
    CHECK(why_not_reusable(stored(), key) == reason);
  }
}

TEST_CASE("the seed that was used may be asked for again") {
  ReuseKey key = matching(stored());
  key.seed = stored().seed;
  CHECK_FALSE(why_not_reusable(stored(), key).has_value());
}

TEST_CASE("a build that a limit stopped is tried again") {
  CellObservation cell = stored();
  cell.build.ok = false;
  cell.checks.clear();
  CHECK_FALSE(why_not_reusable(cell, matching(cell)).has_value());
  cell.build.stopped = true;
  CHECK(why_not_reusable(cell, matching(cell)) == "the compiler ran into a limit last time");
}

TEST_CASE("verdicts that blame the place or the moment are not reused, failures are") {
  for (const Verdict verdict : {Verdict::broken, Verdict::unmeasured, Verdict::timed_out}) {
    CellObservation cell = stored();
    cell.checks.push_back(sample::failed("odd", Severity::minor, verdict));
    const auto reason = why_not_reusable(cell, matching(cell));
    REQUIRE(reason.has_value());
    CHECK(*reason == "check odd was " + std::string(name_of(verdict)) + " last time");
  }
  for (const Verdict verdict : {Verdict::wrong, Verdict::crashed, Verdict::cheated}) {
    CellObservation cell = stored();
    cell.checks.push_back(sample::failed("odd", Severity::minor, verdict));
    CHECK_FALSE(why_not_reusable(cell, matching(cell)).has_value());
  }
}

TEST_CASE("a failed build is reused, a build without checks is not") {
  CellObservation cell = sample::cell();
  CHECK(why_not_reusable(cell, matching(cell)) == "no check ran last time");
  cell.build.ok = false;
  CHECK_FALSE(why_not_reusable(cell, matching(cell)).has_value());
}
