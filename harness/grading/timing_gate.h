#pragma once

#include <filesystem>

namespace gauntlet {

/// Keeps clocks honest when several cells are graded at once: a race holds the gate alone, all
/// other work shares it. One file, locked by the kernel, so that it also holds between processes
/// and a killed holder leaves nothing behind.
class TimingGate {
 public:
  explicit TimingGate(const std::filesystem::path& folder);
  ~TimingGate();
  TimingGate(const TimingGate&) = delete;
  TimingGate& operator=(const TimingGate&) = delete;

  void share();  // waits until no race runs
  void own();    // waits until nothing else runs

 private:
  void lock(int mode);
  int file_;
};

}  // namespace gauntlet
