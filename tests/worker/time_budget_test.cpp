// SPDX-License-Identifier: Apache-2.0
// What calls take together is bounded, however short each of them is.

#include "harness/worker/time_budget.h"

#include "worker_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

constexpr const char* kSleepy = R"(
#include <time.h>
static void nap() {
  const timespec t = {0, 50'000'000};
  nanosleep(&t, nullptr);
}
)";

/// Asks until a call fails; how many calls that took, and how it ended.
std::pair<int, Ending> calls_until_the_end(Session& session, bool restarts) {
  for (int calls = 1; calls <= 100; ++calls) {
    if (restarts) session.restart();
    WorkCall call(4);
    if (const Ending end = ending_of(session, call); end.verdict != Verdict::passed)
      return {calls, end};
  }
  return {0, {}};
}

}  // namespace

// A busy machine makes naps longer and the calls fewer: the bounds below hold on any.

TEST_CASE("calls that each stay below their limit end with the budget of the check") {
  Solution solution(work("nap(); return 0;", kSleepy));
  TimeBudget budget(0.4, 600);
  solution.config.budget = &budget;
  solution.open();
  const auto [calls, end] = calls_until_the_end(*solution.session, false);
  CHECK(calls > 0);
  CHECK(calls <= 9);
  CHECK(end.verdict == Verdict::timed_out);
  CHECK(contains(end.text, "s of the 0.4 s that those of one check may take together"));
  CHECK_FALSE(budget.cell_is_used_up());
}

TEST_CASE("what checks leave of the cell's budget is what the next one has") {
  Solution solution(work("nap(); return 0;", kSleepy));
  TimeBudget budget(0.4, 0.6);
  solution.config.budget = &budget;
  solution.open();
  CHECK(calls_until_the_end(*solution.session, false).second.verdict == Verdict::timed_out);
  budget.begin_check();
  CHECK(budget.left() > TimeBudget::Duration());
  const auto [calls, end] = calls_until_the_end(*solution.session, false);
  CHECK(calls <= 5);
  CHECK(contains(end.text, "s of the 0.6 s that those of all checks may take together"));
  budget.begin_check();
  CHECK(calls_until_the_end(*solution.session, false).first == 1);
}

TEST_CASE("the time of being loaded counts, in every new process") {
  Solution solution(
      work("return 0;",
           std::string(kSleepy) + "__attribute__((constructor)) static void now() { nap(); }"));
  TimeBudget budget(0.4, 600);
  solution.config.budget = &budget;
  solution.open();
  const auto [calls, end] = calls_until_the_end(*solution.session, true);
  CHECK(calls > 0);
  CHECK(calls <= 9);
  CHECK(end.verdict == Verdict::timed_out);
}

TEST_CASE("a call that would hang ends with what is left of the budget") {
  Solution solution(work("for (;;) nap();", kSleepy));
  TimeBudget budget(0.3, 600);
  solution.config.budget = &budget;
  solution.open();
  WorkCall call(4);
  CHECK(contains(ending_of(*solution.session, call).text, "s of the 0.3 s"));
}
