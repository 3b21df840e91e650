// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <map>
#include <sstream>

#include "harness/cli/environment.h"
#include "harness/cli/progress.h"

using namespace gauntlet;

namespace {

Environment environment(const std::map<std::string, std::string>& values) {
  return [values](const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? "" : found->second;
  };
}

CellEvent event(CellEvent::Kind kind, int done) {
  return {kind, {"bravo", "first"}, "base", Verdict::passed, done, 24};
}

/// A clock that the test moves.
struct Hand {
  std::chrono::steady_clock::time_point now{std::chrono::hours(1)};
  ProgressDisplay::Clock clock() {
    return [this] { return now; };
  }
};

}  // namespace

TEST_CASE("colour follows the option, then the environment, then the stream") {
  const auto choice = ColorChoice::automatic;
  CHECK(wants_color(choice, environment({}), true));
  CHECK_FALSE(wants_color(choice, environment({}), false));
  CHECK_FALSE(wants_color(choice, environment({{"TERM", "dumb"}}), true));
  CHECK_FALSE(wants_color(choice, environment({{"NO_COLOR", "1"}, {"FORCE_COLOR", "1"}}), true));
  CHECK(wants_color(choice, environment({{"NO_COLOR", ""}}), true));
  CHECK(wants_color(choice, environment({{"CLICOLOR_FORCE", "1"}, {"TERM", "dumb"}}), false));
  CHECK_FALSE(wants_color(choice, environment({{"FORCE_COLOR", "0"}}), false));
  CHECK(wants_color(ColorChoice::always, environment({{"NO_COLOR", "1"}}), false));
  CHECK_FALSE(wants_color(ColorChoice::never, environment({{"FORCE_COLOR", "1"}}), true));
}

TEST_CASE("Unicode signs are for locales that write UTF-8") {
  CHECK(speaks_unicode(environment({{"LANG", "en_US.UTF-8"}})));
  CHECK(speaks_unicode(environment({{"LC_ALL", "C.utf8"}, {"LANG", "C"}})));
  CHECK_FALSE(speaks_unicode(environment({{"LC_ALL", "C"}, {"LANG", "en_US.UTF-8"}})));
  CHECK_FALSE(speaks_unicode(environment({})));
}

TEST_CASE("lines are drawn over on a terminal only, and not in CI") {
  CHECK(redraws(environment({}), true));
  CHECK_FALSE(redraws(environment({}), false));
  CHECK_FALSE(redraws(environment({{"CI", "true"}}), true));
}

TEST_CASE("off a terminal a cell gives two plain lines, and a sign of life every half minute") {
  std::ostringstream out;
  Hand hand;
  {
    ProgressDisplay display(out, false, false, 2, hand.clock());
    display.show(event(CellEvent::Kind::building, 0));
    for (int second = 0; second < 60; ++second) {
      hand.now += std::chrono::seconds(1);
      display.show(event(CellEvent::Kind::check_done, second / 10));
    }
    display.show(event(CellEvent::Kind::cell_done, 24));
  }
  CHECK(out.str() ==
        "start bravo first\n"
        "still bravo first 2/24 base\n"
        "still bravo first 5/24 base\n"
        "done  bravo first (passed), 1 of 2\n");
}

TEST_CASE("where nobody knows how many cells there are, those that are done are counted") {
  std::ostringstream out;
  {
    ProgressDisplay display(out, false, false, 0);
    display.show(event(CellEvent::Kind::cell_done, 24));
  }
  CHECK(out.str() == "done  bravo first, 1 so far\n");
}

TEST_CASE("on a terminal a line is drawn over at most ten times a second, and wiped at the end") {
  std::ostringstream out;
  Hand hand;
  {
    ProgressDisplay display(out, true, false, 1, hand.clock());
    for (int i = 0; i < 1000; ++i) {
      hand.now += std::chrono::milliseconds(1);
      display.show(event(CellEvent::Kind::check_started, 1));
    }
  }
  const std::string text = out.str();
  int drawn = 0;
  for (std::size_t at = 0; (at = text.find("base", at)) != std::string::npos; ++at) ++drawn;
  CHECK(drawn <= 11);
  CHECK(drawn >= 9);
  CHECK(text.find('\n') == std::string::npos);
  CHECK(text.substr(text.size() - 4) == "\r\x1b[K");
}

TEST_CASE("quiet is quiet") {
  std::ostringstream out;
  {
    ProgressDisplay display(out, true, true, 1);
    display.show(event(CellEvent::Kind::cell_done, 24));
  }
  CHECK(out.str().empty());
}
