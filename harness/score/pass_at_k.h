// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace gauntlet {

/// The chance that one of k attempts passes or more, from n attempts of which c passed:
/// 1 - C(n - c, k) / C(n, k), which is unbiased where 1 - (1 - c / n)^k is not (Chen et al. 2021,
/// "Evaluating large language models trained on code"). It never falls with c nor with k. Throws
/// std::invalid_argument unless 0 <= c <= n and 1 <= k <= n: more attempts than there were say
/// nothing.
double pass_at_k(int n, int c, int k);

/// The k that are printed for n attempts: 1, 2, 5, 10, 20, 50 ... as far as n.
std::vector<int> printed_k(int n);

}  // namespace gauntlet
