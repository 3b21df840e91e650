// SPDX-License-Identifier: Apache-2.0
#include "harness/core/parallel.h"

#include <atomic>
#include <thread>
#include <vector>

namespace gauntlet {

void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> helpers;
  for (int i = 1; i < threads && static_cast<std::size_t>(i) < count; ++i)
    helpers.emplace_back(take);
  take();
}

}  // namespace gauntlet
