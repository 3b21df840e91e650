// SPDX-License-Identifier: Apache-2.0
#include "harness/sandbox/launch.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>

#include "harness/core/large_blocks.h"
#include "harness/sandbox/control_group.h"
#include "harness/sandbox/fd.h"
#include "harness/sandbox/kernel_limits.h"
#include "harness/sandbox/landlock.h"
#include "harness/sandbox/namespaces.h"
#include "harness/sandbox/sibling.h"

namespace gauntlet {
namespace {

/// Everything the child needs, laid out before the fork: between fork and exec it must not
/// allocate.
struct Prepared {
  std::vector<char*> argv;
  std::vector<char*> environment;
  std::vector<int> descriptors;
  std::vector<KernelLimit> limits;
  sock_fprog filter{};
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

std::vector<char*> environment_of(const LaunchPlan& plan) {
  std::vector<char*> all = pointers(plan.environment);
  if (plan.walls.environment) return all;
  all.pop_back();
  for (char** ours = environ; *ours != nullptr; ++ours) all.push_back(*ours);
  all.push_back(nullptr);
  return all;
}

/// What the child tells the parent when a step fails; on success the pipe closes empty.
struct StepFailure {
  std::array<char, 40> step;
  int error;
};

/// The child's side. Only async-signal-safe calls from here to exec.
class Child {
 public:
  Child(const LaunchPlan& plan, Prepared& prepared, bool own_files, int status)
      : plan_(plan), prepared_(prepared), own_files_(own_files), status_(status) {}

  [[noreturn]] void become() {
    // A process group of its own, for signals, in our session: where the kernel shares the
    // processor between sessions first (autogroup), a session apart would neither yield to our
    // threads nor outrank them. The terminal is out of reach: no descriptor, no ioctl.
    must(setpgid(0, 0) == 0, "setpgid");
    reset_signals();
    if (plan_.group != nullptr) must(plan_.group->join() == nullptr, "joining a control group");
    place_descriptors();
    drop_user();
    for (const KernelLimit& limit : prepared_.limits)
      must(setrlimit(static_cast<__rlimit_resource>(limit.resource), &limit.value) == 0,
           "setrlimit");
    // With files of its own it stands there already; the descriptor leads to the machine's.
    if (!own_files_)
      must((folder_ >= 0 ? fchdir(folder_) : chdir("/")) == 0, "entering the work folder");
    umask(022);
    die_with_parent();
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
    if (landlock_ >= 0 && plan_.walls.landlock) must(landlock_restrict(landlock_) == 0, "Landlock");
    if (prepared_.filter.len > 0)
      must(syscall(SYS_seccomp, 1 /* SECCOMP_SET_MODE_FILTER */, 0, &prepared_.filter) == 0,
           "seccomp");
    char** argv = prepared_.argv.data();
    char** environment = prepared_.environment.data();
    if (program_ >= 0)
      syscall(SYS_execveat, program_, "", argv, environment, AT_EMPTY_PATH);
    else
      execve(argv[0], argv, environment);
    must(false, "starting the program");
    _exit(127);
  }

 private:
  void must(bool done, const char* step) {
    if (done) return;
    StepFailure failure{};
    failure.error = errno;
    std::strncpy(failure.step.data(), step, failure.step.size() - 1);
    [[maybe_unused]] const ssize_t written = write(status_, &failure, sizeof failure);
    _exit(127);
  }

  void reset_signals() {
    struct sigaction fresh {};
    fresh.sa_handler = SIG_DFL;
    for (int number = 1; number < 65; ++number)
      sigaction(number, &fresh, nullptr);  // refused for SIGKILL, SIGSTOP and libc's own
    sigset_t none;
    sigemptyset(&none);
    must(sigprocmask(SIG_SETMASK, &none, nullptr) == 0, "sigprocmask");
  }

  /// Moves a descriptor out of the way of the final numbers.
  int aside(int fd) {
    if (fd < 0) return -1;
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, 128);
    must(moved >= 0, "moving a descriptor");
    return moved;
  }

  int settle(int moved, int number) {
    if (moved < 0) {
      close(number);  // whatever we were started with there is not for strangers
      return -1;
    }
    must(dup3(moved, number, O_CLOEXEC) == number, "placing a descriptor");
    return number;
  }

