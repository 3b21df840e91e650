// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/diagnose/block_clocks.h"

#include <algorithm>

namespace gauntlet::simt {

void BlockClocks::start() {
  std::fill(clocks_.begin(), clocks_.end(), 1u);
  for (auto& known : known_) known.fill(1);
}

void BlockClocks::meet(std::uint32_t warps) {
  Seen all{};
  const auto each = [&](const auto& visit) {
    for (std::uint32_t w = 0; w < clocks_.size(); ++w)
      if ((warps >> w & 1u) != 0) visit(w);
  };
  each([&](std::uint32_t w) {
    for (std::uint32_t v = 0; v < clocks_.size(); ++v) all[v] = std::max(all[v], known_[w][v]);
  });
  each([&](std::uint32_t w) { all[w] = std::max(all[w], ++clocks_[w]); });
  each([&](std::uint32_t w) { known_[w] = all; });
}

}  // namespace gauntlet::simt
