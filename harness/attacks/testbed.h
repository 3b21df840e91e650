#pragma once

#include <functional>
#include <string>

#include "harness/attacks/corpus.h"
#include "harness/attacks/decoys.h"
#include "harness/grading/cell.h"
#include "harness/sandbox/spare_user.h"

namespace gauntlet {

/// Where programs are tried: what grading needs of a checkout, in folders that every user can read,
/// and the decoys.
class Testbed {
 public:
  Testbed(const Workshop& workshop, const AttackCorpus& corpus);

  Evidence try_attack(const Attack& attack, const Defences& defences);
  Evidence try_honest(const OddProgram& program, const Defences& defences);

  /// Runs `act` in a fork of this process, as an ordinary user with no privileges when we are root,
  /// always the same one, and gives back the text that it returned. Throws Broken with the words of
  /// what it threw.
  std::string as_ordinary_user(const std::function<std::string()>& act) const;

  /// To be called by each user who is going to try something: puts the decoys out, and compiles
  /// what does not attack the compilation, on all cores, unless another user has.
  void settle();

  /// A program as a submission's files.
  SolutionSource solution(const std::string& text) const;
  const Challenge& challenge() const { return challenge_; }
  const std::filesystem::path& cache() const { return workshop_.cache; }

 private:
  CellRequest request(const std::string& name, const std::string& text) const;
  void compile(const std::string& text) const;
  void compile_all() const;

  const AttackCorpus& corpus_;
  ScratchFolder folder_{"testbed"};
  Workshop workshop_;
  Challenge challenge_;
  Decoys decoys_;
  std::optional<SpareUser> user_ = SpareUser::take_if_root();
};

}  // namespace gauntlet
