// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/memory.h"

#include <algorithm>
#include <fmt/format.h>

namespace gauntlet::kit {

namespace {

std::int64_t measured_bytes(Probe& probe, const CallBase& call) {
  if (!call.peak_bytes) probe.unmeasured("memory cannot be measured here");
  return *call.peak_bytes;
}

}  // namespace

std::int64_t peak_bytes(Probe& probe, CallBase& call) {
  call.measure_memory = true;
  probe.run_ok(call);
  return measured_bytes(probe, call);
}

std::int64_t fresh_peak_bytes(Probe& probe, CallBase& call) {
  probe.restart();
  return peak_bytes(probe, call);
}

double mib(std::int64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

void require_freed(Probe& probe, CallBase& call, std::int64_t want) {
  constexpr int kFew = 5;
  constexpr int kMany = 30;
  probe.restart();
  const auto held_in_last_of = [&](int calls) {
    call.measure_memory = false;
    for (int n = 1; n < calls; ++n) probe.run_for(call, want);
    call.measure_memory = true;
    probe.run_for(call, want);
    return measured_bytes(probe, call);
  };
  const std::int64_t after_few = held_in_last_of(kFew);
  const std::int64_t kept = held_in_last_of(kMany - kFew) - after_few;
  if (kept > kProcessBytes)
    probe.fail(
        fmt::format("{} holds {:.2f} MiB more in call {} than in call {}, want {:.2f} or less",
                    call.symbol, mib(kept), kMany, kFew, mib(kProcessBytes)));
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
