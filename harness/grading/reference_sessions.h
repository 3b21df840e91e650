// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "harness/grading/cell.h"
#include "harness/worker/session.h"
#include "harness/worker/time_budget.h"

namespace gauntlet {

/// A solution that was built, in a worker with the limits of its challenge; the budget, where there
/// is one, has to outlive it.
std::unique_ptr<Session> worker_session(const GradingEnvironment& environment,
                                        const Challenge& challenge,
                                        const std::filesystem::path& library,
                                        TimeBudget* budget = nullptr);

/// The same with the device that the solution's kernels are for, if it has any: where
/// built.kernels names none, this is a worker_session.
std::unique_ptr<Session> solution_session(const GradingEnvironment& environment,
                                          const Challenge& challenge, const BuiltSolution& built,
                                          TimeBudget* budget = nullptr);

/// The reference, built and started only when the first race asks for it. Throws Broken when it
/// does not build.
class ReferenceSessions {
 public:
  ReferenceSessions(const GradingEnvironment& environment, const Challenge& challenge)
      : environment_(environment), challenge_(challenge) {}

  Session& first() { return started(first_); }
  Session& second() { return started(second_); }

  /// SHA-256 of what raced; empty while nothing did.
  std::string digest() const;

 private:
  Session& started(std::unique_ptr<Session>& session);

  const GradingEnvironment& environment_;
  const Challenge& challenge_;
  std::filesystem::path library_;
  std::unique_ptr<Session> first_;
  std::unique_ptr<Session> second_;
};

}  // namespace gauntlet
