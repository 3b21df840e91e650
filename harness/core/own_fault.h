// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "harness/core/finding.h"

namespace gauntlet {

/// All that is our own fault or the machine's, and never a submission's. What a submission can
/// cause is not on this list: tests/end_to_end/own_faults_test.cpp tries for each entry from one.
enum class OwnFault {
  files,         // a file or folder of ours cannot be read or written; its disk is full
  memory,        // none for the grader
  process,       // the machine starts no further one for us
  kernel,        // it refuses the grader another call that it cannot do without
  sandbox,       // the walls cannot be put up
  compiler,      // there is none, or it fails on an empty source
  worker,        // it fails before the solution's library is loaded
  own_solution,  // the reference, or what tests are tried on, does not build or is wrong
  timing_lock,   // another grading keeps the machine
  crypto,        // OpenSSL refuses
  interrupted,   // a process of the grader was ended from outside
  cluster,       // it ended a job of the grader's, or does not answer
  bug,           // parts of the grader contradict each other
};
inline constexpr int kOwnFaults = 13;

std::string_view name_of(OwnFault fault);
OwnFault own_fault_named(std::string_view name);

/// What it means, in words that complete "our fault: ".
std::string_view sentence_of(OwnFault fault);

/// What it was when the kernel refused a call with this errno.
OwnFault own_fault_of_errno(int error);

/// What an exception stands for that ended a check and that the solution has no part in.
OwnFault own_fault_of(const std::exception& error);

/// The one way to a finding of Verdict::broken.
Finding broken_finding(OwnFault fault, const std::string& what);

}  // namespace gauntlet
