// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/attacks/corpus.h"
#include "harness/grading/cell.h"

namespace gauntlet {

class Testbed;

/// Who starts the programs, and which of the walls that a machine may lack are up.
struct Tier {
  std::string name;     // "root+namespaces"
  std::string why_not;  // not available here; empty: it is
  bool as_root = false;
  Walls walls;
};
std::vector<Tier> tiers_here(const Testbed& testbed);

/// Leaves out those between the first that is available, which has the fewest walls, and the last.
void leave_out_middle(std::vector<Tier>& tiers);

/// How one program fared on one tier.
struct AttackCell {
  bool tried = true;
  bool bad = false;     // an attack that succeeded or, as a control, failed; an honest program that
                        // was hindered
  std::string problem;  // also: an attack that failed, but not with a verdict that it may get
  Verdict verdict = Verdict::broken;
};

struct AttackRow {
  std::string name;
  std::string category;           // of an attack; empty: an honest program
  std::string note;               // goal or oddity
  std::vector<AttackCell> cells;  // by available tier
  AttackCell control;             // without the walls that stop it, where it names some
};

struct AttackMatrix {
  std::vector<Tier> tiers;
  std::vector<AttackRow> rows;
  double seconds = 0;  // that all of it took

  int attacks() const;
  int classes() const;
  int honest() const;
  int trials(bool attacks) const;  // of attacks, or of honest programs, on all tiers
  int successes() const;           // of these
  int controls() const;            // attacks that were tried without their walls as well
  int harmless() const;            // of these, those that failed all the same
  int false_alarms() const;        // of these
  int problems() const;
  bool ok() const;
};

/// Every attack and every honest program on every tier of this machine, as many at once as there
/// are cores. When brief, on the first and the last tier only, and on the first alone what no wall
/// stops. Each attack that names walls is then seen to succeed without them: otherwise a wall that
/// does nothing and an attack that does nothing would look the same. `tell` hears how it gets on,
/// in forks of this process as well.
AttackMatrix run_attacks(const GradingEnvironment& environment, const AttackCorpus& corpus,
                         bool brief, const std::function<void(const std::string&)>& tell);

}  // namespace gauntlet
