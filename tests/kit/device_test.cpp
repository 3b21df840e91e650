// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/device.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>

#include "graders/kit/bits.h"
#include "graders/kit/groups.h"
#include "harness/core/error.h"
#include "tests/support/scripted_session.h"

using namespace gauntlet;
using namespace gauntlet::kit;

namespace {

/// A solution on a device of which is seen what a test says.
struct OnDevice : Scripted, DeviceControl {
  DeviceTerms terms;
  StreamKind stream = StreamKind::blocking;
  DeviceReport seen;

  DeviceControl* device() override { return this; }
  void set_terms(const DeviceTerms& wanted) override { terms = wanted; }
  void set_stream(StreamKind kind) override { stream = kind; }
  const DeviceReport& report() const override { return seen; }
  void run(CallBase& call) override {
    Scripted::run(call);
    keep(seen);
  }

  void see(const std::string& fault) {
    seen.kernels.resize(1);
    seen.kernels[0].diagnostics = {{fault, "solution.cu:12", 3, fault + " at solution.cu:12"}};
  }
};

/// Two cases whose answer is `bits`.
DeviceQuestions two_cases(const std::vector<int>& bits) {
  const auto ask = [&](Probe& probe, Rng&) {
    Call<Nothing> call("nothing");
    probe.run_ok(call);
    return bits_of(bits);
  };
  return {{{"first", ask}, {"second", ask}}};
}

std::optional<Finding> finding_of(const std::string& id, OnDevice& session,
                                  const DeviceQuestions& questions) {
  const std::vector<Check> all = device_checks(questions);
  const auto check = std::ranges::find(all, id, &Check::id);
  REQUIRE(check != all.end());
  Probe probe = probe_of(session);
  try {
    check->ask(probe);
  } catch (const CheckEnded& ended) {
    return ended.finding;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("a solution that does nothing wrong on a device passes every check of it") {
  OnDevice session;
  const std::vector<int> bits{1, 2};
  const DeviceQuestions questions = two_cases(bits);
  for (const Check& check : device_checks(questions)) {
    CAPTURE(check.id);
    CHECK_FALSE(finding_of(check.id, session, questions));
  }
}

TEST_CASE("on the CPU there is no device to ask") {
  Scripted session;
  Probe probe = probe_of(session);
  CHECK_FALSE(on_device(probe));
  CHECK_THROWS_AS(device_of(probe), Broken);
  Rng rng(Seed(1));
  shuffle_schedule(probe, rng);
}

TEST_CASE("calls in turn are made in other orders and on all kinds of streams") {
  OnDevice session;
  Probe probe = probe_of(session);
  Rng rng(Seed(1));
  shuffle_schedule(probe, rng);
  const auto first = session.terms.schedule_seed;
  shuffle_schedule(probe, rng);
  CHECK(first);
  CHECK(session.terms.schedule_seed != first);
  std::set<StreamKind> kinds;
  for (int turn = 0; turn < 3; ++turn) {
    take_stream(probe, turn);
    kinds.insert(session.stream);
  }
  CHECK(kinds.size() == 3);
}

TEST_CASE("races and undefined reads are looked for in several orders and told with their line") {
  for (const auto& [check, fault] :
       {std::pair{"race_free", "race"}, std::pair{"race_free", "foreign_lane"},
        std::pair{"initialised_reads", "undefined_read"}}) {
    OnDevice session;
    std::vector<int> bits;
    int shuffled = 0;
    session.script = [&, check = std::string(check), fault = fault](CallBase&) {
      CHECK(session.terms.check_races == (check == "race_free"));
      CHECK(session.terms.check_undefined != session.terms.check_races);
      if (session.terms.schedule_seed && ++shuffled == 2) session.see(fault);
    };
    const auto found = finding_of(check, session, two_cases(bits));
    REQUIRE(found);
    CHECK(found->case_name == "first");
    CHECK(found->summary == std::string(fault) + " at solution.cu:12");
    CHECK(found->evidence.back().starts_with("blocks and warps were shuffled by "));
  }
}

TEST_CASE("another fault than the one that is asked for does not count") {
  OnDevice session;
  std::vector<int> bits;
  session.see("undefined_read");
  CHECK_FALSE(finding_of("race_free", session, two_cases(bits)));
}

TEST_CASE("where the answer is wrong as well, the line is the finding and the answer evidence") {
  OnDevice session;
  session.see("race");
  std::vector<int> bits;
  session.script = [](CallBase& call) { call.returned = 9; };
  const auto found = finding_of("race_free", session, two_cases(bits));
  REQUIRE(found);
  CHECK(found->summary == "race at solution.cu:12");
  CHECK(std::ranges::count(found->evidence, "its answer: nothing returned 9, want 0") == 1);
  session.seen = {};
  CHECK(finding_of("race_free", session, two_cases(bits))->summary == "nothing returned 9, want 0");
}

TEST_CASE("what an earlier call of a case did counts as well") {
  OnDevice session;
  const std::vector<int> bits;
  DeviceQuestions questions = two_cases(bits);
  const Domain domain{{{"rows", {sized(1)}}}};
  int calls = 0;
  const auto two_calls = [&](Probe& probe) {
    for (calls = 1; calls <= 2; ++calls) {
      Call<Nothing> call("nothing");
      probe.run_ok(call);
    }
  };
  for (DeviceCase& asked : questions.cases)
    asked.ask = [&](Probe& probe, Rng&) {
      two_calls(probe);
      return bits_of(bits);
    };
  questions.domains = {{&domain, [&](Probe& probe, const Assignment&, Rng&) { two_calls(probe); }}};
  session.script = [&](CallBase&) {
    session.seen = {};
    if (calls != 1) return;
    session.see("race");
    session.seen.kernels[0].diagnostics.push_back(
        {"undefined_read", "solution.cu:15", 1, "undefined_read at solution.cu:15"});
    session.seen.left_behind = 1;
  };
  for (const char* check :
       {"race_free", "initialised_reads", "strict_domain", "streams_respected"}) {
    CAPTURE(check);
    CHECK(finding_of(check, session, questions));
  }
}

TEST_CASE("races that were not looked for everywhere are no pass") {
  OnDevice session;
  session.seen.kernels.resize(1);
  session.seen.kernels[0].races_complete = false;
  std::vector<int> bits;
  CHECK(finding_of("race_free", session, two_cases(bits)));
}

TEST_CASE("an answer has the same bits in every order of blocks and warps") {
  OnDevice session;
  std::vector<int> bits{1};
  session.script = [&](CallBase&) { bits[0] = session.terms.schedule_seed ? 2 : 1; };
  const auto found = finding_of("any_schedule", session, two_cases(bits));
  REQUIRE(found);
  CHECK(found->summary == "the answer has other bits in another order of blocks and warps");
  bits.clear();
  session.script = [](CallBase&) {};
  CHECK_FALSE(finding_of("any_schedule", session, two_cases(bits)));
}

TEST_CASE("each kind of stream is asked, and nothing may be left behind") {
  for (const StreamKind kind :
       {StreamKind::blocking, StreamKind::non_blocking, StreamKind::legacy_default}) {
    OnDevice session;
    std::vector<int> bits;
    session.script = [&](CallBase&) { session.seen.left_behind = session.stream == kind ? 2 : 0; };
    const auto found = finding_of("streams_respected", session, two_cases(bits));
    REQUIRE(found);
    CHECK(found->summary.starts_with("2 launches, fills or copies are queued"));
  }
}

TEST_CASE("a session that fails a call for the host's work fails the check of that name") {
  OnDevice session;
  std::vector<int> bits;
  CHECK_FALSE(finding_of("computed_on_device", session, two_cases(bits)));
  session.script = [](CallBase&) { throw SolutionFailure(Verdict::wrong, "copied"); };
  CHECK(finding_of("computed_on_device", session, two_cases(bits)));
}

TEST_CASE("memory may be kept for later calls, but not more of it in each") {
  OnDevice session;
  std::vector<int> bits;
  session.script = [&](CallBase&) { session.seen.scratch_bytes = 1 << 20; };
  CHECK_FALSE(finding_of("device_memory_freed", session, two_cases(bits)));
  session.script = [&](CallBase&) { session.seen.scratch_bytes += 4; };
  CHECK(finding_of("device_memory_freed", session, two_cases(bits)));
}

TEST_CASE("every class of a domain is asked for both kinds of fault") {
  OnDevice session;
  std::vector<int> bits;
  DeviceQuestions questions = two_cases(bits);
  const Domain domain{{{"rows", {sized(1), sized(7)}}}};
  questions.domains = {{&domain, [&](Probe& probe, const Assignment& choice, Rng&) {
                          session.seen = {};
                          if (choice.is("rows", "7")) session.see("race");
                          Call<Nothing> call("nothing");
                          probe.run_ok(call);
                          CHECK(session.terms.check_races);
                          CHECK(session.terms.check_undefined);
                        }}};
  const auto found = finding_of("strict_domain", session, questions);
  REQUIRE(found);
  CHECK(found->case_name == "rows 7");
  CHECK(found->summary == "race at solution.cu:12");
}

TEST_CASE("on a device, all that explores a domain asks what a device can be asked") {
  OnDevice session;
  std::vector<int> bits;
  DeviceQuestions questions = two_cases(bits);
  Domain domain{{{"rows", {sized(1), sized(7)}}, {"cols", {sized(2), sized(900)}}}};
  domain.affordable_on_device = [](const Assignment& choice) {
    return choice.is("rows", "1") || choice.is("cols", "2");
  };
  std::vector<std::string> seen;
  const auto see = [&](const Assignment& choice) { seen.push_back(choice.words()); };
  questions.domains = {{&domain, [&](Probe&, const Assignment& choice, Rng&) { see(choice); }}};
  const Refusal refusal{"bad rows",
                        [](const Assignment&) { return true; },
                        [&](const Assignment& choice, Rng&) { see(choice); },
                        {{{"rows"}, {"cols"}}}};
  const auto refusals = [&](Probe&, bool) { return std::vector<Refusal>{refusal}; };
  std::vector<Check> checks = joined({domain_checks(questions.domains), device_checks(questions),
                                      refusal_checks({{&domain, refusals}})});
  for (const Check& check : checks) {
    CAPTURE(check.id);
    seen.clear();
    Probe probe = probe_of(session);
    check.ask(probe);
    CHECK(std::ranges::find(seen, "rows 7, cols 900") == seen.end());
    if (seen.empty()) continue;
    CHECK(std::ranges::find(seen, "rows 7") != seen.end());
    CHECK(std::ranges::find(seen, "cols 900") != seen.end());
  }
  Scripted on_the_cpu;
  Probe probe = probe_of(on_the_cpu);
  seen.clear();
  domain_checks(questions.domains).front().ask(probe);
  CHECK(std::ranges::find(seen, "rows 7, cols 900") != seen.end());
}
