// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace gauntlet {

/// Keeps clocks honest when several cells are graded at once: a race holds the gate alone, all
/// other work shares it. One file that only its owner may open, locked by the kernel, so that it
/// also holds between processes, nobody else can keep it shut, and a killed holder leaves nothing
/// behind. Who waits for long says for whom; nobody waits for one holder for ever.
class TimingGate {
 public:
  using Say = std::function<void(const std::string&)>;
  struct Patience {
    std::chrono::milliseconds quiet{2000};  // before the first word
    // The longest that anything of ours holds the gate is a training run of five minutes.
    std::chrono::milliseconds longest{30 * 60 * 1000};
    std::chrono::milliseconds repeat{30'000};  // before another word
  };

  TimingGate(const std::filesystem::path& folder, Say say, Patience patience);
  TimingGate(const std::filesystem::path& folder, Say say)
      : TimingGate(folder, std::move(say), Patience()) {}
  ~TimingGate();
  TimingGate(const TimingGate&) = delete;
  TimingGate& operator=(const TimingGate&) = delete;

  void share();  // waits until no race runs
  void own();    // waits until nothing else runs

  double seconds_waited() const { return waited_; }
  double seconds_owned() const { return owned_; }  // until it was shared again

 private:
  using Clock = std::chrono::steady_clock;

  void lock(int mode);
  void wait(int mode);
  std::string holders() const;  // "pid 12 and 34"

  std::filesystem::path path_;
  int file_;
  Say say_;
  Patience patience_;
  double waited_ = 0;
  double owned_ = 0;
  std::optional<Clock::time_point> owned_since_;
};

}  // namespace gauntlet
