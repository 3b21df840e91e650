// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gauntlet {

/// The largest share of a population with which seeing no more than `hits` among `of` has a
/// probability of 5 % or more (Clopper and Pearson 1934): the upper 95 % bound. Throws
/// std::invalid_argument for more hits than tries.
double upper_bound_of_share(int hits, int of);

}  // namespace gauntlet
