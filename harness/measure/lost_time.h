// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/awake_cores.h"
#include "harness/worker/session.h"

namespace gauntlet {

/// Watches how much of the processors' time goes to nobody of ours: to other programs, or to
/// neighbours of a virtual machine. Our own threads keep the cores awake and take all that is left,
/// so that no time is idle.
///
/// What it sees while a solution runs excuses nothing by itself. The kernel's own threads work for
/// whoever asks, and their time looks like that of other programs: of eighteen kinds of requests in
/// a loop, changing one's processors took 44 % of two cores in this way (it is refused), starting
/// threads that end 5 %, every other 3 % or less. Once the process was stopped, 2 ms of that were
/// left at most.
class LostTime : public ClockWatch {
 public:
  /// Both must outlive it.
  LostTime(AwakeCores& awake, std::vector<const Session*> contestants)
      : awake_(awake), contestants_(std::move(contestants)) {
    start();
  }

  /// Forgets what it has seen, and watches from now on.
  void start();
  void pause();
  void resume() { from_ = now(); }

  /// Of the cores' time while it watched, 0..1; it goes on watching.
  double share();

  void starts() override { resume(); }
  std::chrono::nanoseconds stops() override;

 private:
  /// What there was of the processors' time, and what this process and the contestants have used.
  struct Usage {
    std::chrono::nanoseconds all{};
    std::chrono::nanoseconds ours{};
  };
  Usage now() const;

  AwakeCores& awake_;
  std::vector<const Session*> contestants_;
  Usage from_;
  Usage seen_;
};

/// Rounds or laps that do not count, because the machine had other things to do.
class Disturbed {
 public:
  void count(double lost) {
    ++times_;
    lost_ += lost;
  }
  int times() const { return times_; }

  /// "the machine was busy: in 12 rounds, other programs had 44 % of the processors; ..."
  std::string text(std::string_view rounds) const;

 private:
  int times_ = 0;
  double lost_ = 0;
};

/// Whether the machine has as much else to do when the solution's process is gone, and with it all
/// that the kernel does on its behalf: what a stopped process has left behind may go on beside us,
/// and must not excuse it. Takes a quarter of a second.
bool busy_without(Session& solution, AwakeCores& awake, double others);

}  // namespace gauntlet
