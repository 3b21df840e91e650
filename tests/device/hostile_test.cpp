// SPDX-License-Identifier: Apache-2.0
// A worker that lies in the mailbox: the device process says no, or that it was lied to, and lives.
#include "tests/device/device_fixture.h"

using namespace gauntlet;

namespace {

using device_wire::Kind;

/// A kernel that stores its thread's number where its parameter points, `body` before.
std::string storing(const std::string& body = "") {
  return ".version 8.0\n.target sm_80\n.address_size 64\n"
         ".visible .entry k(.param .u64 p0)\n{\n.reg .b32 %r<3>;\n.reg .b64 %d<3>;\n.reg .pred "
         "%p;\n" +
         body +
         "ld.param.u64 %d1, [p0];\nmov.u32 %r1, %tid.x;\nst.global.u32 [%d1], %r1;\nret;\n}\n";
}

class Lied {
 public:
  explicit Lied(const std::string& ptx = storing()) : device(device_config()) {
    device.load(ptx);
    input = device.input("x", std::vector<std::uint64_t>(8, 7));
    output = device.output("y", 64);
    device.begin({});
  }

  HostEnd run(const std::string& lie, const std::vector<std::uint64_t>& words = {},
              double seconds = 30) {
    static const std::string kLiar = read_file(kDeviceBin / "gauntlet-device-liar.so");
    HostRun host(device, kLiar, lie, words);
    return host.wait(seconds);
  }

  /// The device process is there, has its input as it was, and tells.
  DeviceReport survived() {
    CHECK(device.read(input, 64).as<std::uint64_t>() == std::vector<std::uint64_t>(8, 7));
    return device.finish();
  }

  CudaDevice device;
  DeviceAddress input = 0, output = 0;
};

constexpr std::uint64_t number_of(device_wire::Kind kind) {
  return static_cast<std::uint64_t>(kind);
}

}  // namespace

TEST_CASE("commands that there are not, and lengths beyond the mailbox, end the service") {
  struct Lie {
    std::vector<std::uint64_t> words;  // kind, payload_bytes, bytes, other, address, first
    std::string word;
  };
  const std::vector<Lie> lies{
      {{number_of(Kind::none)}, "kind 0"},
      {{device_wire::kKinds}, "kind 24"},
      {{0xffffffff}, "kind 4294967295"},
      {{number_of(Kind::copy_in), 0xffffffff, 0xffffffff, 0xffffffff},
       "4294967295 bytes of payload"},
      {{number_of(Kind::copy_in), (1 << 20) + 1, (1 << 20) + 1, (1 << 20) + 1}, "bytes of payload"},
      {{number_of(Kind::copy_in), 8, 64, 64}, "length is not that of its bytes"},
      {{number_of(Kind::copy_in), 8, 8, 0}, "length is not that of its bytes"},
      {{number_of(Kind::copy_out), 0, 1ull << 40, 1ull << 40}, "longer than the mailbox"},
      {{number_of(Kind::find_kernel), 0}, "name"},
      {{number_of(Kind::find_kernel), 4097}, "name"},
      {{number_of(Kind::set_shared_limit), 0, 0, 0, 0, 1}, "kernel number 1,"},
      {{number_of(Kind::launch), 8, 0, 0, 0, 1ull << 60}, "kernel number"},
      {{number_of(Kind::launch), 4097}, "too many bytes of parameters"},
  };
  for (const Lie& lie : lies) {
    INFO(lie.word);
    Lied lied;
    const HostEnd end = lied.run("one_command", lie.words);
    REQUIRE(end.is_fine());
    CHECK(end.returned == 999);
    const DeviceReport report = lied.survived();
    REQUIRE(report.complaint);
    CHECK(report.complaint->verdict == Verdict::crashed);
    CHECK(report.complaint->text.find(lie.word) != std::string::npos);
  }
}

TEST_CASE("foreign, freed and made-up pointers and handles are refused") {
  Lied lied;
  const HostEnd end = lied.run("foreign_pointers", {lied.input, lied.output});
  REQUIRE(end.is_fine());
  CHECK(end.returned == 0);
  CHECK(lied.run("made_up_handles").returned == 0);
  const DeviceReport report = lied.survived();
  CHECK_FALSE(report.complaint);
  CHECK(report.refusals.size() == 32);  // and no more, however many there were
  CHECK(report.buffer("x")->copied_in == 0);
}

