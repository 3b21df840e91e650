// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "harness/attacks/corpus.h"
#include "harness/attacks/decoys.h"
#include "harness/attacks/forked_task.h"
#include "harness/core/machine.h"
#include "harness/grading/cell.h"
#include "harness/sandbox/spare_user.h"

namespace gauntlet {

/// Where programs are tried: what grading needs of a checkout, in folders that every user can read,
/// and the decoys.
class Testbed {
 public:
  /// `cores`: how many it may use to compile; trials use what they find.
  Testbed(const GradingEnvironment& environment, const AttackCorpus& corpus,
          int cores = this_machine().cores);

  Evidence try_attack(const Attack& attack, const Walls& walls);
  Evidence try_honest(const OddProgram& program, const Walls& walls);

  /// Has a fork of this process do it. An ordinary user has no privileges when we are root, and is
  /// always the same one, whom no other testbed has.
  ForkedTask send(const std::function<std::string()>& act, bool as_ordinary_user) const;
  std::string as_ordinary_user(const std::function<std::string()>& act) const {
    return send(act, true).result();
  }

  /// To be called by each user who is going to try something: puts the decoys out, and compiles
  /// what does not attack the compilation; of attacks that no wall stops, only `with_unwalled`.
  void settle(bool with_unwalled = true);

  /// A program as a submission's files.
  SolutionSource solution(Device device, const std::string& text) const;
  const Challenge& challenge() const { return challenge_; }
  const std::filesystem::path& cache() const { return environment_.cache; }

 private:
  CellRequest request(const std::string& name, Device device, const std::string& text) const;
  void compile_all(bool with_unwalled) const;

  const AttackCorpus& corpus_;
  int cores_;
  ScratchFolder folder_{"testbed"};
  GradingEnvironment environment_;
  Challenge challenge_;
  Decoys decoys_;
  std::optional<SpareUser> user_ = SpareUser::take_if_root();
};

}  // namespace gauntlet
