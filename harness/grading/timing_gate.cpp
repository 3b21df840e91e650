#include "harness/grading/timing_gate.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

#include "harness/core/error.h"

namespace gauntlet {

TimingGate::TimingGate(const std::filesystem::path& folder) {
  std::error_code ignored;  // opening the file reports what is wrong
  std::filesystem::create_directories(folder, ignored);
  const auto file = folder / "timing.lock";
  file_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0)
    throw UserError(fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
}

TimingGate::~TimingGate() {
  close(file_);
}

void TimingGate::share() {
  lock(LOCK_SH);
}

void TimingGate::own() {
  lock(LOCK_EX);
}

void TimingGate::lock(int mode) {
  while (flock(file_, mode) != 0)
    if (errno != EINTR)
      throw Broken(fmt::format("the timing lock failed: {}", std::strerror(errno)));
}

}  // namespace gauntlet