TEST_CASE("freed memory in a kernel is a fault with its name") {
  Lied lied;
  CHECK(lied.run("freed_in_kernel").returned == 700);
  const DeviceReport report = lied.survived();
  REQUIRE(report.complaint);
  CHECK(report.complaint->verdict == Verdict::crashed);
  INFO(report.complaint->text);
  CHECK(report.complaint->text.find("freed at PTX line 11") != std::string::npos);
  CHECK(report.complaint->text.find("'cudaMalloc 1'") != std::string::npos);
}

TEST_CASE("a launch beyond all limits is refused, the largest one ends by its budget") {
  Lied refused;
  CHECK(refused.run("big_launch", {0xffffffff, 1024}).returned == 90'000);
  CHECK(refused.run("big_launch", {1, 1025}).returned == 90'000);
  CHECK(refused.run("big_launch", {0, 1}).returned == 90'000);
  CHECK_FALSE(refused.survived().complaint);

  // Blocks that do nothing cost as well.
  Lied lied(storing("ret;\n"));
  DeviceTerms terms;
  terms.budget = 10'000'000;
  lied.device.begin(terms);
  const auto start = std::chrono::steady_clock::now();
  CHECK(lied.run("big_launch", {0x7ffffffe, 1}).returned == 702);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
  const DeviceReport report = lied.survived();
  REQUIRE(report.complaint);
  CHECK(report.complaint->verdict == Verdict::timed_out);
  CHECK(report.budget_left == 0);
}

TEST_CASE("PTX that is a bomb is rejected with its reason, or ends with its device") {
  CudaDevice deep(device_config());
  std::string text = storing();
  text.insert(text.find("ld.param"), std::string(500'000, '{'));
  CHECK(failure_of([&] { deep.load(text); }).verdict == Verdict::rejected);
  CudaDevice large(device_config());
  CHECK(failure_of([&] { large.load(std::string(40u << 20, ' ')); }).verdict == Verdict::rejected);
  CudaDevice many(device_config());
  std::string stack = storing(".local .b8 x[4000000000];\n");
  CHECK(failure_of([&] { many.load(stack); }).verdict == Verdict::rejected);
  CudaDevice wide(device_config());
  const auto failure = failure_of([&] { wide.load(".global .b8 x[99999999999];\n" + storing()); });
  CHECK(failure.verdict == Verdict::rejected);
}

TEST_CASE("who floods the mailbox keeps the grader waiting for nothing") {
  Lied lied;
  static const std::string kLiar = read_file(kDeviceBin / "gauntlet-device-liar.so");
  const std::size_t large = 32 << 20;
  const DeviceAddress filled = lied.device.output("large", large);
  DeviceTerms terms;
  terms.budget = 1'000'000'000'000;
  lied.device.begin(terms);
  HostRun host(lied.device, kLiar, "flood", {5000, filled, large});
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  lied.device.read(lied.input, 64);
  lied.survived();
  CHECK(host.is_running());  // and floods on
  CHECK(host.wait().is_fine());
}

TEST_CASE("fills and copies are paid from the budget") {
  Lied lied;
  DeviceTerms terms;
  terms.budget = 1'000'000;
  lied.device.begin(terms);
  const DeviceAddress large = lied.device.output("large", 32 << 20);
  HostEnd end;
  int fills = 0;
  for (; fills < 10 && end.returned == 0; ++fills) {
    CHECK(lied.run("one_command", {number_of(Kind::fill), 0, 32 << 20, 0, large}).returned == 0);
    end = lied.run("one_command", {number_of(Kind::wait_device)});
  }
  CHECK(end.returned == 702);
  CHECK(fills == 2);  // each costs 2^25 / 64 + 1000
  const DeviceReport report = lied.survived();
  REQUIRE(report.complaint);
  CHECK(report.complaint->verdict == Verdict::timed_out);
}

TEST_CASE("who never reads an answer is who does not end") {
  Lied lied;
  const HostEnd end = lied.run("never_reads", {}, 0.5);
  CHECK(end.late);
  CHECK_FALSE(lied.survived().complaint);
}

TEST_CASE("a command that changes while it is read is one command or the other") {
  Lied lied;
  const HostEnd end = lied.run("changing_command", {lied.output, 1000});
  REQUIRE(end.is_fine());
  CHECK(end.returned > 0);
  CHECK_FALSE(lied.survived().complaint);
}

TEST_CASE("there is only so much memory") {
  Lied lied;
  const auto allocate = [&](std::uint64_t bytes) {
    return lied.run("one_command", {number_of(Kind::allocate), 0, bytes}).returned;
  };
  CHECK(allocate(~std::uint64_t{0}) == 2);
  CHECK(allocate(257 << 20) == 2);
  CHECK(allocate(200 << 20) == 0);
  CHECK(allocate(56 << 20) == 2);
  const DeviceReport report = lied.survived();
  CHECK(report.scratch_bytes == 200 << 20);
  CHECK_FALSE(report.complaint);
}

TEST_CASE("the device process has a filter, no files and no rights") {
  Lied lied;
  const std::string folder = "/proc/" + std::to_string(lied.device.pid());
  const std::string status = read_file(folder + "/status", {1 << 20, false});
  CHECK(status.find("Seccomp:\t2") != std::string::npos);
  CHECK(status.find("NoNewPrivs:\t1") != std::string::npos);
  CHECK(status.find("CapEff:\t0000000000000000") != std::string::npos);
  std::vector<std::string> open;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/fd"))
    open.push_back(entry.path().filename());
  std::sort(open.begin(), open.end());
  CHECK(open == std::vector<std::string>{"0", "1", "2", "4"});  // 4: the grader's socket
}

TEST_CASE("there are only so many allocations, streams and events") {
  for (const auto& [kind, limit] :
       {std::pair{Kind::allocate, 65537}, {Kind::make_stream, 1024}, {Kind::make_event, 8193}}) {
    Lied lied;
    const HostEnd end = lied.run("all_handles", {number_of(kind)}, 100);
    const std::int64_t most = limit;
    INFO(most);
    REQUIRE(end.is_fine());
    CHECK(end.returned > 0);
    CHECK(end.returned <= most);
    CHECK_FALSE(lied.survived().complaint);
  }
}

TEST_CASE("a device process that is killed or stopped is a verdict and no hang") {
  SUBCASE("killed") {
    Lied lied;
    static const std::string kLiar = read_file(kDeviceBin / "gauntlet-device-liar.so");
    HostRun host(lied.device, kLiar, "ask_for_ever", {});
    while (host.page().words[0] == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    kill(lied.device.pid(), SIGKILL);
    const HostEnd end = host.wait(10);
    REQUIRE(end.is_fine());  // it was told that nobody is there any more
    CHECK(end.returned == 1);
    const SolutionFailure failure = failure_of([&] { lied.device.finish(); });
    CHECK(failure.verdict == Verdict::over_memory);
    CHECK(std::string(failure.what()).find("was killed") != std::string::npos);
    CHECK(failure_of([&] { lied.device.read(lied.input, 8); }).verdict == Verdict::over_memory);
  }
  SUBCASE("crashed") {
    Lied lied;
    kill(lied.device.pid(), SIGSEGV);
    const SolutionFailure failure = failure_of([&] { lied.device.finish(); });
    CHECK(failure.verdict == Verdict::crashed);
    CHECK(std::string(failure.what()).find("SIGSEGV") != std::string::npos);
  }
  SUBCASE("stopped") {
    DeviceConfig config = device_config();
    config.patience = std::chrono::seconds(4);
    CudaDevice device(config);  // which answers before it returns
    kill(device.pid(), SIGSTOP);
    const auto start = std::chrono::steady_clock::now();
    const SolutionFailure failure = failure_of([&] { device.finish(); });
    CHECK(failure.verdict == Verdict::timed_out);
    CHECK(std::string(failure.what()).find("within 4 s") != std::string::npos);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
  }
  SUBCASE("never there") {
    DeviceConfig config = device_config();
    config.program = "/bin/false";
    CHECK_THROWS_AS(CudaDevice{config}, Broken);
  }
}
