// SPDX-License-Identifier: Apache-2.0
// Calls of a contract on a device: what they give, and what a session refuses.
#include <cmath>

#include "harness/worker/time_budget.h"
#include "tests/device/session_fixture.h"

using namespace gauntlet;

namespace {

SolutionFailure failure_in(SessionBench& bench, SessionCall& call) {
  return failure_of([&] { bench.session->run(call); });
}

/// How a call of this function fails.
SolutionFailure failure_of_first(const std::string& symbol) {
  SessionBench bench;
  SessionCall call(symbol);
  return failure_in(bench, call);
}

void check_says(const SolutionFailure& failure, const std::string& words) {
  INFO(failure.what());
  CHECK(std::string(failure.what()).find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("a call on a device gives what its kernels wrote, and poison elsewhere") {
  SessionBench bench;
  SessionCall call("scale");
  call.out<float>("z", call.args.z, 5);
  for (int round = 0; round < 3; ++round) {
    bench.session->run(call);
    CHECK(call.returned == 0);
    CHECK(call.y.copy() == call.doubled());
    for (const float value : Output<float>(call, 2).copy()) CHECK(std::isnan(value));
  }
  const DeviceReport& report = bench.session->device()->report();
  REQUIRE(report.kernels.size() == 1);
  CHECK(report.kernels[0].counters.buffers.size() == 2);
  CHECK(report.buffer("y")->unwritten == 0);
  CHECK(report.buffer("z")->unwritten == 20);
  // The grader's own struct is as it was.
  CHECK(call.args.device == TEST_HOST);
  CHECK(call.args.x == nullptr);
}

namespace {

/// x and y of two parts each, of which each holds 300 numbers.
struct PartsCall : Call<DeviceTestArgs> {
  std::vector<float> data = std::vector<float>(600, 3);
  std::vector<Output<float>> y;

  explicit PartsCall(const std::string& symbol) : Call(symbol) {
    constexpr std::int64_t kApart = (std::int64_t{1} << 32) + 8;
    args.n = 300;
    lies_on(args.device, TEST_HOST, TEST_CUDA, args.stream, kHostCopyBytes);
    const std::span<const float> all(data);
    in_parts<float, float>("x", args.x, {all.first(300), all.last(300)}, kApart);
    y = out_parts<float>("y", args.y, 2, 300, kApart);
  }
};

}  // namespace

TEST_CASE("parts of arrays lie as far apart in device memory as they are said to") {
  SessionBench bench;
  PartsCall call("scale_parts");
  for (int round = 0; round < 2; ++round) {
    bench.session->run(call);
    for (const Output<float>& part : call.y) CHECK(part.copy() == std::vector<float>(300, 6));
  }
}

TEST_CASE("an offset that 32 bits have cut off reads what is not there") {
  SessionBench bench;
  PartsCall call("scale_near_parts");
  const SolutionFailure failure = failure_of([&] { bench.session->run(call); });
  CHECK(failure.verdict == Verdict::crashed);
  check_says(failure, "solution.cu:");
}

TEST_CASE("outputs that start with something are read and written") {
  SessionBench bench;
  Call<DeviceTestArgs> call("accumulate");
  const std::vector<float> ones(7, 1);
  call.args.n = 7;
  call.lies_on(call.args.device, TEST_HOST, TEST_CUDA, call.args.stream, kHostCopyBytes);
  call.in("x", call.args.x, ones);
  const std::vector<float> before{0, 1, 2, 3, 4, 5, 6};
  const Output<float> y = call.inout("y", call.args.y, before);
  bench.session->run(call);
  CHECK(y.copy() == std::vector<float>{1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("the struct says the device and the stream, null stays null, a foreign device stays") {
  SessionBench bench;
  SessionCall call("describe");
  bench.session->run(call);
  CHECK(call.returned % 1000 == 101);
  bench.session->device()->set_stream(StreamKind::legacy_default);
  bench.session->run(call);
  CHECK(call.returned % 1000 == 111);
  call.args.device = 7;
  bench.session->run(call);
  CHECK(call.returned % 1000 == 711);
}

TEST_CASE("buffers are aligned as they are placed and to no more") {
  SessionBench bench;
  const auto place_with = [&](Placement placement) {
    SessionCall call("describe", 300, placement);
    bench.session->run(call);
    return call.returned / 1000;
  };
  CHECK(place_with({64, 0}) % 128 == 64);
  CHECK(place_with({16, 4}) % 32 == 20);
  CHECK(place_with({4096, 0}) == 0);
}

TEST_CASE("a call that knows no device cannot be made on one") {
  SessionBench bench;
  SessionCall call("scale");
  call.device_fields.reset();
  CHECK_THROWS_AS(bench.session->run(call), Broken);
}

TEST_CASE("what kernels do that they must not fails the call, with the line") {
  SessionBench bench;
  SessionCall few("writes_past_the_end", 5);
  check_says(failure_in(bench, few),
             "out_of_bounds at " + line_of("if (threadIdx.x <= n)", "session"));
  check_says(failure_of_first("writes_its_input"),
             "read_only at " + line_of("x[threadIdx.x] = 0", "session"));
  // A kernel's fault is told where the host part dies of it.
  SessionCall gives_up("gives_up_on_errors", 5);
  check_says(failure_in(bench, gives_up),
             "out_of_bounds at " + line_of("if (threadIdx.x <= n)", "session"));
}

TEST_CASE("after a failure the next call meets a fresh worker and a fresh device") {
  SessionBench bench;
  SessionCall bad("writes_its_input"), good("scale");
  for (int round = 0; round < 2; ++round) {
    failure_in(bench, bad);
    CHECK_FALSE(bench.session->device()->report().diagnostics().empty());
    bench.session->run(good);
    CHECK(good.y.copy() == good.doubled());
  }
}

TEST_CASE("results that come from the host are none") {
  const SolutionFailure failure = failure_of_first("computes_on_the_host");
  CHECK(failure.verdict == Verdict::wrong);
  check_says(failure, "1200 of 1200 bytes of `y` were copied from the host");
}

TEST_CASE("what a call copies to the host is limited by its contract") {
  SessionBench bench;
  SessionCall call("computes_on_the_host", kHostCopyBytes / sizeof(float) + 1);
  const SolutionFailure failure = failure_in(bench, call);
  CHECK(failure.verdict == Verdict::wrong);
  check_says(failure, "copies 1204 bytes from the device to the host, want 1200 or less");
}

TEST_CASE("who takes what the next call needs has failed, and nobody else") {
  SUBCASE("memory") {
    SessionBench bench;
    SessionCall takes("keeps_all_memory"), good("scale", 3000);
    bench.session->run(takes);
    const SolutionFailure failure = failure_in(bench, good);
    CHECK(failure.verdict == Verdict::over_memory);
    check_says(failure, "which leaves too few for the call's `x`");
  }
  SUBCASE("streams") {
    SessionBench bench;
    SessionCall takes("takes_all_streams"), good("scale");
    bench.session->run(takes);
    bench.session->device()->set_stream(StreamKind::non_blocking);
    bench.session->run(good);
    CHECK(good.y.copy() == good.doubled());
  }
  SUBCASE("the caller's stream") {
    SessionBench bench;
    SessionCall ends("destroys_the_stream");
    const SolutionFailure failure = failure_in(bench, ends);
    CHECK(failure.verdict == Verdict::crashed);
    check_says(failure, "the caller's stream was destroyed");
  }
}

TEST_CASE("a host part that crashes or hangs fails as on the CPU") {
  const SolutionFailure crash = failure_of_first("reads_on_the_host");
  CHECK(crash.verdict == Verdict::crashed);
  check_says(crash, "SIGSEGV in `reads_on_the_host` at an address that no process can have");
  TimeBudget budget(2, 100);
  SessionBench bench(&budget);
  budget.begin_check();
  SessionCall call("hangs");
  CHECK(failure_in(bench, call).verdict == Verdict::timed_out);
}

TEST_CASE("a kernel that does not end has the budget of its terms") {
  SessionBench bench;
  DeviceTerms terms;
  terms.budget = 100'000;
  bench.session->device()->set_terms(terms);
  SessionCall call("hangs_in_a_kernel");
  const SolutionFailure failure = failure_in(bench, call);
  CHECK(failure.verdict == Verdict::timed_out);
  check_says(failure, line_of("while (true) y[0] = 1", "session"));
}

TEST_CASE("a kernel that does not end uses up its budget before patience with it ends") {
  SessionBench bench(nullptr, 1);
  SessionCall call("hangs_in_a_kernel");
  const SolutionFailure failure = failure_in(bench, call);
  CHECK(failure.verdict == Verdict::timed_out);
  check_says(failure, line_of("while (true) y[0] = 1", "session"));
}

TEST_CASE("races are looked for where the terms ask for it, and fail nothing") {
  SessionBench bench;
  SessionCall call("races");
  bench.session->run(call);
  CHECK(bench.session->device()->report().diagnostics().empty());
  bench.session->device()->set_terms(strict_terms());
  bench.session->run(call);
  REQUIRE_FALSE(bench.session->device()->report().diagnostics().empty());
  CHECK(bench.session->device()->report().diagnostics()[0].fault == "race");
  bench.session->restart();
  bench.session->run(call);
  CHECK(bench.session->device()->report().diagnostics().empty());
  // The record is of all calls since it was begun.
  CHECK(bench.session->device()->record().faults.size() == 1);
  bench.session->device()->begin_record();
  bench.session->run(call);
  CHECK(bench.session->device()->record().faults.empty());
}

TEST_CASE("a session remembers between calls and forgets when it is restarted") {
  SessionBench bench;
  SessionCall call("counts");
  for (int round = 0; round < 2; ++round) {
    for (int n = 1; n <= 3; ++n) {
      bench.session->run(call);
      CHECK(call.returned == n);
      CHECK(call.y.view()[0] == static_cast<float>(n));
    }
    bench.session->restart();
  }
}

TEST_CASE("results count when they are ordered before the caller's stream is waited for") {
  SessionBench bench;
  SessionCall relies("relies_on_the_default_stream"), ignores("ignores_the_stream");
  relies.out<float>("z", relies.args.z, relies.data.size());
  const auto right_with = [&](StreamKind kind, SessionCall& call) {
    bench.session->device()->set_stream(kind);
    bench.session->run(call);
    return call.y.copy() == call.doubled();
  };
  CHECK(right_with(StreamKind::blocking, relies));
  CHECK_FALSE(right_with(StreamKind::non_blocking, relies));
  CHECK(right_with(StreamKind::legacy_default, relies));
  // The caller's next work in a stream that is not non-blocking waits for the default stream.
  CHECK(right_with(StreamKind::blocking, ignores));
  CHECK_FALSE(right_with(StreamKind::non_blocking, ignores));
  CHECK(bench.session->device()->report().left_behind == 1);
  CHECK(right_with(StreamKind::legacy_default, ignores));
}

TEST_CASE("the memory that is measured is the solution's own on the device") {
  SessionBench bench;
  SessionCall call("allocates");
  bench.session->run(call);
  CHECK_FALSE(call.peak_bytes);
  call.measure_memory = true;
  bench.session->run(call);
  // What stayed of the first call, what this one had at most, and a variable.
  CHECK(call.peak_bytes == 1024 + 3072 + 4);
  CHECK(bench.session->device()->report().scratch_bytes == 2048);
}