  void place_descriptors() {
    status_ = aside(status_);
    const int folder = aside(plan_.folder);
    const int landlock = aside(plan_.landlock);
    const int program = aside(plan_.program);
    for (int& fd : prepared_.descriptors) fd = aside(fd);
    int next = 0;
    for (const int fd : prepared_.descriptors) must(dup2(fd, next++) >= 0, "placing a descriptor");
    status_ = settle(status_, next++);
    folder_ = settle(folder, next++);
    landlock_ = settle(landlock, next++);
    program_ = settle(program, next++);
    if (plan_.walls.descriptors) close_from(next);
  }

  void close_from(int first) {
    if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
    rlimit open{};  // kernels before 5.9, or a container that refuses the call
    must(getrlimit(RLIMIT_NOFILE, &open) == 0, "getrlimit");
    const auto last = static_cast<int>(std::min<rlim_t>(open.rlim_cur, 1 << 20));
    for (int fd = first; fd < last; ++fd) close(fd);
  }

  void drop_user() {
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (plan_.user && plan_.walls.uid) {
      // Straight to the kernel: libc's wrappers take locks that another thread may have held.
      const uid_t id = *plan_.user;
      must(syscall(SYS_setgroups, 0, nullptr) == 0, "setgroups");
      must(syscall(SYS_setresgid, id, id, id) == 0, "setresgid");
      must(syscall(SYS_setresuid, id, id, id) == 0, "setresuid");
    }
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> none{};
    must(syscall(SYS_capset, &header, none.data()) == 0, "dropping capabilities");
  }

  void die_with_parent() {
    must(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0, "parent-death signal");
    // If it ended before the line above, nobody reads what we write. Its number says nothing: in a
    // process namespace we have no parent.
    pollfd reader{status_, POLLOUT, 0};
    if (poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR) != 0) _exit(127);
  }

  const LaunchPlan& plan_;
  Prepared& prepared_;
  bool own_files_;
  int status_;
  int folder_ = -1;
  int landlock_ = -1;
  int program_ = -1;
};

void reap(pid_t pid) {
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

template <class Become>
pid_t forked(const Become& become) {
  const pid_t pid = [] {
    const std::lock_guard lock(fork_mutex());
    const ForkWithoutLargeBlocks small;
    return fork();
  }();
  if (pid < 0)
    throw LaunchFailed(own_fault_of_errno(errno), fmt::format("fork: {}", std::strerror(errno)));
  if (pid == 0) {
    become();
    _exit(127);
  }
  return pid;
}

/// In namespaces of their own all programs would be process 2: what one of them keeps for its own
/// number only, the next could read as well, and on another machine it could not.
pid_t next_number() {
  constexpr pid_t kFirst = 1000, kNumbers = 30'000;  // 32,768 is the least that a kernel ends at
  static std::atomic<unsigned> launches{0};
  return kFirst + static_cast<pid_t>(launches++ % kNumbers);
}

/// What the process that makes the namespaces sends before it ends.
struct Made {
  pid_t program;
  pid_t namespace_init;
  const char* failed;  // a string of this program; the maker is a fork of it
  int error;
};

/// In a process that ends right after.
template <class Become>
Made make(const FileView* files, pid_t number, int lifetime, const Become& become) {
  Made made{-1, -1, enter_namespaces(files), 0};
  made.error = errno;
  std::array<int, 2> gone{};
  if (made.failed == nullptr && pipe2(gone.data(), O_CLOEXEC) != 0) {
    made.failed = "pipe";
    made.error = errno;
  }
  if (made.failed != nullptr) return made;

  // Not on our stack, which we leave before the first process has read them.
  static std::array<std::byte, 16'384> first_stack, stack;
  static struct { int lifetime, gone; } ends;
  ends = {lifetime, gone[0]};
  made.namespace_init =
      start_sibling({[](void*) { be_namespace_init(ends.lifetime, ends.gone); }, nullptr},
                    first_stack, Caller::goes_on);
  if (made.namespace_init > 0)
    made.program = start_sibling(
        {[](void* given) { (*static_cast<const Become*>(given))(); }, const_cast<Become*>(&become)},
        stack, Caller::waits, number);
  if (made.program <= 0) {
    made.failed = "clone";
    made.error = -std::min(made.namespace_init, made.program);
  }
  return made;
}

/// The program cannot be process 1 of its namespace: the kernel shields that one from signals, its
/// own abort() included. So the first one keeps the namespace, the second one is the program, and
/// both are children of ours. They share the memory of the maker, a copy of ours, until they need
/// none.
template <class Become>
Launched fork_in_namespaces(const FileView* files, const Become& become) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) broken_call("pipe");
  const Fd in(ends[0]);
  Fd out(ends[1]);
  if (pipe2(ends.data(), O_CLOEXEC) != 0) broken_call("pipe");
  const Fd namespace_lifetime(ends[0]);
  Fd life(ends[1]);
  const pid_t number = next_number();
  const pid_t maker = forked([&] {
    life.reset();
    const Made made = make(files, number, namespace_lifetime.get(), become);
    [[maybe_unused]] const ssize_t sent = write(out.get(), &made, sizeof made);
    _exit(0);
  });
  out.reset();
  Made made{-1, -1, "its maker died", 0};
  while (read(in.get(), &made, sizeof made) < 0 && errno == EINTR) {
  }
  reap(maker);
  Launched launched{made.program, made.namespace_init, std::move(life)};
  if (made.failed != nullptr) {
    end_namespace_init(launched);
    throw LaunchFailed(OwnFault::sandbox,
                       fmt::format("namespaces: {}: {}", made.failed, std::strerror(made.error)));
  }
  return launched;
}

