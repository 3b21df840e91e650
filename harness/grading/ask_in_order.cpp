// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/ask_in_order.h"

#include <mutex>
#include <utility>
#include <vector>

#include "harness/core/parallel.h"

namespace gauntlet {
namespace {

/// Which check is the next, and what was seen of those that are done before their turn.
class Queue {
 public:
  explicit Queue(std::size_t count) : done_(count) {}

  std::optional<std::size_t> next() {
    const std::lock_guard lock(mutex_);
    if (over_ || next_ == done_.size()) return std::nullopt;
    return next_++;
  }

  void keep(std::size_t check, AskedCheck asked,
            const std::function<bool(std::size_t, AskedCheck)>& keep) {
    const std::lock_guard lock(mutex_);
    done_[check] = std::move(asked);
    for (; !over_ && kept_ < done_.size() && done_[kept_]; ++kept_)
      over_ = !keep(kept_, *std::exchange(done_[kept_], std::nullopt));
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }

 private:
  std::mutex mutex_;
  std::size_t next_ = 0;
  std::size_t kept_ = 0;
  bool over_ = false;
  std::vector<std::optional<AskedCheck>> done_;
};

}  // namespace

void ask_in_order(std::size_t count, std::size_t lanes,
                  const std::function<AskedCheck(std::size_t lane, std::size_t check)>& ask,
                  const std::function<bool(std::size_t check, AskedCheck)>& keep) {
  Queue queue(count);
  parallel_for(lanes, static_cast<int>(lanes), [&](std::size_t lane) {
    try {
      while (const auto check = queue.next()) queue.keep(*check, ask(lane, *check), keep);
    } catch (...) {
      queue.stop();
      throw;
    }
  });
}

}  // namespace gauntlet
