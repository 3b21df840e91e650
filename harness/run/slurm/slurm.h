// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gauntlet {

/// What is asked of a cluster. Slurm's own variables (SBATCH_ACCOUNT, SBATCH_TIMELIMIT, ...) count
/// as they do for whoever calls sbatch.
struct SlurmTerms {
  std::string partition;   // empty: the cluster's usual one
  std::string constraint;  // features that a node has to have, as sbatch takes it; empty: none
  int cpus = 0;            // for each cell; 0: a node for itself
  int jobs = 0;            // cells graded at once, at most; 0: as many as the cluster lets
};

/// A task of an array as the queue shows it.
struct SlurmTask {
  std::string state;   // "RUNNING", "NODE_FAIL"
  std::string node;    // empty: on none
  std::string reason;  // why it waits

  bool running() const { return state == "RUNNING"; }
  bool ended() const;  // whatever its end was
};
using SlurmQueue = std::map<int, SlurmTask>;  // by index

/// "3 jobs run, 5 wait (Resources)"; empty when none of them does either.
std::string summary_of(const SlurmQueue& queue);

/// Slurm's programs, found on PATH, for the jobs of one run, which have one name. Arrays are
/// submitted one after the other, so that a task is known by its index.
class Slurm {
 public:
  Slurm(SlurmTerms terms, std::string name) : terms_(std::move(terms)), name_(std::move(name)) {}

  /// Tasks that an array may have. Throws UserError where there is no Slurm.
  int largest_array() const;

  /// Starts an array of so many tasks, which run `words`: a script and its arguments. What each
  /// says goes to a file in `logs`. Throws UserError with sbatch's words where it refuses.
  std::string submit(const std::vector<std::string>& words, int tasks,
                     const std::filesystem::path& logs) const;

  /// What the queue says of an array, tasks that ended lately among it. Nothing where the cluster
  /// does not answer.
  std::optional<SlurmQueue> queue(const std::string& job) const;

  /// What became of a task, "NODE_FAIL on node7", by the accounts where the cluster keeps them;
  /// nothing where it does not.
  std::optional<std::string> account(const std::string& job, int task) const;

  /// Ends all jobs of the run.
  void cancel() const;

  /// The file in a folder of logs that a task writes.
  static std::string log_name(const std::string& job, int task);

 private:
  SlurmTerms terms_;
  std::string name_;
};

}  // namespace gauntlet
