// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/lost_time.h"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <thread>

namespace gauntlet {
namespace {

std::chrono::nanoseconds cpu_time_of_this_process() {
  timespec spent{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

}  // namespace

LostTime::Usage LostTime::now() const {
  const auto wall = std::chrono::steady_clock::now().time_since_epoch();
  awake_.account();
  Usage now{wall * awake_.count(), cpu_time_of_this_process()};
  for (const Session* session : contestants_) now.ours += session->cpu_time();
  return now;
}

void LostTime::start() {
  seen_ = {};
  resume();
}

void LostTime::pause() {
  const Usage to = now();
  seen_.all += to.all - from_.all;
  seen_.ours += to.ours - from_.ours;
}

std::chrono::nanoseconds LostTime::stops() {
  const Usage to = now();
  const auto lost = (to.all - from_.all) - (to.ours - from_.ours);
  return awake_.count() > 0 ? std::max(std::chrono::nanoseconds(), lost)
                            : std::chrono::nanoseconds();
}

double LostTime::share() {
  pause();
  resume();
  const auto all = std::chrono::duration<double>(seen_.all).count();
  return all > 0 ? 1 - std::chrono::duration<double>(seen_.ours).count() / all : 0;
}

std::string Disturbed::text(std::string_view rounds) const {
  return fmt::format(
      "the machine was busy: in {} {}, other programs had {:.0f} % of the processors; grade it "
      "again when nothing else runs",
      times_, rounds, 100 * lost_ / times_);
}

bool busy_without(Session& solution, AwakeCores& awake, double others) {
  // What the kernel puts off at the end of a process (freeing its threads' stacks) takes it
  // milliseconds: one look of twelve, and the race lets two of three pass.
  constexpr int kLooks = 12;
  constexpr auto kLook = std::chrono::milliseconds(20);
  solution.restart();
  LostTime lost_time(awake, {});
  int busy = 0;
  for (int look = 0; look < kLooks; ++look) {
    lost_time.start();
    std::this_thread::sleep_for(kLook);
    busy += lost_time.share() > others ? 1 : 0;
  }
  return 3 * busy > 2 * kLooks;
}

}  // namespace gauntlet
