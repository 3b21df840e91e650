// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/memory.h"

#include <algorithm>

namespace gauntlet::kit {

namespace {

std::int64_t measured(Probe& probe, CallBase& call, std::int64_t want) {
  call.measure_memory = true;
  probe.run_for(call, want);
  if (!call.peak_bytes) probe.unmeasured("memory cannot be measured here");
  return *call.peak_bytes;
}

}  // namespace

std::int64_t peak_bytes(Probe& probe, CallBase& call) {
  return measured(probe, call, 0);
}

std::int64_t fresh_peak_bytes(Probe& probe, CallBase& call) {
  probe.restart();
  return peak_bytes(probe, call);
}

std::int64_t last_peak_bytes(Probe& probe, CallBase& call, int calls, std::int64_t want) {
  probe.restart();
  for (int n = 1; n < calls; ++n) probe.run_for(call, want);
  return measured(probe, call, want);
}

double mib(std::int64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

double held_per_byte(const Held& small, const Held& large) {
  const auto ratio = [](std::int64_t bytes, std::int64_t of) {
    return static_cast<double>(bytes) / static_cast<double>(of);
  };
  return std::max({ratio(large.bytes - small.bytes, large.of - small.of),
                   ratio(small.bytes - kProcessBytes, small.of),
                   ratio(large.bytes - kProcessBytes, large.of)});
}

}  // namespace gauntlet::kit
