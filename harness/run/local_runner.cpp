// SPDX-License-Identifier: Apache-2.0
#include "harness/run/local_runner.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <memory>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "harness/build/precompiled_header.h"
#include "harness/core/error.h"
#include "harness/grading/run_cell.h"
#include "harness/grading/self_test.h"
#include "harness/grading/timing_gate.h"
#include "harness/run/broken_cell.h"
#include "harness/run/cell_timings_json.h"
#include "harness/store/observation_json.h"

namespace gauntlet {
namespace {

// What a cell process sends its parent: one JSON document a line.
//   {"event": {...}}            progress
//   {"observation": "...",      the result, as the store writes it; the last line
//    "receipt": "...",
//    "timings": [...]}
//   {"broken": "...",           why there is no result
//    "fault": "..."}            and which fault of ours that is

nlohmann::json to_json(const CellEvent& event) {
  return {{"kind", static_cast<int>(event.kind)},
          {"check", event.check},
          {"verdict", name_of(event.verdict)},
          {"done", event.done},
          {"total", event.total}};
}

void send_line(int fd, const nlohmann::json& message) {
  const std::string line =
      message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t n = write(fd, line.data() + sent, line.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) _exit(EXIT_FAILURE);  // nobody listens any more
    sent += static_cast<std::size_t>(n);
  }
}

/// Memory that was freed is kept for the next case: cases make the same large vectors again and
/// again, and the kernel would have to clear fresh pages for each.
void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that glibc takes
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

[[noreturn]] void serve_cell(const GradingEnvironment& environment, const CellRequest& request,
                             int fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  keep_freed_memory();
  try {
    const auto tell = [fd](const CellEvent& event) { send_line(fd, {{"event", to_json(event)}}); };
    const GradedCell cell = run_cell(environment, request, tell);
    send_line(fd, {{"observation", to_json(cell.observation)},
                   {"receipt", to_json(*cell.receipt)},
                   {"timings", timings_to_json(cell.timings)}});
  } catch (const std::exception& error) {
    send_line(fd, {{"broken", error.what()}, {"fault", name_of(own_fault_of(error))}});
  }
  // The parent's buffers and static objects are not this process's to flush or destroy.
  _exit(EXIT_SUCCESS);
}

/// A cell being graded in a process of its own. Where the machine gives none, there is no fd to
/// listen to but a fault, as if it had died at once.
class CellProcess {
 public:
  CellProcess(const GradingEnvironment& environment, const CellRequest& request, std::size_t index)
      : request_(request), index_(index) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      fault_ = {own_fault_of_errno(errno),
                fmt::format("cannot make a pipe: {}", std::strerror(errno))};
      return;
    }
    pid_ = fork();
    if (pid_ < 0) {
      fault_ = {own_fault_of_errno(errno),
                fmt::format("cannot start a process: {}", std::strerror(errno))};
      close(ends[0]);
      close(ends[1]);
      return;
    }
    if (pid_ == 0) {
      close(ends[0]);
      serve_cell(environment, request, ends[1]);
    }
    close(ends[1]);
    fd_ = ends[0];
  }
  ~CellProcess() {
    if (fd_ >= 0) close(fd_);
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  CellProcess(const CellProcess&) = delete;
  CellProcess& operator=(const CellProcess&) = delete;

  int fd() const { return fd_; }
  std::size_t index() const { return index_; }

  /// Reads what has arrived. True once the process has ended.
  bool listen(const Progress& progress) {
    char bytes[65536];
    const ssize_t n = read(fd_, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) return false;
    if (n <= 0) {
      reap();
      return true;
    }
    received_.append(bytes, static_cast<std::size_t>(n));
    for (std::size_t end; (end = received_.find('\n')) != std::string::npos;) {
      take(nlohmann::json::parse(received_.substr(0, end)), progress);
      received_.erase(0, end + 1);
    }
    return false;
  }

  /// It has come to its races, and waits for the others unless it is alone.
  bool racing() const { return racing_; }

  const std::optional<GradedCell>& cell() const { return cell_; }
  const Broken& fault() const { return fault_; }

 private:
  void take(const nlohmann::json& message, const Progress& progress) {
    if (message.contains("observation"))
      cell_ = {observation_from_json(message["observation"].get<std::string>(), "a cell"),
               receipt_from_json(message["receipt"].get<std::string>(), "a cell's receipt"),
               timings_from_json(message["timings"])};
    if (message.contains("broken")) {
      fault_ = {own_fault_named(message["fault"].get<std::string>()),
                message["broken"].get<std::string>()};
      told_ = true;
    }
    if (!message.contains("event")) return;
    const auto& event = message["event"];
    const auto kind = static_cast<CellEvent::Kind>(event["kind"].get<int>());
    racing_ = racing_ || kind == CellEvent::Kind::racing;
    progress({kind, request_.key(), event["check"].get<std::string>(),
              verdict_named(event["verdict"].get<std::string>()), event["done"].get<int>(),
              event["total"].get<int>()});
  }

  void reap() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    if (cell_ || told_) return;
    if (!WIFSIGNALED(status)) {
      fault_ = {OwnFault::bug,
                fmt::format("the grading process ended with exit code {} and no result",
                            WEXITSTATUS(status))};
      return;
    }
    // Nothing of a submission runs in that process: these come from outside, others from a bug.
    const int signal = WTERMSIG(status);
    const bool sent = signal == SIGKILL || signal == SIGTERM || signal == SIGINT;
    fault_ = {sent ? OwnFault::interrupted : OwnFault::bug,
              fmt::format("the grading process died of {}", strsignal(signal))};
  }

  const CellRequest& request_;
  std::size_t index_;
  pid_t pid_ = -1;
  int fd_ = -1;
  std::string received_;
  std::optional<GradedCell> cell_;
  bool racing_ = false;
  bool told_ = false;  // by the process itself, of its fault
  Broken fault_{OwnFault::bug, "the grading process said nothing"};
};

