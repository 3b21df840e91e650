// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/attacks/attack_matrix.h"
#include "harness/attacks/testbed.h"

namespace gauntlet {

/// Programs that are tried one after the other, in places of their own, so that several lanes can
/// be at work at once: nobody is looked for under the name, at the port, in the folder or as the
/// user of another.
struct AttackLane {
  AttackCorpus programs;
  std::vector<std::size_t> rows;  // of the matrix: all attacks, then the honest programs
  std::unique_ptr<Testbed> testbed;
};

/// All programs of a corpus, dealt out to as many lanes as there are cores.
class AttackLanes {
 public:
  using Tell = std::function<void(const std::string&)>;

  /// `tell` hears how it gets on, in forks of this process as well.
  AttackLanes(const GradingEnvironment& environment, const AttackCorpus& corpus, Tell tell);

  /// One column of the matrix, in the order of its rows. Unless `with_unwalled`, attacks that name
  /// no wall are left out: what stops them is the same on every tier.
  std::vector<AttackCell> column(const Tier& tier, bool with_unwalled);

  /// The control of the matrix, in the order of its rows: each attack that names walls, with these
  /// down, as an ordinary user, so that no attack ever has its way as root. Bad is one that fails.
  std::vector<AttackCell> controls();

  const Testbed& some_testbed() const { return *lanes_.front().testbed; }

 private:
  using Act = std::function<std::vector<AttackCell>(AttackLane&)>;

  /// What `act` makes of the programs of each lane, all lanes at once and then the last.
  std::vector<AttackCell> in_all_lanes(bool as_ordinary_user, const Act& act);

  AttackLane& lane_for(const Attack& attack);
  AttackLane& next_lane() { return lanes_[programs_ % (lanes_.size() - 1)]; }

  Tell tell_;
  std::size_t programs_ = 0;
  std::size_t unwalled_ = 0;       // attacks that name no wall
  std::vector<AttackLane> lanes_;  // the last holds what must be alone on the machine
};

}  // namespace gauntlet
