// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "harness/core/rng.h"

namespace gauntlet {

/// Which laps of a solution are judged in full. A sample of every lap makes leaving out much too
/// dangerous; this is about little, in some laps, in the hope that no sample shows it.
///
/// The score is a median over laps, so that no single lap decides. To move it, a solution has to
/// leave something out in a share f of its laps, and those have to become faster ones: the median
/// is then the quantile (1/2 - f) / (1 - f) of the honest laps. With pairs that differ by 5 %
/// (standard deviation), f = 1/10 earns 0.7 % and f = 1/4 earns 2.2 %. So laps are looked at that
/// are no slower than the median of those before them: there such laps are 2 f of all, and of the n
/// looks of a race none meets one with probability (1 - 2 f)^n, 26 % and 1.6 % for these at the six
/// looks of a race with 200 pairs. Looks come at distances that double on the average and are drawn
/// with the race's secret, so that slow solutions, who run few laps, are looked at as well.
class FullLooks {
 public:
  explicit FullLooks(const Seed& secret);

  /// To be asked of every lap that counts: whether it is to be judged in full.
  bool wants(double ns);

  int looks() const { return looks_; }

 private:
  Rng rng_;
  std::vector<double> seen_;
  std::size_t next_;
  int looks_ = 0;
};

}  // namespace gauntlet
