// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/traffic.h"

#include <doctest/doctest.h>

#include "harness/core/error.h"
#include "harness/device/device_control.h"
#include "tests/support/scripted_session.h"

using namespace gauntlet;
using namespace gauntlet::kit;

namespace {

/// A device that saw two kernels, each of which read so many bytes of `x` in so many sectors.
struct Measured : Scripted, DeviceControl {
  DeviceReport seen;

  Measured(std::uint64_t bytes, std::uint64_t sectors) {
    seen.kernels.resize(2);
    for (DeviceReport::Kernel& kernel : seen.kernels) {
      simt::BufferTraffic traffic;
      traffic.read = {1, bytes, sectors};
      kernel.counters.buffers = {{"x", traffic}};
      kernel.counters.global = traffic;
    }
  }
  DeviceControl* device() override { return this; }
  bool counts = false;
  void set_terms(const DeviceTerms& terms) override { counts = terms.count_sectors; }
  void set_stream(StreamKind) override {}
  const DeviceReport& report() const override { return seen; }
};

struct Judged {
  double earned = 0;
  std::string summary;  // of the finding, if any
};

Judged judged(std::uint64_t bytes, std::uint64_t sectors) {
  Measured session(bytes, sectors);
  Probe probe = probe_of(session);
  TrafficBudget budget;
  budget.inputs = {{"x", 6400, true}};
  budget.bytes = 6400;
  Judged result;
  try {
    judge_traffic(probe, budget);
  } catch (const CheckEnded& ended) {
    result.summary = ended.finding.summary;
  }
  result.earned = probe.observation().earned;
  return result;
}

}  // namespace

TEST_CASE("traffic of all kernels is added up, and a tenth more than the least costs nothing") {
  const Measured session(3200, 100);
  CHECK(traffic_of(session.seen, "x").read.bytes == 6400);
  CHECK(traffic_of(session.seen, "y").read.bytes == 0);
  CHECK(judged(3200, 100).earned == 1);
  CHECK(judged(3520, 110).earned == 1);
}

TEST_CASE("passes over an input and scattered loads cost points, and too many the check") {
  CHECK(judged(6400, 200).earned == doctest::Approx(0.55));
  CHECK(judged(6400, 200).summary.empty());
  CHECK(judged(9600, 300).summary == "x is read 3.00 times, want 2.5 or less");
  CHECK(judged(3200, 800).summary ==
        "memory traffic in sectors of 32 bytes is 8.00 times the least, want 2.5 or less");
}

TEST_CASE("traffic that nobody counted is judged by nobody") {
  Measured session(3200, 0);
  Probe probe = probe_of(session);
  CHECK_THROWS_AS(judge_traffic(probe, {{}, 6400}), Broken);
  count_traffic(probe);
  CHECK(session.counts);
}

TEST_CASE("who does not read an input has not computed with it") {
  CHECK(judged(3000, 100).summary == "kernels read 6000 of the 6400 bytes of x");
  CHECK(judged(0, 0).summary == "kernels read 0 of the 6400 bytes of x");
}
