// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/threads.h"

#include <doctest/doctest.h>
#include <string>

#include "tests/support/scripted_session.h"

using namespace gauntlet;
using namespace gauntlet::kit;
using namespace std::chrono_literals;

namespace {

/// A solution of which is seen what a test says.
struct Watched : Scripted {
  std::vector<ThreadUse> seen;  // in one try after the other
  std::vector<bool> watches;    // whether each was one more of the same
  std::string* log = nullptr;
  void watch_threads(bool again) override {
    watches.push_back(again);
    say("watch ");
  }
  void offer_teams(bool offered) override { say(offered ? "offered " : "taken "); }
  void restart() override { say("restart "); }
  void say(const char* what) const {
    if (log != nullptr) *log += what;
  }
  ThreadUse end_watch() override { return seen.at(watches.size() - 1); }
};

/// How often it is watched.
int asked(std::vector<ThreadUse> seen, int threads) {
  Watched session;
  session.seen = std::move(seen);
  Probe probe = probe_of(session);
  probe.begin_case("a case");
  require_thread_limit(probe, threads, [](int) {});
  for (std::size_t i = 0; i < session.watches.size(); ++i) CHECK(session.watches[i] == (i > 0));
  return static_cast<int>(session.watches.size());
}

}  // namespace

TEST_CASE("a solution is asked until nothing was seen three times when it had all it could use") {
  const ThreadUse well{1, 20ms, 17ms}, badly{1, 20ms, 15ms}, doubtfully{1, 20ms, 23ms};
  CHECK(asked({well, well, well}, 1) == 3);
  CHECK(asked({badly, well, badly, well, well}, 1) == 5);
  CHECK(asked({doubtfully, well, well, well}, 1) == 4);
  CHECK(asked(std::vector(12, badly), 1) == 12);
}

TEST_CASE(
    "a slow solution that others hold up has been watched for long enough after fewer tries") {
  const ThreadUse slow{1, 200ms, 90ms}, slower{1, 900ms, 400ms};
  CHECK(asked(std::vector(3, slow), 1) == 3);
  CHECK(asked(std::vector(12, ThreadUse{1, 90ms, 45ms}), 1) == 6);
  CHECK(asked(std::vector(3, slower), 1) == 3);
  CHECK_THROWS_AS(asked({slower, slower, {2, 900ms, 400ms}}, 1), CheckEnded);
}

TEST_CASE("a smaller call is enough for a solution that takes long for it") {
  const auto asked_both = [](std::vector<ThreadUse> seen) {
    Watched session;
    session.seen = std::move(seen);
    Probe probe = probe_of(session);
    probe.begin_case("a case");
    std::string asked;
    require_thread_limit(
        probe, 1, [&](int threads) { asked += threads > 1 ? "+M" : "M"; },
        [&](int threads) { asked += threads > 1 ? "+l" : "l"; });
    return asked;
  };
  const ThreadUse quick{1, 3ms, 3ms}, well{1, 20ms, 20ms};
  CHECK(asked_both({well, well, well, well}) == "+lllllM");
  CHECK(asked_both({quick, well, well, well}) == "+lllMMM");
  CHECK_THROWS_AS(asked_both({{2, 3ms, 6ms}}), CheckEnded);
  CHECK_THROWS_AS(asked_both({well, well, well, {2, 20ms, 40ms}}), CheckEnded);
}

TEST_CASE("a process to which teams are offered has had more threads before it is watched") {
  Watched session;
  session.seen = std::vector(3, ThreadUse{2, 20ms, 39ms});
  Probe probe = probe_of(session);
  probe.begin_case("a case");
  std::string told;
  session.log = &told;
  require_thread_limit(probe, 2, [&](int threads) { told += threads > 2 ? "more " : "so many "; });
  CHECK(told ==
        "offered restart more so many watch so many watch so many watch so many "
        "taken restart ");
}

TEST_CASE("more threads at work than allowed end the check, in whichever try they are seen") {
  const ThreadUse two{2, 20ms, 40ms}, badly{1, 20ms, 5ms}, well{1, 20ms, 20ms};
  CHECK(asked(std::vector(3, ThreadUse{2, 20ms, 39ms}), 2) == 3);
  CHECK_THROWS_AS(asked({two}, 1), CheckEnded);
  CHECK_THROWS_AS(asked({badly, badly, two}, 1), CheckEnded);
  CHECK_THROWS_AS(asked({well, well, two}, 1), CheckEnded);
}
