// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/cluster_options.h"

#include "harness/cli/option_parts.h"

namespace gauntlet {

void add_machine_options(CLI::App& grade, GradeOptions& o) {
  grade
      .add_option("--shard", o.shard,
                  "Only this part of the cells, 2/3 for the second of three: each machine grades "
                  "one, and ./gauntlet merge joins what they leave")
      ->check(not_empty());
  grade
      .add_option("--runner", o.runner,
                  "Where cells are graded: local, or slurm: on a cluster whose nodes see this "
                  "checkout under the same path")
      ->check(CLI::IsMember({"local", "slurm"}))
      ->capture_default_str();
  grade.add_option("--slurm-partition", o.slurm.partition, "Partition that jobs run in")
      ->check(not_empty());
  grade
      .add_option("--slurm-constraint", o.slurm.constraint,
                  "Features that nodes must have; name one kind of node, since speeds of different "
                  "kinds are not compared")
      ->check(not_empty());
  grade
      .add_option("--slurm-cpus", o.slurm.cpus,
                  "Processors for each cell (default: a node for itself, which races want)")
      ->check(CLI::Range(1, 1024));
  grade
      .add_option("--slurm-jobs", o.slurm.jobs,
                  "Cells graded at once, at most (default: what the cluster lets)")
      ->check(CLI::Range(1, 1'000'000));
}

void add_merge_verb(CLI::App& app, MergeOptions& o) {
  const std::string example = "merge shard1/ shard2/ --into results/";
  CLI::App& merge =
      add_verb(app, "merge", "Join the results of shards, or of several machines", example);
  merge.add_option("folder", o.folders, "Folders of results")->required()->check(not_empty());
  merge.add_option("--into", o.into, "Folder of results that gets all cells")
      ->required()
      ->check(not_empty());
  merge.footer(
      "Every cell is taken with its receipt, which has to fit; where two folders have different "
      "grades of a cell, or one is older than what is there, nothing is merged. A grade that a "
      "later run replaces leaves a line in ledger.jsonl. Where shards or cells of what was planned "
      "are missing it says which, and ends with 5. The order of the folders makes no difference.\n"
      "Example: ./gauntlet " +
      example);
}

}  // namespace gauntlet
