// SPDX-License-Identifier: Apache-2.0
#include "harness/attacks/trial.h"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "harness/attacks/watch.h"
#include "harness/grading/run_cell.h"

namespace gauntlet {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLongest = std::chrono::seconds(300);
constexpr int kBetweenLooks = 5;  // ms; attacks that want to be seen stay for 60

std::atomic<int>* signals_seen = nullptr;  // shared with the process that watches

void count_signal(int /*number*/) {
  signals_seen->fetch_add(1);
}

/// What strangers could set of this process, as one comparable text.
std::string settings() {
  cpu_set_t processors;
  sched_getaffinity(0, sizeof processors, &processors);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  std::string oom;
  try {
    oom = read_file("/proc/self/oom_score_adj");
  } catch (const UserError&) {  // closed to us while we are hidden: then to others as well
  }
  return fmt::format("{} {} {} {}", CPU_COUNT(&processors), getpriority(PRIO_PROCESS, 0),
                     files.rlim_cur, oom);
}

/// Everything that the grader would show of a cell.
std::string shown(const CellObservation& cell) {
  std::string text = cell.build.messages;
  for (const CheckObservation& check : cell.checks) {
    if (!check.finding) continue;
    text += check.finding->summary;
    for (const std::string& line : check.finding->evidence) text += line;
  }
  return text;
}

nlohmann::json seen_in(const CellObservation& cell, const std::string& secret) {
  Verdict worst = cell.build.ok ? Verdict::passed : Verdict::rejected;
  nlohmann::json seen{{"summary", cell.build.ok ? "" : cell.build.messages.substr(0, 200)},
                      {"built", cell.build.ok},
                      {"stopped", cell.build.stopped},
                      {"leaked", shown(cell).find(secret) != std::string::npos}};
  int cases = 0;
  double seconds = 0;
  for (const CheckObservation& check : cell.checks) {
    worst = worse(worst, check.verdict);
    cases += check.cases;
    seconds += check.seconds;
    if (check.finding) seen["summary"] = check.finding->summary;
  }
  seen["verdict"] = name_of(worst);
  seen["cases"] = cases;
  seen["seconds"] = seconds;
  return seen;
}

[[noreturn]] void grade_as_target(const GradingEnvironment& environment, const CellRequest& request,
                                  const Walls& walls, const Decoys& decoys, int out) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGURG, count_signal);  // harmless to everybody else whom an attack may reach with it
  prctl(PR_SET_DUMPABLE, walls.hidden ? 0 : 1);
  nlohmann::json seen;
  try {
    decoys.become_target();
    const std::string before = settings();
    seen = seen_in(run_cell(environment, request, [](const CellEvent&) {}).observation,
                   decoys.secret());
    seen["settings_changed"] = settings() != before;
  } catch (const std::exception& error) {
    seen["verdict"] = name_of(Verdict::broken);
    seen["summary"] = error.what();
  }
  seen["memory_changed"] = Decoys::memory_changed();
  const std::string text = seen.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  [[maybe_unused]] const ssize_t sent = write(out, text.data(), text.size());
  _exit(EXIT_SUCCESS);
}

void take(const std::string& text, Evidence& evidence) {
  const auto seen = nlohmann::json::parse(text, nullptr, false);
  if (!seen.is_object()) {
    evidence.died = true;
    return;
  }
  evidence.verdict = verdict_named(seen.value("verdict", "broken"));
  evidence.summary = seen.value("summary", "");
  evidence.built = seen.value("built", false);
  evidence.stopped = seen.value("stopped", false);
  evidence.leaked = seen.value("leaked", false);
  evidence.cases = seen.value("cases", 0);
  evidence.seconds = seen.value("seconds", 0.0);
  evidence.memory_changed = seen.value("memory_changed", false);
  evidence.settings_changed = seen.value("settings_changed", false);
}

/// Reads to the end of the pipe, looking around meanwhile.
std::string listen_and_watch(int in, pid_t pid, Watch& watch, const Decoys& decoys,
                             Evidence& evidence) {
  std::string text;
  std::array<char, 4096> bytes;
  const auto end = Clock::now() + kLongest;
  while (Clock::now() < end) {
    watch.look(pid, evidence);
    decoys.look(evidence);
    pollfd event{in, POLLIN, 0};
    if (poll(&event, 1, kBetweenLooks) <= 0) continue;
    const ssize_t got = read(in, bytes.data(), bytes.size());
    if (got == 0) break;
    if (got > 0) text.append(bytes.data(), static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

Evidence try_program(GradingEnvironment environment, const CellRequest& request, const Walls& walls,
                     Decoys& decoys) {
  environment.walls = environment.build.walls = walls;
  static void* const page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) broken_call("a page for signals");
  signals_seen = new (page) std::atomic<int>(0);

  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) broken_call("pipe");
  const Fd in(ends[0]);
  Fd out(ends[1]);
  Evidence evidence;
  Watch watch(decoys.mark());
  const pid_t pid = fork();
  if (pid < 0) broken_call("fork");
  if (pid == 0) grade_as_target(environment, request, walls, decoys, out.get());
  out.reset();
  const auto start = Clock::now();
  const std::string text = listen_and_watch(in.get(), pid, watch, decoys, evidence);
  evidence.trial_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  kill(pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  take(text, evidence);
  evidence.signals = signals_seen->load();
  watch.end_survivors(evidence);
  decoys.collect(evidence);
  return evidence;
}

}  // namespace gauntlet
