// SPDX-License-Identifier: Apache-2.0
#include "harness/core/parallel.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace gauntlet {

void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr fault;
  const auto try_one = [&](std::size_t i) {
    try {
      work(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      fault = std::current_exception();
    }
  };
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) try_one(i);
  };
  {
    std::vector<std::jthread> helpers;
    for (int i = 1; i < threads && static_cast<std::size_t>(i) < count; ++i)
      helpers.emplace_back(take);
    take();
  }
  if (fault) std::rethrow_exception(fault);
}

}  // namespace gauntlet
