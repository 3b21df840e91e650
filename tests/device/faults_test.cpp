// SPDX-License-Identifier: Apache-2.0
// Programs with faults: the errors that they see, and what the grader is told.
#include "tests/device/device_fixture.h"

using namespace gauntlet;

namespace {

using Floats = std::vector<float>;

/// A device with an input and an output of 8 numbers, and a call of one function of faults.cu.
class Faulty {
 public:
  explicit Faulty(const std::string& symbol, DeviceTerms terms = {}) : device(device_config()) {
    static const BuiltHalves kBuilt = built_solution("faults");
    device.load(kBuilt.ptx);
    input = device.input("x", Floats{1, 2, 3, 4, 5, 6, 7, 8});
    output = device.output("y", 32);
    stream = device.make_stream();
    device.begin(terms);
    HostRun host(device, kBuilt.library, symbol, {input, output, 8, stream});
    end = host.wait();
  }

  CudaDevice device;
  DeviceAddress input = 0, output = 0;
  DeviceStream stream = 0;
  HostEnd end;
};

}  // namespace

TEST_CASE("errors are sticky where a kernel made them, and only there") {
  Faulty run("sticky");
  REQUIRE(run.end.is_fine());
  const auto& words = run.end.words;
  CHECK(words[100] == 9);  // cudaErrorInvalidConfiguration
  CHECK(words[101] == 9);
  CHECK(words[102] == 0);
  CHECK(words[103] == 1);  // cudaErrorInvalidValue: no device pointer
  CHECK(words[104] == 1);
  CHECK(words[105] == 1);  // memory of the caller
  CHECK(words[106] == 0);
  CHECK(words[107] == 0);  // nobody has waited yet
  for (int n = 108; n < 112; ++n) CHECK(words[n] == 700);
  const DeviceReport report = run.device.finish();
  REQUIRE(report.complaint);
  CHECK(report.complaint->verdict == Verdict::crashed);
  CHECK(report.complaint->text.find("out_of_bounds at " + line_of("if (i < n) y[i] = x[i]",
                                                                  "faults")) != std::string::npos);
}

TEST_CASE("a kernel that writes an input is told with its line, and the input is as it was") {
  Faulty run("writes_input");
  CHECK(run.end.returned == 700);
  CHECK(run.device.read(run.input, 32).as<float>() == Floats{1, 2, 3, 4, 5, 6, 7, 8});
  const DeviceReport report = run.device.finish();
  REQUIRE(report.diagnostics().size() == 1);
  const DeviceReport::Diagnostic seen = report.diagnostics()[0];
  CHECK(seen.fault == "read_only");
  CHECK(seen.source == line_of("x[threadIdx.x] = 0", "faults"));
  CHECK(seen.count == 8);
  REQUIRE(report.complaint);
  CHECK(report.complaint->text.find("'x'") != std::string::npos);
}

TEST_CASE("a copy into an input is refused") {
  Faulty run("copies_into_input");
  CHECK(run.end.returned == 1);
  CHECK(run.device.read(run.input, 4).as<float>() == Floats{1});
  const DeviceReport report = run.device.finish();
  REQUIRE(report.refusals.size() == 1);
  CHECK(report.refusals[0].find("may be written") != std::string::npos);
}

TEST_CASE("a kernel beyond its budget has timed out, with its line") {
  DeviceTerms terms;
  terms.budget = 100'000;
  Faulty run("spins", terms);
  CHECK(run.end.returned == 702);
  const DeviceReport report = run.device.finish();
  REQUIRE(report.complaint);
  CHECK(report.complaint->verdict == Verdict::timed_out);
  CHECK(report.complaint->text.find(line_of("while (true) y[0] = 1", "faults")) !=
        std::string::npos);
}

