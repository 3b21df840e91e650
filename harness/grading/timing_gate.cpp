// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/timing_gate.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace gauntlet {
namespace {

/// While it lives, a signal to this thread ends every system call that waits, again and again: one
/// that comes a moment too early is followed by another.
class WakeUps {
 public:
  explicit WakeUps(std::chrono::milliseconds every) {
    struct sigaction action {};
    action.sa_handler = [](int) {};  // without SA_RESTART
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, &before_);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGALRM;
    event._sigev_un._tid = gettid();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0)
      throw Broken(OwnFault::kernel, fmt::format("cannot make a timer: {}", std::strerror(errno)));
    const timespec span{every.count() / 1000, every.count() % 1000 * 1'000'000};
    const itimerspec times{span, span};
    timer_settime(timer_, 0, &times, nullptr);
  }
  ~WakeUps() {
    timer_delete(timer_);
    sigaction(SIGALRM, &before_, nullptr);
  }
  WakeUps(const WakeUps&) = delete;
  WakeUps& operator=(const WakeUps&) = delete;

 private:
  timer_t timer_{};
  struct sigaction before_ {};
};

int open_lock(const std::filesystem::path& file) {
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  struct stat about {};
  if (fd < 0 || fstat(fd, &about) != 0)
    throw UserError(fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
  // Whoever can open a file can lock it, and so stop every race here.
  if (S_ISREG(about.st_mode) && about.st_uid == geteuid() && fchmod(fd, 0600) == 0) return fd;
  close(fd);
  throw UserError(
      fmt::format("{} is no file of this user's (it is user {}'s): remove it, or grade in a "
                  "checkout of your own",
                  file.string(), about.st_uid));
}

}  // namespace

TimingGate::TimingGate(const std::filesystem::path& folder, Say say, Patience patience)
    : path_(folder / "timing.lock"), say_(std::move(say)), patience_(patience) {
  std::error_code ignored;  // opening the file reports what is wrong
  std::filesystem::create_directories(folder, ignored);
  file_ = open_lock(path_);
}

TimingGate::~TimingGate() {
  close(file_);
}

void TimingGate::share() {
  lock(LOCK_SH);
}

void TimingGate::own() {
  lock(LOCK_EX);
  owned_since_ = Clock::now();
}

void TimingGate::lock(int mode) {
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  if (owned_since_) owned_ += since(*owned_since_);
  owned_since_.reset();
  const auto start = Clock::now();
  wait(mode);
  waited_ += since(start);
}

/// Waits in the kernel, which wakes up whoever waits as soon as the gate is free: looking again and
/// again would let those pass who happen to ask at the right moment.
void TimingGate::wait(int mode) {
  if (flock(file_, mode | LOCK_NB) == 0) return;
  const WakeUps wake_ups(patience_.quiet);
  std::string holder;
  std::string told;
  auto since = Clock::now();
  auto told_at = since;
  while (flock(file_, mode) != 0) {
    if (errno != EINTR)
      throw Broken(OwnFault::kernel,
                   fmt::format("the timing lock failed: {}", std::strerror(errno)));
    const std::string now = holders();
    if (now != holder) since = Clock::now();
    holder = now;
    if (now != told && (told.empty() || Clock::now() - told_at > patience_.repeat)) {
      say_(fmt::format("waiting for the race or the checks of another cell ({})", now));
      told = now;
      told_at = Clock::now();
    }
    if (Clock::now() - since > patience_.longest)
      throw Broken(
          OwnFault::timing_lock,
          fmt::format("{} has been locked by {} for {} minutes: end that, and grade again",
                      path_.string(), holder,
                      std::chrono::duration_cast<std::chrono::minutes>(patience_.longest).count()));
  }
}

std::string TimingGate::holders() const {
  struct stat about {};
  fstat(file_, &about);
  const std::string inode = fmt::format(":{}", about.st_ino);
  std::vector<std::string> found;
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, advisory, access, pid, place;
    words >> number >> kind >> advisory >> access >> pid >> place;
    if (kind == "FLOCK" && place.ends_with(inode)) found.push_back(pid);
  }
  return found.empty() ? "an unknown process" : "pid " + sentence_list(found);
}

}  // namespace gauntlet
