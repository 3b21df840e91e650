// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/ask_in_order.h"

#include <atomic>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <latch>
#include <set>
#include <string>
#include <vector>

#include "harness/core/error.h"

using namespace gauntlet;

namespace {

AskedCheck seen_of(std::size_t check) {
  AskedCheck asked;
  asked.seen.info.id = fmt::format("check {}", check);
  return asked;
}

}  // namespace

TEST_CASE("checks are kept in their order, whichever lane is done first") {
  for (const std::size_t lanes : {1, 2, 5}) {
    constexpr std::size_t kChecks = 40;
    std::latch second_is_asked(lanes > 1 ? 2 : 1);
    std::vector<std::size_t> kept;
    std::atomic<std::size_t> asked = 0;
    ask_in_order(
        kChecks, lanes,
        [&](std::size_t lane, std::size_t check) {
          CHECK(lane < lanes);
          ++asked;
          if (check == 0) second_is_asked.arrive_and_wait();  // the first is done last
          if (check == 1 && lanes > 1) second_is_asked.count_down();
          return seen_of(check);
        },
        [&](std::size_t check, AskedCheck one) {
          CHECK(one.seen.info.id == fmt::format("check {}", check));
          kept.push_back(check);
          return true;
        });
    CHECK(asked == kChecks);
    REQUIRE(kept.size() == kChecks);
    for (std::size_t n = 0; n < kChecks; ++n) CHECK(kept[n] == n);
  }
}

TEST_CASE("no lane asks two checks at a time") {
  std::vector<std::atomic<int>> busy(3);
  ask_in_order(
      60, busy.size(),
      [&](std::size_t lane, std::size_t check) {
        CHECK(++busy[lane] == 1);
        AskedCheck asked = seen_of(check);
        --busy[lane];
        return asked;
      },
      [](std::size_t, const AskedCheck&) { return true; });
}

TEST_CASE("nothing is kept behind the check that was the last to be kept") {
  for (const std::size_t lanes : {1, 3}) {
    std::latch others_are_asked(static_cast<std::ptrdiff_t>(lanes));
    std::vector<std::size_t> kept;
    ask_in_order(
        100, lanes,
        [&](std::size_t, std::size_t check) {
          if (check < lanes) others_are_asked.arrive_and_wait();
          return seen_of(check);
        },
        [&](std::size_t check, const AskedCheck&) {
          kept.push_back(check);
          return check < 1;
        });
    CHECK(kept == std::vector<std::size_t>{0, 1});
  }
}

TEST_CASE("a fault of one lane ends all of them, and is told") {
  std::atomic<int> asked = 0;
  const auto ask = [&](std::size_t, std::size_t check) {
    if (++asked > 5) throw Broken(OwnFault::bug, "no session");
    return seen_of(check);
  };
  CHECK_THROWS_AS(ask_in_order(100'000, 2, ask, [](auto, const auto&) { return true; }), Broken);
  CHECK(asked < 100'000);
}
