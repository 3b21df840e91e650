// SPDX-License-Identifier: Apache-2.0
#include "harness/device/device_link.h"

#include <array>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "harness/core/text.h"
#include "harness/device/device_filter.h"
#include "harness/device/frame.h"
#include "harness/sandbox/landlock.h"
#include "harness/sandbox/run_command.h"
#include "harness/sandbox/runtime_files.h"
#include "harness/worker/session.h"

namespace gauntlet {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

// Beside device memory: decoded kernels, what is known of races, blocks that are under way.
constexpr std::size_t kOwnMemory = std::size_t{3} << 30;
constexpr std::uint64_t kMostData = std::uint64_t{16} << 30;
#ifdef __SANITIZE_ADDRESS__
constexpr bool kSanitized =
    true;  // they reserve more than limits let them, and call what they like
#else
constexpr bool kSanitized = false;
#endif
constexpr sock_filter kAllow{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};

constexpr int kLookMs = 50;  // between two looks whether the process has ended

}  // namespace

DeviceLink::DeviceLink(const DeviceConfig& config)
    : mailbox_("gauntlet-device", sizeof(device_wire::Mailbox), SharedMemory::Writers::us_and_it),
      output_(Limits().output_kept),
      patience_(config.patience) {
  new (mailbox_.base()) device_wire::Mailbox();
  try {
    start(config);
    ask({{"do", "hello"}});
  } catch (const SolutionFailure& failure) {
    stop();
    throw Broken(OwnFault::sandbox, std::string("the device did not start: ") + failure.what());
  } catch (...) {
    stop();
    throw;
  }
}

void DeviceLink::start(const DeviceConfig& config) {
  user_ = SpareUser::take_if_root();
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    broken_call("socketpair");
  socket_ = Fd(ends[0]);
  const Fd theirs(ends[1]);
  if (fcntl(socket_.get(), F_SETFL, O_NONBLOCK) != 0) broken_call("fcntl");
  const Fd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Fd program = sealed_copy(config.program, "gauntlet-device-program");
  const Fd filter =
      sealed_copy(std::as_bytes(kSanitized || !config.walls.seccomp ? std::span(&kAllow, 1)
                                                                    : std::span(device_filter())),
                  "gauntlet-filter");
  const Fd landlock = landlock_ruleset(worker_rules());
  static const FileView kFiles(worker_rules(), Proc::hidden);

  LaunchPlan plan;
  plan.argv = {"gauntlet-device", std::to_string(config.memory_bytes)};
  plan.program = program.get();
  plan.environment = {"LC_ALL=C"};
  plan.descriptors = {null.get(),    output_.writing_end(), output_.writing_end(),
                      mailbox_.fd(), theirs.get(),          filter.get()};
  plan.landlock = landlock.get();
  plan.files = &kFiles;
  plan.limits.memory_bytes = config.memory_bytes + kOwnMemory;
  plan.limits.cpu_seconds = 0;  // the grader's clock ends it
  plan.limits.processes = 4;
  plan.limits.open_files = 16;
  plan.limits.file_bytes = 0;
  if (kSanitized) plan.limits = no_limits();
  plan.walls = config.walls;
  if (user_) plan.user = user_->id();
  launched_ = launch(plan);
  pid_ = launched_.pid;
  output_.close_writing_end();

  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) broken_call("pipe");
  watch_ends_ = Fd(pipe_ends[1]);
  watcher_ = std::thread([this, ended = Fd(pipe_ends[0])] {
    pollfd wait{ended.get(), POLLIN, 0};
    while (poll(&wait, 1, kLookMs) == 0) watch();
  });
}

