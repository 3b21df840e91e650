// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/threads.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "harness/core/machine.h"

namespace gauntlet::kit {
namespace {

constexpr int kAsks = 12;
// Asks that showed nothing and left no doubt. One may be too short to look often enough: beside one
// other program, of four threads where one may be, every third such ask shows one only.
constexpr int kAgreed = 3;
// Of a processor, that an ask takes the reference.
constexpr auto kAsk = std::chrono::milliseconds(20);
// Of the processors that its threads could have filled: less is a busy machine's doing, or its own.
constexpr double kGiven = 0.8;
// Of those that they may fill: more shows that there are others, which may be no more than wakers.
constexpr double kDoubtful = 1.1;

}  // namespace

TeamsOffered::TeamsOffered(Probe& probe) : probe_(probe) {
  probe_.solution().offer_teams(true);
  probe_.restart();
}

TeamsOffered::~TeamsOffered() {
  probe_.solution().offer_teams(false);
  probe_.restart();
}

ThreadUse watched(Probe& probe, int threads, const std::function<void()>& calls, bool again) {
  probe.solution().watch_threads(again);
  calls();
  const ThreadUse use = probe.solution().end_watch();
  if (use.at_once > threads)
    probe.fail(
        fmt::format("{} threads were at work at once, num_threads is {}", use.at_once, threads));
  return use;
}

void require_thread_limit(Probe& probe, int threads, const AskWith& ask, const AskWith& less) {
  const double processors = std::min(threads, this_machine().cores);
  const AskWith* asked = less ? &less : &ask;
  const auto once = [&] { (*asked)(threads); };
  const TeamsOffered offered(probe);
  (*asked)(threads + static_cast<int>(probe.common_stream("more threads").integer(1, 2)));
  once();
  int agreed = 0;
  std::chrono::duration<double> worked{};
  // A slow solution is at work for longer in each ask, and is looked at more often.
  const auto one = processors * std::chrono::duration<double>(kAsk);
  for (int asks = 0; asks < kAsks && agreed < kAgreed; ++asks) {
    if (asks >= kAgreed && worked >= kAsks * one) break;
    const ThreadUse use = watched(probe, threads, once, asks > 0);
    const std::chrono::duration<double> processor = use.processor, elapsed = use.elapsed;
    if (asked != &ask && asks == 0 && processor < one) {
      asked = &ask;
      continue;
    }
    worked += processor;
    if (processor > kGiven * processors * elapsed && processor < kDoubtful * threads * elapsed)
      ++agreed;
  }
  // Who is slow where little is asked, and there alone, is watched where it pays.
  if (std::exchange(asked, &ask) != &ask) watched(probe, threads, once, true);
}

}  // namespace gauntlet::kit