// Each holds the memory of its solution while it waits.
constexpr std::ptrdiff_t kMostRacing = 8;

/// Keeps up to `jobs` cells running until all are graded. A cell that has come to its races waits
/// until it is alone, so others take its place until they have come as far: checks and builds run
/// side by side, then races one after the other, and no race waits while a core has nothing to do.
class CellPool {
 public:
  CellPool(const GradingEnvironment& environment, const std::vector<CellRequest>& requests,
           const Progress& progress, const Finished& finished)
      : environment_(environment), requests_(requests), progress_(progress), finished_(finished) {
    for (std::size_t i = 0; i < requests.size(); ++i) waiting_.push_back(i);
    attempts_.resize(requests.size());
    cells_.resize(requests.size());
  }

  std::vector<CellObservation> run(int jobs) {
    while (!waiting_.empty() || !running_.empty()) {
      while (!waiting_.empty() && may_start(jobs)) start_next();
      if (!running_.empty()) wait_for_news();
    }
    return std::move(cells_);
  }

 private:
  bool may_start(int jobs) {
    if (jobs <= 1) return running_.empty();
    const auto racing = std::count_if(running_.begin(), running_.end(),
                                      [](const auto& process) { return process->racing(); });
    if (racing == 0) races_full_ = false;
    if (racing == kMostRacing) races_full_ = true;  // all of them race before another one begins
    return !races_full_ && std::ssize(running_) - racing < jobs;
  }

  void start_next() {
    const std::size_t index = waiting_.front();
    waiting_.pop_front();
    ++attempts_[index];
    auto process = std::make_unique<CellProcess>(environment_, requests_[index], index);
    if (process->fd() < 0)
      finish(*process);
    else
      running_.push_back(std::move(process));
  }

  void wait_for_news() {
    std::vector<pollfd> fds;
    for (const auto& process : running_) fds.push_back({process->fd(), POLLIN, 0});
    if (poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR)
      throw Broken(OwnFault::kernel, fmt::format("poll failed: {}", std::strerror(errno)));
    for (std::size_t i = running_.size(); i-- > 0;)
      if (fds[i].revents != 0 && running_[i]->listen(progress_)) {
        const std::unique_ptr<CellProcess> ended = std::move(running_[i]);
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
        finish(*ended);
      }
  }

  void finish(const CellProcess& process) {
    const std::size_t index = process.index();
    if (!process.cell() && attempts_[index] < 2) {
      waiting_.push_front(index);
      return;
    }
    const CellRequest& request = requests_[index];
    const GradedCell cell = process.cell()
                                ? *process.cell()
                                : GradedCell{broken_cell(request, process.fault()), std::nullopt};
    cells_[index] = cell.observation;
    progress_(done_event(cells_[index]));
    if (finished_) finished_(cell);
  }

  const GradingEnvironment& environment_;
  const std::vector<CellRequest>& requests_;
  const Progress& progress_;
  const Finished& finished_;
  std::deque<std::size_t> waiting_;
  std::vector<int> attempts_;
  std::vector<std::unique_ptr<CellProcess>> running_;
  bool races_full_ = false;
  std::vector<CellObservation> cells_;
};

/// Subjects are compiled before any cell begins: a cell that compiled them for itself would keep
/// all others from their races for minutes.
void compile_ahead(const GradingEnvironment& environment, const std::vector<CellRequest>& requests,
                   const Progress& progress) {
  std::vector<const CellRequest*> tested;  // the first of each challenge
  for (const CellRequest& request : requests)
    if (asks_self_test(request) && std::none_of(tested.begin(), tested.end(), [&](const auto* one) {
          return one->challenge.id == request.challenge.id;
        }))
      tested.push_back(&request);
  const auto is_subject = [](const CellRequest& request) { return request.subject; };
  if (tested.empty() && std::none_of(requests.begin(), requests.end(), is_subject)) return;
  try {
    TimingGate gate(environment.gate(), [&](const std::string& text) {
      progress({CellEvent::Kind::waiting, requests.front().key(), text, Verdict::passed});
    });
    gate.share();
    make_first_headers(toolchain(Device::cpu), environment.cache);
    for (const CellRequest* one : tested)
      compile_subjects(environment, one->challenge, grader_on(one->challenge.id, Device::cpu),
                       [&](const std::string& what) {
                         progress({CellEvent::Kind::ahead, one->key(), what, Verdict::passed});
                       });
  } catch (const std::exception&) {
    // The cells meet the same fault, and say so.
  }
}

}  // namespace

std::vector<CellObservation> LocalRunner::grade(const std::vector<CellRequest>& requests,
                                                const Progress& progress,
                                                const Finished& finished) {
  const auto start = std::chrono::steady_clock::now();
  compile_ahead(environment_, requests, progress);
  ahead_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // Where there are fewer cells than cores, a cell may have several.
  environment_.checks_at_once = std::max(1, jobs_ / std::max(1, static_cast<int>(requests.size())));
  return CellPool(environment_, requests, progress, finished).run(jobs_);
}

}  // namespace gauntlet
