// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace gauntlet {

/// One word per check and per cell. Ordered from good to bad: a cell takes the worst word that any
/// of its checks earned, with `unmeasured` and `broken` last because they blame the place and us.
enum class Verdict {
  passed,
  wrong,        // ran to the end; what it wrote is not the answer
  crashed,      // signal, abort or exit inside a call
  timed_out,    // killed at the wall-clock limit
  over_memory,  // killed at the memory limit
  rejected,     // did not build, or breaks the contract
  cheated,      // did what only a forgery needs: forbidden system call, surviving writer
  unmeasured,   // cannot be asked on this machine
  broken,       // our own fault; never counted against a submission
};

std::string_view name_of(Verdict verdict);

/// Throws std::invalid_argument for a word that is no verdict.
Verdict verdict_named(std::string_view name);

/// True for the words that blame the submission (wrong .. cheated).
bool blames_submission(Verdict verdict);

constexpr Verdict worse(Verdict a, Verdict b) {
  return a < b ? b : a;
}

}  // namespace gauntlet
