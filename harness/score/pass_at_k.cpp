// SPDX-License-Identifier: Apache-2.0
#include "harness/score/pass_at_k.h"

#include <fmt/format.h>
#include <stdexcept>

namespace gauntlet {

double pass_at_k(int n, int c, int k) {
  if (c < 0 || c > n || k < 1 || k > n)
    throw std::invalid_argument(fmt::format("pass@{} of {} attempts, {} passed", k, n, c));
  // The quotient of the binomials, factor by factor: the binomials themselves would overflow.
  double none_passes = 1;
  for (int i = n; i > n - c; --i) none_passes *= i > k ? 1 - static_cast<double>(k) / i : 0;
  return 1 - none_passes;
}

std::vector<int> printed_k(int n) {
  std::vector<int> printed;
  for (int decade = 1; decade <= n; decade *= 10)
    for (const int digit : {1, 2, 5})
      if (digit * decade <= n) printed.push_back(digit * decade);
  return printed;
}

}  // namespace gauntlet