TEST_CASE("blocks run in the order of their numbers, or as the seed has it") {
  const auto last_with = [](std::optional<std::uint64_t> seed) {
    DeviceTerms terms;
    terms.schedule_seed = seed;
    Faulty run("comes_last", terms);
    CHECK(run.end.returned == 0);
    return run.device.read(run.output, 4).as<std::uint32_t>().at(0);
  };
  CHECK(last_with(std::nullopt) == 63);
  std::vector<std::uint32_t> last;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) last.push_back(last_with(seed));
  CHECK(std::count(last.begin(), last.end(), 63) < 4);
  CHECK(last_with(1) == last[0]);
}

TEST_CASE("a trap is a failed launch") {
  Faulty run("traps");
  CHECK(run.end.returned == 719);
  CHECK(complaint_text(run.device.finish()).find(line_of("__trap()", "faults")) !=
        std::string::npos);
}

TEST_CASE("the host cannot read through a device pointer, nor a kernel through a host pointer") {
  Faulty host("reads_on_host");
  CHECK(host.end.signal == SIGSEGV);
  CHECK_FALSE(host.device.finish().complaint);
  Faulty kernel("reads_host_memory");
  CHECK(kernel.end.returned == 700);
  CHECK(complaint_text(kernel.device.finish()).find("which is no device memory") !=
        std::string::npos);
}

TEST_CASE("who waits for the caller's stream waits for nothing else") {
  Faulty run("other_stream");
  REQUIRE(run.end.is_fine());
  CHECK(run.end.words[100] == 0);
  run.device.settle(run.stream);
  CHECK(run.device.read(run.output, 32).unwritten == 32);
  CHECK(run.device.finish().left_behind == 1);
  CHECK(run.device.read(run.output, 32).unwritten == 0);
}

TEST_CASE("the default stream waits for others and they for it, but not for non-blocking ones") {
  Faulty run("default_stream");
  REQUIRE(run.end.is_fine());
  const auto& words = run.end.words;
  CHECK(words[100] == 0);
  CHECK(words[101] == 0);
  CHECK(words[102] == 600);  // cudaErrorNotReady: nobody has waited for it
  CHECK(words[103] == 0);
  CHECK(words[104] == 400);  // cudaErrorInvalidResourceHandle
  CHECK(run.end.returned == 400);
  CHECK(run.device.read(run.output, 32).as<float>() == Floats{1, 2, 3, 4, 5, 6, 7, 8});
  const DeviceReport report = run.device.finish();
  CHECK_FALSE(report.complaint);
  CHECK(report.diagnostics().empty());  // nothing was read before it was written
}

TEST_CASE("work on a stream that was destroyed is done") {
  Faulty run("gone_stream");
  CHECK(run.end.returned == 0);
  CHECK(run.device.read(run.output, 32).unwritten == 0);
}

TEST_CASE("cudaFreeAsync frees in its turn") {
  Faulty run("frees_in_turn");
  CHECK(run.end.words[100] == 0);
  CHECK(run.end.returned == 700);
  CHECK(complaint_text(run.device.finish()).find("freed at") == 0);
}

TEST_CASE("who polls gets on") {
  Faulty run("polls");
  REQUIRE(run.end.is_fine());
  CHECK(run.end.returned == 3);
  CHECK(run.device.finish().kernels.at(0).launches == 3);
}

TEST_CASE("what was computed on the host is known, by whatever way it came back") {
  Faulty run("on_the_host");
  CHECK(run.end.returned == 0);
  const CudaDevice::Contents y = run.device.read(run.output, 32);
  CHECK(y.as<float>() == Floats{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(y.unwritten == 0);
  CHECK(y.from_host == 20);  // but for those that kernels wrote
  const DeviceReport report = run.device.finish();
  CHECK(report.buffer("x")->copied_out == 32);
  CHECK(report.buffer("y")->from_host == 20);
  CHECK(report.copied_in == 32);
  CHECK(report.copied_out == 32);
  CHECK(report.scratch_bytes == 32);  // never freed
}

TEST_CASE("before the library was given a device there is none") {
  Faulty run("before_main");
  CHECK(run.end.returned == 3);
}