/// When the machine has no more memory, its kernel ends what we run for strangers before it ends
/// us. Not done in the child: as a copy of a hardened process it may not. The walls hold without.
/// The kernel closes what a start closes, which await_start() sees, before an ordinary user may
/// look into the process: who opens its files right after launch() would be refused now and then.
void end_first(pid_t pid) {
  using namespace std::chrono_literals;
  constexpr int kTries = 2000;  // as long as a busy machine may keep it from its processor
  const std::string name = fmt::format("/proc/{}/oom_score_adj", pid);
  Fd file(open(name.c_str(), O_WRONLY | O_CLOEXEC));
  for (int tries = 0; !file && errno == EACCES && tries < kTries; ++tries) {
    std::this_thread::sleep_for(50us);
    file = Fd(open(name.c_str(), O_WRONLY | O_CLOEXEC));
  }
  [[maybe_unused]] const ssize_t written = write(file.get(), "1000", 4);
}

/// Waits until the child runs its program, or says why it does not.
void await_start(pid_t pid, int status, const LaunchPlan& plan) {
  StepFailure failure{};
  ssize_t got = 0;
  do got = read(status, &failure, sizeof failure);
  while (got < 0 && errno == EINTR);
  if (got == 0) return;
  reap(pid);
  throw LaunchFailed(
      own_fault_of_errno(failure.error),
      fmt::format("cannot start {}: {}: {}", plan.argv.empty() ? "a program" : plan.argv[0],
                  failure.step.data(), std::strerror(failure.error)));
}

}  // namespace

Launched launch(const LaunchPlan& plan) {
  Prepared prepared;
  prepared.argv = pointers(plan.argv);
  prepared.environment = environment_of(plan);
  prepared.descriptors = plan.descriptors;
  prepared.limits = kernel_limits(plan.walls.rlimits ? plan.limits : no_limits(),
                                  plan.user.has_value() && plan.walls.uid);
  prepared.filter.len = plan.walls.seccomp ? static_cast<unsigned short>(plan.seccomp.size()) : 0;
  prepared.filter.filter = const_cast<sock_filter*>(plan.seccomp.data());

  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) broken_call("pipe");
  const Fd status_out(ends[0]);
  Fd status_in(ends[1]);
  const bool apart = plan.walls.namespaces && why_no_namespaces().empty();
  const bool own_files =
      apart && plan.files != nullptr && plan.walls.mounts && why_no_file_view().empty();
  const auto become = [&] { Child(plan, prepared, own_files, status_in.get()).become(); };
  Launched launched;
  if (apart)
    launched = fork_in_namespaces(own_files ? plan.files : nullptr, become);
  else
    launched.pid = forked(become);
  status_in.reset();
  try {
    await_start(launched.pid, status_out.get(), plan);
    end_first(launched.pid);
  } catch (...) {
    end_namespace_init(launched);
    throw;
  }
  return launched;
}

std::mutex& fork_mutex() {
  static std::mutex mutex;
  return mutex;
}

void end_namespace_init(Launched& launched) {
  if (launched.namespace_init < 0) return;
  kill(launched.namespace_init, SIGKILL);
  reap(launched.namespace_init);
  launched.life.reset();
  launched.namespace_init = -1;
}

}  // namespace gauntlet
