// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/build/challenge.h"
#include "harness/grading/cell.h"
#include "tests/peers/peer.h"
#include "tests/peers/question.h"

namespace gauntlet::peers {

/// Puts solutions of one challenge through every peer's protocol. As the peers do, it asks all of
/// them the same: inputs are drawn and answered once, with a seed that is always the same.
class Referee {
 public:
  /// The peers have to outlive it. Throws UserError for a challenge without questions.
  Referee(const GradingEnvironment& environment, Challenge challenge,
          const std::vector<Peer>& peers);

  /// Builds the solution, which is one of ours, and says which peers reject it, in their order. A
  /// peer is asked nothing more after the first answer that it does not accept. Throws Broken when
  /// the solution does not build.
  std::vector<bool> rejections(const SolutionSource& solution) const;

 private:
  struct Asked {
    const Regime* regime;
    std::unique_ptr<Question> question;
  };

  bool rejects(std::size_t peer, Session& session) const;

  GradingEnvironment environment_;
  Challenge challenge_;
  const std::vector<Peer>& peers_;
  std::vector<std::vector<Asked>> asked_;  // by peer
};

}  // namespace gauntlet::peers
