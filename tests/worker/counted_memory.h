// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unistd.h>

#include "worker_fixture.h"

namespace gauntlet::test {

constexpr std::int64_t kMib = std::int64_t{1} << 20;
// The kernel adds up resident pages for each core on its own and shares a count when it reaches
// max(32, 2 * cores) pages (percpu_counter); resident memory is the sum of three such counters.
inline const std::int64_t kCores = sysconf(_SC_NPROCESSORS_CONF);
inline const std::int64_t kExact = 3 * kCores * std::max<std::int64_t>(32, 2 * kCores) * 4096;

inline const char* const kHeaders =
    "#include <stdlib.h>\n#include <string.h>\n#include <thread>\n"
    "#include <vector>\n#include <omp.h>";

inline std::int64_t peak_of(WorkerSession& session, WorkCall& call) {
  call.measure_memory = true;
  session.run(call);
  REQUIRE(call.peak_bytes.has_value());
  return *call.peak_bytes;
}

inline std::int64_t peak_of(const std::string& body, const std::string& before = "") {
  const Solution solution(work(body, std::string(kHeaders) + "\n" + before));
  WorkCall call(std::size_t{4} << 20);  // 16 MiB in, 16 MiB out: must not count
  return peak_of(*solution.session, call);
}

}  // namespace gauntlet::test
