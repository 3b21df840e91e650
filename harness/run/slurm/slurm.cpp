// SPDX-License-Identifier: Apache-2.0
#include "harness/run/slurm/slurm.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <sstream>
#include <string_view>
#include <unistd.h>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/sandbox/run_command.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

constexpr int kNotFound = 127;  // what env ends with where there is no such program

/// Slurm's programs are this machine's, talk to its cluster, and do so in our name: nothing of a
/// submission's comes near them.
Walls no_walls() {
  Walls walls;
  walls.landlock = walls.seccomp = walls.rlimits = walls.uid = false;
  walls.namespaces = walls.mounts = walls.cgroups = walls.environment = false;
  return walls;
}

Limits limits_of_slurm() {
  Limits limits;
  limits.wall_seconds = 120;  // sbatch itself goes on trying for a while
  limits.output_kept = limits.output_flood = std::size_t{64} << 20;
  return limits;
}

struct Said {
  Outcome outcome;
  std::string output;

  bool ended_with(int code) const {
    const auto* end = std::get_if<Exited>(&outcome);
    return end != nullptr && end->code == code;
  }
  std::string complaint() const {
    return fmt::format("{}: {}", describe(outcome), one_line(output, 400));
  }
};

Said ask_slurm(const std::vector<std::string>& words) {
  const ScratchFolder scratch("slurm");
  // When we are root it becomes another user's, and Slurm's programs have no power over that.
  fs::permissions(scratch.path(), fs::perms::others_read | fs::perms::others_exec,
                  fs::perm_options::add);
  const char* path = std::getenv("PATH");
  Command command;
  // A cluster's programs may lie anywhere on the user's PATH.
  command.argv = {"/usr/bin/env", "-u", "TMPDIR",
                  fmt::format("PATH={}", path == nullptr ? "/usr/bin:/bin" : path)};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  command.folder = scratch.path();
  command.walls = no_walls();
  CommandResult result = run_command(command, limits_of_slurm());
  if (const auto* unstarted = std::get_if<Unstarted>(&result.outcome))
    throw Broken(unstarted->fault, fmt::format("{}: {}", words.front(), unstarted->why));
  return {std::move(result.outcome), std::move(result.output)};
}

std::string this_user() {
  return std::to_string(geteuid());
}

std::optional<int> whole_number(std::string_view digits) {
  int number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) return std::nullopt;
  return number;
}

bool is_job_id(std::string_view word) {
  return !word.empty() &&
         std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, '|');) fields.push_back(field);
  return fields;
}

}  // namespace

bool SlurmTask::ended() const {
  // Whatever else there is, in this version of Slurm or the next, is on its way.
  static constexpr std::array<std::string_view, 11> kEnds{
      "COMPLETED", "FAILED",        "CANCELLED", "TIMEOUT", "NODE_FAIL",    "BOOT_FAIL",
      "PREEMPTED", "OUT_OF_MEMORY", "DEADLINE",  "REVOKED", "LAUNCH_FAILED"};
  return std::find(kEnds.begin(), kEnds.end(), state) != kEnds.end();
}

std::string summary_of(const SlurmQueue& queue) {
  int run = 0;
  int wait = 0;
  std::string reason;
  for (const auto& [index, task] : queue) {
    if (task.ended()) continue;
    ++(task.state == "PENDING" ? wait : run);
    if (task.state == "PENDING" && reason.empty()) reason = one_line(task.reason, 60);
  }
  if (run + wait == 0) return "";
  return fmt::format("{} jobs run, {} wait{}", run, wait,
                     reason.empty() ? "" : fmt::format(" ({})", reason));
}

int Slurm::largest_array() const {
  constexpr int kUsual = 1001;
  const Said said = ask_slurm({"scontrol", "show", "config"});
  if (said.ended_with(kNotFound))
    throw UserError(
        "--runner slurm: there is no scontrol on PATH; grade on a machine from which jobs are "
        "submitted, or leave --runner away");
  if (!said.ended_with(0))
    throw UserError(
        fmt::format("--runner slurm: the cluster does not answer (scontrol: {})", said.complaint()),
        kExitIncomplete);
  std::istringstream lines(said.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, sign, value;
    words >> name >> sign >> value;
    if (name == "MaxArraySize") return std::max(1, whole_number(value).value_or(kUsual));
  }
  return kUsual;
}

std::string Slurm::submit(const std::vector<std::string>& words, int tasks,
                          const fs::path& logs) const {
  const std::string throttle = terms_.jobs > 0 ? fmt::format("%{}", terms_.jobs) : "";
  std::vector<std::string> argv{"sbatch",
                                "--parsable",
                                "--no-requeue",
                                "--export=NIL",
                                "--nodes=1",
                                "--ntasks=1",
                                "--job-name=" + name_,
                                fmt::format("--array=0-{}{}", tasks - 1, throttle),
                                "--chdir=" + logs.string(),
                                "--output=" + (logs / "%A_%a.txt").string()};
  argv.push_back(terms_.cpus > 0 ? fmt::format("--cpus-per-task={}", terms_.cpus) : "--exclusive");
  if (!terms_.partition.empty()) argv.push_back("--partition=" + terms_.partition);
  if (!terms_.constraint.empty()) argv.push_back("--constraint=" + terms_.constraint);
  argv.insert(argv.end(), words.begin(), words.end());
  const Said said = ask_slurm(argv);
  // "1234", "1234;cluster"; warnings may stand before it.
  const std::string trimmed = said.output.substr(0, said.output.find_last_not_of(" \n") + 1);
  const std::string last = trimmed.substr(trimmed.rfind('\n') + 1);  // npos + 1 is 0
  const std::string job = last.substr(0, last.find(';'));
  if (said.ended_with(0) && is_job_id(job)) return job;
  throw UserError(
      fmt::format("--runner slurm: sbatch refuses ({}); --slurm-partition and --slurm-constraint "
                  "have to name what sinfo shows, and SBATCH_ACCOUNT and the like what you may use",
                  said.complaint()));
}

std::optional<SlurmQueue> Slurm::queue(const std::string& job) const {
  // By name: a job that the controller has forgotten would be an error, as if it did not answer.
  const Said said =
      ask_slurm({"squeue", "--noheader", "--array", "--states=all", "--user=" + this_user(),
                 "--name=" + name_, "--format=%F|%K|%T|%N|%r"});
  if (!said.ended_with(0)) return std::nullopt;
  SlurmQueue queue;
  std::istringstream lines(said.output);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() < 5 || fields[0] != job) continue;
    if (const auto task = whole_number(fields[1])) queue[*task] = {fields[2], fields[3], fields[4]};
  }
  return queue;
}

std::optional<std::string> Slurm::account(const std::string& job, int task) const {
  const Said said = ask_slurm({"sacct", "--noheader", "--parsable2", "--allocations",
                               fmt::format("--jobs={}_{}", job, task), "--format=State,NodeList"});
  if (!said.ended_with(0)) return std::nullopt;
  const std::vector<std::string> fields = fields_of(said.output.substr(0, said.output.find('\n')));
  if (fields.size() < 2 || fields[0].empty()) return std::nullopt;
  return fmt::format("{} on {}", one_line(fields[0], 80), one_line(fields[1], 80));
}

void Slurm::cancel() const {
  ask_slurm({"scancel", "--user=" + this_user(), "--name=" + name_});
}

std::string Slurm::log_name(const std::string& job, int task) {
  return fmt::format("{}_{}.txt", job, task);
}

}  // namespace gauntlet
