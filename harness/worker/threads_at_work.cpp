// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/threads_at_work.h"

#include <algorithm>
#include <cmath>

namespace gauntlet {
namespace {

// A quarter of a second of looks, or more where looks are late.
constexpr std::size_t kLooks = 128;

}  // namespace

void ThreadsAtWork::see(Duration passed, Duration processor, std::size_t alive) {
  if (passed < kShortest) return;
  const Duration for_nothing = kAtWork * static_cast<Duration::rep>(alive);
  const double share = std::chrono::duration<double>(processor - for_nothing) / passed;
  use_.at_once = std::max(use_.at_once, static_cast<int>(std::lround(share)));
}

void ThreadsAtWork::stop(Duration passed, Duration processor, std::size_t alive) {
  see(passed, processor, alive);
  use_.elapsed += passed;
  use_.processor += processor;
}

void ThreadsAtWork::see(const std::vector<ThreadLook>& threads) {
  const std::size_t look = looks_++;
  std::map<pid_t, Busy> busy;
  for (const ThreadLook& thread : threads) {
    const auto known = busy_.find(thread.id);
    if (known != busy_.end() && known->second.sleeps == thread.sleeps) {
      Busy& same = busy[thread.id] = std::move(known->second);
      same.used.push_back(thread.used);
      if (same.used.size() > kLooks) {
        same.used.erase(same.used.begin());
        ++same.first;
      }
    } else if (thread.ready) {
      busy[thread.id] = {thread.sleeps, look, {thread.used}};
    }
  }
  busy_ = std::move(busy);
  std::size_t oldest = look;
  for (const auto& [id, thread] : busy_) oldest = std::min(oldest, thread.first);
  for (std::size_t since = oldest; since < look; ++since)
    use_.at_once = std::max(use_.at_once, together_since(since));
}

/// How many of the threads that did not sleep between that look and the newest were at work both
/// before and after some look between the two.
int ThreadsAtWork::together_since(std::size_t look) const {
  std::vector<int> more(looks_ - look + 1);  // threads, from one possible middle to the next
  for (const auto& [id, thread] : busy_) {
    if (thread.first > look) continue;
    const auto used = thread.used.begin() + static_cast<std::ptrdiff_t>(look - thread.first);
    const auto first = std::lower_bound(used, thread.used.end(), *used + kAtWork);
    const auto behind_last =
        std::upper_bound(used, thread.used.end(), thread.used.back() - kAtWork);
    if (first >= behind_last) continue;
    ++more[static_cast<std::size_t>(first - used)];
    --more[static_cast<std::size_t>(behind_last - used)];
  }
  int most = 0, now = 0;
  for (const int change : more) most = std::max(most, now += change);
  return most;
}

}  // namespace gauntlet
