// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/device_evidence.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "harness/device/device_control.h"
#include "tests/support/scripted_session.h"

using namespace gauntlet;

namespace {

/// A session whose device saw what a test says.
struct WithDevice : Scripted, DeviceControl {
  DeviceReport seen;
  DeviceControl* device() override { return this; }
  void set_terms(const DeviceTerms&) override {}
  void set_stream(StreamKind) override {}
  const DeviceReport& report() const override { return seen; }

  explicit WithDevice(int lines) {
    seen.kernels.resize(1);
    for (int i = 1; i <= lines; ++i) {
      const std::string source = fmt::format("solution.cu:{}", i);
      seen.kernels[0].diagnostics.push_back(
          {"race", source, 3, fmt::format("race at {} in k: two threads, 3 times", source)});
    }
  }
};

Finding finding(Verdict verdict) {
  return {verdict, "a case", "it is wrong", {"a row"}, std::nullopt};
}

}  // namespace

TEST_CASE("what a device saw is told as compilers tell it, place first") {
  WithDevice session(2);
  Finding found = finding(Verdict::wrong);
  add_device_evidence(found, session);
  CHECK(found.evidence ==
        std::vector<std::string>{"a row", "solution.cu:1: race in k: two threads, 3 times",
                                 "solution.cu:2: race in k: two threads, 3 times"});
}

TEST_CASE("evidence of a device is not told twice, nor without end, nor of what is ours") {
  WithDevice session(100);
  Finding found = finding(Verdict::crashed);
  found.evidence = {evidence_line(session.seen.kernels[0].diagnostics[0])};
  add_device_evidence(found, session);
  CHECK(found.evidence.size() == 11);
  CHECK(found.evidence[1] == "solution.cu:2: race in k: two threads, 3 times");
  for (const Verdict verdict : {Verdict::broken, Verdict::unmeasured}) {
    Finding ours = finding(verdict);
    add_device_evidence(ours, session);
    CHECK(ours.evidence.size() == 1);
  }
  Scripted on_the_host;
  Finding plain = finding(Verdict::wrong);
  add_device_evidence(plain, on_the_host);
  CHECK(plain.evidence.size() == 1);
}
