// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/traffic.h"

#include <algorithm>
#include <fmt/format.h>

#include "graders/kit/device.h"
#include "harness/core/error.h"

namespace gauntlet::kit {
namespace {

constexpr std::uint64_t kSector = 32;  // bytes, the least that device memory gives or takes

double times(std::uint64_t moved, std::uint64_t least) {
  return static_cast<double>(moved) / static_cast<double>(least);
}

std::uint64_t sectors_of(const simt::BufferTraffic& traffic) {
  return traffic.read.sectors + traffic.written.sectors + traffic.atomic.sectors;
}

std::uint64_t bytes_of(const DeviceReport& report) {
  std::uint64_t bytes = 0;
  for (const auto& kernel : report.kernels) {
    const simt::BufferTraffic& all = kernel.counters.global;
    bytes += all.read.bytes + all.written.bytes + all.atomic.bytes;
  }
  return bytes;
}

/// Which kernels had a part in it: "select_rows 1.00".
std::vector<std::string> lines_of(const DeviceReport& report, std::uint64_t least) {
  std::vector<std::string> lines;
  for (const auto& kernel : report.kernels)
    lines.push_back(fmt::format("{}: {:.2f} in {} launches", kernel.name,
                                times(kSector * sectors_of(kernel.counters.global), least),
                                kernel.launches));
  return lines;
}

/// `what` says what the multiple is of.
void judge(Probe& probe, const TrafficBudget& budget, double multiple, const std::string& what) {
  probe.earn(std::min(1.0, budget.full / multiple));
  if (!(multiple <= budget.most))
    probe.fail(fmt::format("{}, want {} or less", what, budget.most),
               lines_of(device_of(probe).report(), budget.bytes));
}

}  // namespace

simt::BufferTraffic traffic_of(const DeviceReport& report, std::string_view buffer) {
  simt::BufferTraffic sum;
  for (const auto& kernel : report.kernels)
    for (const auto& [name, traffic] : kernel.counters.buffers)
      if (name == buffer) {
        sum.read += traffic.read;
        sum.written += traffic.written;
        sum.atomic += traffic.atomic;
      }
  return sum;
}

void count_traffic(Probe& probe) {
  DeviceTerms terms;
  terms.count_sectors = true;
  device_of(probe).set_terms(terms);
}

void judge_traffic(Probe& probe, const TrafficBudget& budget) {
  const DeviceReport& report = device_of(probe).report();
  std::uint64_t sectors = 0;
  for (const auto& kernel : report.kernels) sectors += sectors_of(kernel.counters.global);
  if (sectors == 0 && bytes_of(report) > 0)
    throw Broken(OwnFault::bug, "traffic is judged of a call for which it was not counted");
  const double all = times(kSector * sectors, budget.bytes);
  probe.fact("memory traffic", all, "times the least");
  for (const TrafficBudget::Input& input : budget.inputs) {
    const double passes = times(traffic_of(report, input.name).read.bytes, input.bytes);
    const std::string name = "reads of " + input.name;
    if (input.is_main)
      probe.answer(ClaimKind::passes_over_input, name, passes, "passes");
    else
      probe.fact(name, passes, "passes");
    // No right answer is made of what was not read.
    if (passes < 1)
      probe.fail(fmt::format("kernels read {} of the {} bytes of {}",
                             traffic_of(report, input.name).read.bytes, input.bytes, input.name));
    judge(probe, budget, passes, fmt::format("{} is read {:.2f} times", input.name, passes));
  }
  judge(probe, budget, all,
        fmt::format("memory traffic in sectors of 32 bytes is {:.2f} times the least", all));
}

}  // namespace gauntlet::kit
