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
class LostTime {
 public:
  /// Both must outlive it.
  LostTime(const AwakeCores& awake, std::vector<const Session*> contestants)
      : awake_(awake), contestants_(std::move(contestants)) {
    start();
  }

  void start() { from_ = now(); }
  double share() const;  // of the cores' time since the start, 0..1

 private:
  /// What this process and the contestants have used of the processors at some time.
  struct Usage {
    std::chrono::steady_clock::time_point when;
    std::chrono::nanoseconds cpu{};
  };
  Usage now() const;

  const AwakeCores& awake_;
  std::vector<const Session*> contestants_;
  Usage from_;
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

}  // namespace gauntlet
