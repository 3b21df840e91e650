// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "harness/run/runner.h"
#include "harness/run/slurm/slurm.h"

namespace gauntlet {

/// Grades on the nodes of a Slurm cluster, a job for each cell, in arrays. Nodes see the checkout,
/// this program and `folder` under the same paths as this machine does. What a job saw counts when
/// its receipt fits; the cluster's word is taken for when a job ended and never for how. A cell
/// whose job the cluster ended is graded again, and is broken (OwnFault::cluster) after kMostTries.
/// Ctrl-C and SIGTERM end all jobs before they end the program.
class SlurmRunner : public Runner {
 public:
  struct Setting {
    SlurmTerms terms;
    std::filesystem::path folder;          // that gets a folder for each run
    std::vector<std::string> command;      // gauntlet with its options, before the verb
    std::chrono::milliseconds look{2000};  // between two looks at the queue
    // How long files may take from a node to here: what network file systems keep for a minute.
    std::chrono::seconds lag{90};
    std::chrono::seconds silence{900};  // of the cluster, until it is given up
  };
  static constexpr int kMostTries = 3;

  explicit SlurmRunner(Setting setting) : setting_(std::move(setting)) {}

  /// Throws UserError where the cluster refuses jobs, and Broken where it stops answering.
  std::vector<CellObservation> grade(const std::vector<CellRequest>& requests,
                                     const Progress& progress,
                                     const Finished& finished = {}) override;

 private:
  Setting setting_;
};

}  // namespace gauntlet
