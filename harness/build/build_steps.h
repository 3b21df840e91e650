// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/build/build_folder.h"
#include "harness/build/compiler_messages.h"
#include "harness/build/solution.h"

namespace gauntlet {

/// The commands of one build, one after the other. The terms are the whole build's: each step has
/// what the ones before it left.
class BuildSteps {
 public:
  /// `programs` are folders of a compiler that lies in none of the system's.
  BuildSteps(const BuildFolder& folder, const BuildTerms& terms,
             std::vector<std::filesystem::path> programs = {})
      : folder_(folder), terms_(terms), programs_(std::move(programs)) {}

  /// True when the step ended well. Throws Broken when it cannot be started.
  bool carry_out(const std::vector<std::string>& argv);

  /// What the last step printed, with our names taken out.
  const std::string& printed() const { return printed_; }

  /// Not all that the last step printed was kept.
  bool cut() const { return cut_; }

  /// Which limit a step ran into; empty when none did.
  const std::string& stopped() const { return stopped_; }
  void forget_stop() { stopped_.clear(); }

  double seconds() const { return seconds_; }

  /// Throws Broken when a build that failed may be the machine's failure: its disk cannot be built
  /// on, or the compiler fails on an empty source as well.
  void require_working_machine(std::vector<std::string> compiler_and_flags) const;

 private:
  Limits limits_left() const;

  const BuildFolder& folder_;
  const BuildTerms& terms_;
  std::vector<std::filesystem::path> programs_;
  std::string printed_;
  bool cut_ = false;
  std::string stopped_;
  double seconds_ = 0;
};

/// Writes what a build said and took into its record, when all its steps are done.
void finish_record(BuildRecord& record, CompilerOutput said, const BuildSteps& steps);

}  // namespace gauntlet