/// Tells the worker when nobody will answer any more.
void DeviceLink::watch() {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(launched_.pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid != launched_.pid)
    return;
  auto& mailbox = *reinterpret_cast<device_wire::Mailbox*>(mailbox_.base());
  mailbox.gone.store(1);
  syscall(SYS_futex, &mailbox.answered, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

DeviceLink::~DeviceLink() {
  stop();
}

void DeviceLink::stop() {
  watch_ends_.reset();
  if (watcher_.joinable()) watcher_.join();
  socket_.reset();
  if (pid_ >= 0) {
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = -1;
  end_namespace_init(launched_);
  auto& mailbox = *reinterpret_cast<device_wire::Mailbox*>(mailbox_.base());
  mailbox.gone.store(1);
}

/// Sends some of these bytes, or receives some, which are not const; waits until that is possible.
template <class Byte>
std::size_t DeviceLink::transfer_some(std::span<Byte> bytes, Clock::time_point deadline) {
  constexpr bool kSends = std::is_const_v<Byte>;
  while (true) {
    ssize_t moved = 0;
    if constexpr (kSends)
      moved = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    else
      moved = recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (moved > 0) return static_cast<std::size_t>(moved);
    if (moved == 0 || (errno != EAGAIN && errno != EINTR)) fail(deadline);
    const auto left = deadline - Clock::now();
    if (left <= 0s) fail(deadline);
    output_.drain();
    pollfd ready{socket_.get(), static_cast<short>(kSends ? POLLOUT : POLLIN), 0};
    poll(&ready, 1, static_cast<int>(std::min<Clock::duration>(left, 1s) / 1ms) + 1);
  }
}

void DeviceLink::flush(Clock::time_point deadline) {
  for (std::span<const std::byte> left = unsent_; !left.empty();)
    left = left.subspan(transfer_some(left, deadline));
  unsent_.clear();
}

void DeviceLink::gather(std::span<const std::byte> bytes, Clock::time_point deadline) {
  if (unsent_.size() + bytes.size() > device_frame::kMostGathered) flush(deadline);
  if (bytes.size() <= device_frame::kMostGathered)
    unsent_.insert(unsent_.end(), bytes.begin(), bytes.end());
  else
    while (!bytes.empty()) bytes = bytes.subspan(transfer_some(bytes, deadline));
}

/// What is long is received where it belongs, of what is short more than was asked for.
void DeviceLink::take(std::span<std::byte> bytes, Clock::time_point deadline) {
  while (!bytes.empty()) {
    if (unread_.empty() && bytes.size() >= device_frame::kMostGathered) {
      bytes = bytes.subspan(transfer_some(bytes, deadline));
      continue;
    }
    if (unread_.empty()) {
      received_.resize(device_frame::kMostGathered);
      unread_ = std::span(received_).first(transfer_some(std::span(received_), deadline));
    }
    const std::size_t part = std::min(bytes.size(), unread_.size());
    std::memcpy(bytes.data(), unread_.data(), part);
    unread_ = unread_.subspan(part);
    bytes = bytes.subspan(part);
  }
}

std::string DeviceLink::ending(int status) const {
  if (WIFEXITED(status))
    return fmt::format("exit code {}: {}", WEXITSTATUS(status), one_line(output_.kept(), 300));
  return signal_name(WTERMSIG(status));
}

/// The request came to nothing: looks why, once, and says so from then on.
void DeviceLink::fail(Clock::time_point deadline) {
  if (!failed_) {
    const bool late = Clock::now() >= deadline;
    if (late) kill(pid_, SIGKILL);
    int status = 0;
    // Its end of the socket may be closed a moment before the process has ended.
    const auto until = Clock::now() + 2s;
    pid_t reaped = 0;
    while ((reaped = waitpid(pid_, &status, WNOHANG)) == 0 && Clock::now() < until)
      std::this_thread::sleep_for(1ms);
    if (reaped == pid_) {
      watch_ends_.reset();
      watcher_.join();
      pid_ = -1;
    }
    output_.drain();
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    failed_ = late ? Verdict::timed_out : killed ? Verdict::over_memory : Verdict::crashed;
    why_ = late     ? fmt::format("the device did not finish within {:g} s", patience_.count())
           : killed ? "the device process was killed, as the system does where memory runs out"
                    : fmt::format(
                          "the device process ended by itself ({}), which no correct kernel can "
                          "bring about",
                          ending(status));
    stop();
  }
  throw SolutionFailure(*failed_, why_);
}

void DeviceLink::send(const json& request, std::span<const std::byte> data) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience_);
  if (failed_) fail(deadline);
  const std::string text = request.dump();
  const device_frame::Head head{static_cast<std::uint32_t>(text.size()), device_frame::kMagic,
                                data.size()};
  gather(std::as_bytes(std::span(&head, 1)), deadline);
  gather(std::as_bytes(std::span(text)), deadline);
  gather(data, deadline);
}

json DeviceLink::receive(std::vector<std::byte>& data) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience_);
  if (failed_) fail(deadline);
  flush(deadline);
  device_frame::Head head{};
  take(std::as_writable_bytes(std::span(&head, 1)), deadline);
  if (head.magic != device_frame::kMagic || head.json_bytes > device_frame::kMostJson ||
      head.data_bytes > kMostData) {
    kill(pid_, SIGABRT);
    fail(deadline);
  }
  std::string text(head.json_bytes, ' ');
  take(std::as_writable_bytes(std::span(text)), deadline);
  data.resize(head.data_bytes);
  take(data, deadline);
  json reply = json::parse(text, nullptr, false);
  if (reply.is_discarded() || !reply.is_object()) reply = {{"error", "a reply that is no JSON"}};
  if (reply.contains("error") && reply["error"].is_string())
    throw Broken(OwnFault::bug,
                 "the device: " + one_line(reply["error"].get_ref<const std::string&>(), 500));
  if (reply.contains("over_memory") && reply["over_memory"].is_string())
    throw SolutionFailure(Verdict::over_memory,
                          one_line(reply["over_memory"].get_ref<const std::string&>(), 500));
  return reply;
}

json DeviceLink::ask(const json& request, std::vector<std::byte>& data) {
  send(request, data);
  return receive(data);
}

json DeviceLink::ask(const json& request) {
  std::vector<std::byte> none;
  return ask(request, none);
}

}  // namespace gauntlet
