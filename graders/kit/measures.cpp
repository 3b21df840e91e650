#include "graders/kit/measures.h"

#include <algorithm>

namespace gauntlet::kit {

void note_share(Probe& probe, double share) {
  constexpr const char* kName = "largest share of the tolerance";
  for (const Fact& fact : probe.observation().facts)
    if (fact.name == kName) share = std::max(share, fact.value);
  probe.fact(kName, share, "");
}

std::int64_t peak_bytes(Probe& probe, CallBase& call) {
  call.measure_memory = true;
  probe.run_ok(call);
  if (!call.peak_bytes) probe.unmeasured("memory cannot be measured here");
  return *call.peak_bytes;
}

std::int64_t fresh_peak_bytes(Probe& probe, CallBase& call) {
  probe.restart();
  return peak_bytes(probe, call);
}

double mib(std::int64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

}  // namespace gauntlet::kit
