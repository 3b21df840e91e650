// SPDX-License-Identifier: Apache-2.0
// A .cu file compiled for both sides, its host half in a stranger's process, its kernels in ours.
#include <cmath>

#include "tests/device/device_fixture.h"

using namespace gauntlet;

namespace {

using Floats = std::vector<float>;

}  // namespace

TEST_CASE("a program computes what it should, and what it did is counted") {
  const BuiltHalves built = built_solution("basics");
  CudaDevice device(device_config());
  device.load(built.ptx);
  const std::size_t n = 1000;
  Floats a(n), b(n);
  for (std::size_t i = 0; i < n; ++i) a[i] = float(i), b[i] = float(i % 7);
  const DeviceAddress pa = device.input("a", a), pb = device.input("b", b);
  const DeviceAddress sum = device.output("sum", n * 4), total = device.output("total", 4);
  const DeviceStream stream = device.make_stream();
  DeviceTerms terms;
  terms.count_sectors = true;
  device.begin(terms);
  HostRun host(device, built.library, "run", {pa, pb, sum, n, stream, total});
  const HostEnd end = host.wait();
  REQUIRE(end.is_fine());
  CHECK(end.returned == 0);
  CHECK(end.words[100] == 1);  // the atomic's count
  CHECK(end.words[101] == 2);  // blocks of 65 KiB in 164 KiB
  CHECK(end.words[102] == 8);  // compute capability
  CHECK(end.words[103] == 163 << 10);
  device.settle(stream);
  const Floats got = device.read(sum, n * 4).as<float>();
  float wanted_total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    REQUIRE(got[i] == 2 * a[i] + 3 * b[i] + 0.5f);  // exact: small whole numbers and a half
    wanted_total += got[i];
  }
  CHECK(device.read(total, 4).as<float>()[0] == wanted_total);  // below 2^24 halves: exact

  const DeviceReport report = device.finish();
  CHECK_FALSE(report.complaint);
  REQUIRE(report.kernels.size() == 2);
  const DeviceReport::Kernel& add = report.kernels[0];
  CHECK(add.launches == 1);
  CHECK(add.counters.blocks == 8);
  CHECK(add.diagnostics.empty());
  CHECK(report.kernels[1].output == "total of 1000\n");
  const auto traffic_of = [&](const DeviceReport::Kernel& kernel, const std::string& name) {
    for (const auto& [buffer, traffic] : kernel.counters.buffers)
      if (buffer == name) return traffic;
    return simt::BufferTraffic{};
  };
  CHECK(traffic_of(add, "a").read.bytes == n * 4);
  CHECK(traffic_of(add, "b").read.sectors == n * 4 / 32);
  CHECK(traffic_of(add, "cudaMalloc 1").written.bytes == n * 4);
  CHECK(traffic_of(report.kernels[1], "sum").read.bytes == n * 4);
  // The refused launch counts as none; its words say why.
  REQUIRE(report.refusals.size() == 1);
  CHECK(report.refusals[0].find("65536 bytes of dynamic shared memory") != std::string::npos);
  CHECK(report.left_behind == 0);
  CHECK(report.copied_in == 8);   // the symbol
  CHECK(report.copied_out == 4);  // the other one
  CHECK(report.buffer("offset")->copied_in == 8);
  CHECK(report.buffer("calls")->copied_out == 4);
  CHECK(report.buffer("a")->copied_out == 0);
  CHECK(report.buffer("sum")->unwritten == 0);
  CHECK(report.buffer("sum")->from_host == 0);
  CHECK(report.allocations == 1);
  CHECK(report.scratch_bytes == 0);
}

TEST_CASE("rows with a pitch, and a launch by cudaLaunchKernel") {
  const BuiltHalves built = built_solution("basics");
  CudaDevice device(device_config());
  device.load(built.ptx);
  const DeviceAddress out = device.output("out", 48);
  device.begin({});
  HostRun host(device, built.library, "rows", {0, 0, out});
  const HostEnd end = host.wait();
  REQUIRE(end.is_fine());
  CHECK(end.returned == 0);
  CHECK(device.read(out, 48).as<float>() == Floats{0, 1, 2, 5, 6, 7, 10, 11, 12, 15, 16, 17});
  CHECK_FALSE(device.finish().complaint);
}
