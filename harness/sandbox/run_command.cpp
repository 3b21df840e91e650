// SPDX-License-Identifier: Apache-2.0
#include "harness/sandbox/run_command.h"

#include <array>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "harness/sandbox/control_group.h"
#include "harness/sandbox/fd.h"
#include "harness/sandbox/landlock.h"
#include "harness/sandbox/launch.h"
#include "harness/sandbox/output_pipe.h"
#include "harness/sandbox/spare_user.h"

namespace gauntlet {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

template <class... F>
struct Visitor : F... {
  using F::operator()...;
};
template <class... F>
Visitor(F...) -> Visitor<F...>;  // clang 14 does not deduce it by itself

/// One run, from launch to the death of the last process of its group.
class Run {
 public:
  Run(const Command& command, const Limits& limits)
      : command_(command), limits_(limits), output_(limits.output_kept) {}

  CommandResult finish() {
    const auto start = Clock::now();
    CommandResult result;
    try {
      start_program();
      const std::optional<Outcome> limit = watch(start);
      const Outcome end = end_group();
      result.outcome = limit ? *limit : end;
    } catch (const Broken& error) {
      result.outcome = Unstarted{error.fault, error.what()};
    }
    output_.drain();
    result.output = output_.kept();
    result.seconds = seconds_since(start);
    return result;
  }

 private:
  void start_program() {
    const Fd folder(open(command_.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) broken_call("opening " + command_.folder.string());
    user_ = SpareUser::take_if_root();
    if (user_ && fchown(folder.get(), user_->id(), user_->id()) != 0)
      broken_call("giving " + command_.folder.string() + " to the sandbox's user");
    std::vector<PathRule> rules = compile_rules(command_.folder);
    for (const std::filesystem::path& folder_of_programs : command_.programs)
      rules.push_back({folder_of_programs, PathAccess::execute});
    const Fd landlock = landlock_ruleset(rules);
    const FileView files(rules, Proc::hidden);
    const Fd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
    // Orphans of the command come to us, so that we can wait for the last of them.
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) broken_call("PR_SET_CHILD_SUBREAPER");

    LaunchPlan plan;
    plan.argv = command_.argv;
    // "." and not the folder's path: parts of that path may be closed to the command's user.
    // A fixed date in a fixed time zone: the same source makes the same library at any time.
    plan.environment = {"LC_ALL=C", "PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=.", "HOME=.",
                        "TZ=UTC0",  "SOURCE_DATE_EPOCH=315532800"};
    plan.descriptors = {null.get(), output_.writing_end(), output_.writing_end()};
    plan.folder = folder.get();
    plan.landlock = landlock.get();
    plan.files = &files;
    if (command_.walls.cgroups) group_ = ControlGroup::make(limits_);
    plan.group = group_.get();
    plan.seccomp = compile_filter();
    plan.limits = limits_;
    plan.walls = command_.walls;
    if (user_) plan.user = user_->id();
    launched_ = launch(plan);
    pid_ = launched_.pid;
    output_.close_writing_end();
    handle_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  }

  /// Returns the limit that was hit, or nothing when the program ended by itself.
  std::optional<Outcome> watch(Clock::time_point start) {
    bool open = true;
    while (true) {
      const double left = limits_.wall_seconds - seconds_since(start);
      if (left <= 0) return OverRan{fmt::format("{} s of wall-clock time", limits_.wall_seconds)};
      std::array<pollfd, 2> events{
          {{handle_.get(), POLLIN, 0}, {open ? output_.reading_end() : -1, POLLIN, 0}}};
      // Without a pidfd (an old kernel, a strict container) we look ourselves, often.
      const double longest = handle_ ? 1.0 : 0.01;
      poll(events.data(), events.size(), static_cast<int>(std::min(left, longest) * 1000) + 1);
      if (open) open = output_.drain();
      if (output_.printed() > limits_.output_flood) return OverOutput{};
      if (has_ended()) return std::nullopt;
    }
  }

  bool has_ended() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_;
  }

  /// Kills the group while its leader is not reaped yet, so that the number cannot have been given
  /// to a stranger. No member can have left: the filter refuses setsid and setpgid.
  Outcome end_group() {
    kill(-pid_, SIGKILL);
    if (group_) group_->kill_all();
    int status = 0;
    rusage usage{};
    while (wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    while (waitpid(-pid_, nullptr, 0) > 0 || errno == EINTR) {
    }
    end_namespace_init(launched_);
    return judge(status, usage);
  }

  Outcome judge(int status, const rusage& usage) const {
    // The largest process of the group that was waited for, in KiB.
    const bool full = static_cast<double>(usage.ru_maxrss) * 1024 >
                      0.9 * static_cast<double>(limits_.memory_bytes);
    const bool together = group_ && group_->ran_out_of_memory();
    if (WIFEXITED(status)) {
      if (WEXITSTATUS(status) != 0 && (full || together)) return OverMemory{};
      return Exited{WEXITSTATUS(status)};
    }
    const int number = WTERMSIG(status);
    if (number == SIGXCPU) return OverRan{fmt::format("{} s of CPU time", limits_.cpu_seconds)};
    // Nobody but the kernel, out of memory, sends a SIGKILL that is not ours.
    if (full || number == SIGKILL) return OverMemory{};
    return Signaled{number};
  }

  const Command& command_;
  const Limits& limits_;
  OutputPipe output_;
  std::optional<SpareUser> user_;
  std::unique_ptr<ControlGroup> group_;
  Fd handle_;
  Launched launched_;
  pid_t pid_ = -1;
};

}  // namespace

CommandResult run_command(const Command& command, const Limits& limits) {
  return Run(command, limits).finish();
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name == nullptr ? fmt::format("signal {}", number) : fmt::format("SIG{}", name);
}

std::string describe(const Outcome& outcome) {
  return std::visit(
      Visitor{[](const Exited& end) { return fmt::format("exit code {}", end.code); },
              [](const Signaled& end) { return signal_name(end.signal); },
              [](const OverRan& end) { return "more than " + end.limit; },
              [](const OverMemory&) { return std::string("more memory than allowed"); },
              [](const OverOutput&) { return std::string("more output than allowed"); },
              [](const Unstarted& end) { return end.why; }},
      outcome);
}

}  // namespace gauntlet
