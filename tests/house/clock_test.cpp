// SPDX-License-Identifier: Apache-2.0
// Durations are told by the steady clock: whoever sets the machine's clock changes no lap, no limit
// and no timeout.
#include <doctest/doctest.h>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "harness/core/files.h"

namespace fs = std::filesystem;

namespace {

// One says what time it is, for people; the other names system calls that a worker may make.
const std::set<std::string> kMay{"harness/core/machine.cpp", "harness/sandbox/worker_filter.cpp"};

/// Clocks that can be set, and waits that go by one. high_resolution_clock is one of them with
/// some standard libraries.
std::vector<std::string> settable_clocks(const std::string& text) {
  static const std::regex kClock(
      R"((system_clock|high_resolution_clock|utc_clock|file_clock|CLOCK_REALTIME|CLOCK_TAI|)"
      R"(gettimeofday|timespec_get|\bftime|\b(std::)?(time|clock)\s*\(\s*(0|NULL|nullptr|&|\))|)"
      R"((sem|mutex|mq|rwlock|cond)_(timed|clock)\w+|TIMER_ABSTIME))");
  std::vector<std::string> found;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), kClock);
       at != std::sregex_iterator(); ++at)
    found.push_back(at->str());
  return found;
}

}  // namespace

TEST_CASE("nothing that measures or limits reads a clock that can be set") {
  const fs::path root = GAUNTLET_ROOT;
  int seen = 0;
  for (const char* top : {"harness", "graders"})
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string file = entry.path().lexically_relative(root).generic_string();
      const auto kind = entry.path().extension();
      if ((kind != ".cpp" && kind != ".h") || kMay.contains(file)) continue;
      ++seen;
      INFO(file);
      for (const auto& clock : settable_clocks(gauntlet::read_file(entry.path())))
        FAIL_CHECK(clock);
    }
  CHECK(seen > 200);
}

TEST_CASE("a planted clock is seen, and steady ones are not taken for it") {
  for (const char* planted :
       {"std::chrono::system_clock::now()", "clock_gettime(CLOCK_REALTIME, &now);",
        "gettimeofday(&now, nullptr)", "x = time(nullptr);", "x = std::time(&then);", "clock();",
        "sem_timedwait(&s, &t)", "std::chrono::high_resolution_clock"}) {
    INFO(planted);
    CHECK(settable_clocks(planted).size() == 1);
  }
  for (const char* steady :
       {"std::chrono::steady_clock::now()", "clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent)",
        "session->cpu_time()", "note_time(start)", "spent_time()", "clock_()"}) {
    INFO(steady);
    CHECK(settable_clocks(steady).empty());
  }
}
