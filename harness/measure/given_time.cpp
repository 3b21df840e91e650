// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/given_time.h"

#include <fmt/format.h>
#include <thread>

namespace gauntlet {

void GivenTime::wait_for_quiet(std::chrono::duration<double> longest) {
  constexpr auto kLook = std::chrono::milliseconds(250);
  const auto end = std::chrono::steady_clock::now() + longest;
  do {
    lost_time_.start();
    std::this_thread::sleep_for(kLook);
  } while (lost_time_.share() > kMostLost && std::chrono::steady_clock::now() < end);
}

std::string not_given(const std::string& missed, double lost) {
  return fmt::format(
      "{}; but the machine was busy: other programs had {:.0f} % of the processors meanwhile; "
      "grade it again when nothing else runs",
      missed, 100 * lost);
}

}  // namespace gauntlet
