#include "harness/measure/lost_time.h"

#include <ctime>
#include <fmt/format.h>

namespace gauntlet {
namespace {

std::chrono::nanoseconds cpu_time_of_this_process() {
  timespec spent{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

}  // namespace

LostTime::Usage LostTime::now() const {
  Usage now{std::chrono::steady_clock::now(), cpu_time_of_this_process()};
  for (const Session* session : contestants_) now.cpu += session->cpu_time();
  return now;
}

double LostTime::share() const {
  const Usage to = now();
  const double all = std::chrono::duration<double>(to.when - from_.when).count() * awake_.count();
  return all > 0 ? 1 - std::chrono::duration<double>(to.cpu - from_.cpu).count() / all : 0;
}

std::string Disturbed::text(std::string_view rounds) const {
  return fmt::format(
      "the machine was busy: in {} {}, other programs had {:.0f} % of the processors; grade it "
      "again when nothing else runs",
      times_, rounds, 100 * lost_ / times_);
}

}  // namespace gauntlet
