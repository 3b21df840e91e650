// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "harness/core/verdict.h"

namespace gauntlet {

/// What one attack left behind, all of it seen from outside its process.
struct Evidence {
  // What the grading process came to.
  Verdict verdict = Verdict::broken;
  std::string summary;  // of the finding, or the compiler's first words
  bool built = false;
  bool stopped = false;  // the compiler, by a limit
  int cases = 0;         // inputs that were put to it
  double seconds = 0;    // that the grader's clock says the check took
  bool leaked = false;   // the secret stands in what the grader would print

  // What was done to the grading process.
  bool died = false;
  double trial_seconds = 0;  // from its start to its end, by our clock
  int signals = 0;
  bool memory_changed = false;
  bool settings_changed = false;  // processors, priority, limits
  bool traced = false;

  // What its processes were seen to do.
  int processes = 0;  // besides the worker, at once
  int threads = 0;    // of one process
  int survivors = 0;  // alive after the end
  double resident_mib = 0;
  double shared_mib = 0;  // memory files of the whole machine, above what there was
  double tables_mib = 0;  // page tables, which no count of resident memory has
  double locked_kib = 0;
  bool own_namespace = false;
  bool other_scheduling = false;
  bool other_cores = false;       // than those of everybody else
  std::set<std::string> objects;  // what its descriptors name: "anon_inode:[io_uring]"

  // What became of the decoys.
  bool planted = false;  // a file, folder or link of its own
  double planted_mib = 0;
  bool victim_changed = false;  // the file that is not its to change
  bool token = false;           // something arrived at a socket
  bool listens = false;
  bool file_locked = false;
  bool left_ipc = false;  // System V memory, queue or semaphore
  bool left_key = false;  // in the user's keyring
};

}  // namespace gauntlet
