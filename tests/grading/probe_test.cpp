// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/probe.h"

#include <algorithm>
#include <doctest/doctest.h>

#include "harness/core/error.h"
#include "tests/support/scripted_session.h"

using namespace gauntlet;

namespace {

struct ProbeArgs {
  const float* x;
  float* y;
};

Finding finding_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const CheckEnded& ended) {
    return ended.finding;
  }
  FAIL("the check did not end");
  return {};
}

}  // namespace

TEST_CASE("common numbers are the same in every check of a run, and others than a case's") {
  Scripted session;
  Probe one({"one", "", Section::correctness, 1, Severity::minor}, 7, {.solution = session});
  Probe two({"two", "", Section::correctness, 1, Severity::minor}, 7, {.solution = session});
  Probe later({"one", "", Section::correctness, 1, Severity::minor}, 8, {.solution = session});
  const std::uint64_t drawn = one.common_stream("name")();
  CHECK(two.common_stream("name")() == drawn);
  CHECK(two.common_stream("other")() != drawn);
  CHECK(later.common_stream("name")() != drawn);
  CHECK(one.begin_case("name")() != drawn);
}

TEST_CASE("a curve of any length is kept with a bounded number of points, its ends among them") {
  Scripted session;
  Probe probe = probe_of(session);
  Curve curve{"loss", "seconds", "nats", {}};
  for (int i = 0; i < 100'000; ++i) curve.points.emplace_back(i, -i);
  probe.curve(curve);
  const auto& kept = probe.observation().curves.at(0).points;
  CHECK(kept.size() <= 500);
  CHECK(kept.size() >= 250);
  CHECK(kept.front().first == 0);
  CHECK(kept.back().first == 99'999);
}

TEST_CASE("what answers a claim is kept with its kind and range; a repeated name keeps the last") {
  Scripted session;
  Probe probe = probe_of(session);
  probe.answer(ClaimKind::saved_bytes, "saved", 8, "B", Interval{8, 8});
  probe.answer(ClaimKind::saved_bytes, "saved", 12, "B", Interval{8, 12});
  probe.fact("other", 1, "");
  const auto& facts = probe.observation().facts;
  REQUIRE(facts.size() == 2);
  CHECK(facts[0].answers == ClaimKind::saved_bytes);
  CHECK(facts[0].value == 12);
  CHECK(facts[0].range->low == 8);
  CHECK_FALSE(facts[1].answers);
  probe.workspace_at("rows", 64, 0.5);
  probe.workspace_at("rows", 128, 1);
  CHECK(probe.observation().workspace->axis == "rows");
  CHECK(probe.observation().workspace->points.back() == std::pair(128.0, 1.0));
}

TEST_CASE("a case's numbers depend on run seed, check and case name alone") {
  Scripted session;
  Probe one = probe_of(session);
  Probe two = probe_of(session);
  two.begin_case("other");
  CHECK(one.begin_case("a")() == two.begin_case("a")());
  CHECK(one.begin_case("b")() != two.begin_case("a")());
  CHECK(two.observation().cases == 3);
}

TEST_CASE("a crash ends the check with its verdict and the case that showed it") {
  Scripted session;
  session.script = [](CallBase&) { throw SolutionFailure(Verdict::crashed, "SIGSEGV in f"); };
  Probe probe = probe_of(session);
  probe.begin_case("3x4");
  Call<ProbeArgs> call("f");
  const Finding finding = finding_of([&] { probe.run(call); });
  CHECK(finding.verdict == Verdict::crashed);
  CHECK(finding.case_name == "3x4");
  CHECK(finding.summary == "SIGSEGV in f");
}

TEST_CASE("run_ok wants zero") {
  Scripted session;
  session.script = [](CallBase& call) { call.returned = -2; };
  Probe probe = probe_of(session);
  Call<ProbeArgs> call("f");
  CHECK(finding_of([&] { probe.run_ok(call); }).summary == "f returned -2, want 0");
}

TEST_CASE("earned points only go down, and more than all is our mistake") {
  Scripted session;
  Probe probe = probe_of(session);
  CHECK(probe.observation().earned == 1);
  probe.earn(0.5);
  probe.earn(0.75);
  CHECK(probe.observation().earned == 0.5);
  CHECK_THROWS_AS(probe.earn(1.5), Broken);
}

TEST_CASE("a race without a reference is unmeasured, never passed") {
  Scripted session;
  Probe probe = probe_of(session);
  RaceSpec spec;
  spec.case_name = "big";
  CHECK(finding_of([&] { probe.race(spec); }).verdict == Verdict::unmeasured);
}

TEST_CASE("where nothing is raced, no reference is made") {
  Scripted session;
  bool made = false;
  Probe probe({"speed", "", Section::performance, 1, Severity::minor}, 7,
              {.solution = session,
               .reference = []() -> Session& {
                 throw CheckEnded{{Verdict::unmeasured, "", "no GPU", {}, std::nullopt}};
               },
               .reference_again = [&]() -> Session& {
                 made = true;
                 return session;
               }});
  CHECK(finding_of([&] { probe.race({}); }).summary == "no GPU");
  CHECK_FALSE(made);
}

TEST_CASE("a time that beats physics fails its check instead of taking other cases out of it") {
  Scripted solution, reference, again;
  Probe probe({"speed", "", Section::performance, 1, Severity::minor}, 7,
              {.solution = solution,
               .reference = [&]() -> Session& { return reference; },
               .reference_again = [&]() -> Session& { return again; }});
  RaceSpec spec;
  spec.floor_flops = 1e12;  // more than a machine does in a millisecond
  spec.prepare = [](Rng&, Rng&) {};
  spec.lap = [&](Session& session) {
    return Lap{std::chrono::milliseconds(&session == &solution ? 1 : 1'000'000), {}};
  };
  RaceBudget whatever_else_runs;
  whatever_else_runs.others = 1;
  const Finding finding = finding_of([&] { probe.race(spec, whatever_else_runs); });
  CHECK(finding.verdict == Verdict::wrong);
  CHECK(finding.summary.find("is not believed") != std::string::npos);
  CHECK(probe.observation().speeds.empty());
}

TEST_CASE("fields are found by their address, and a field from elsewhere is refused") {
  Call<ProbeArgs> call("f");
  const std::vector<float> x{1, 2, 3};
  call.in("x", call.args.x, x);
  call.out<float>("y", call.args.y, 3);
  CHECK(call.buffers()[0].field_offset == offsetof(ProbeArgs, x));
  CHECK(call.buffers()[1].field_offset == offsetof(ProbeArgs, y));
  CHECK(call.buffer("y").bytes == 12);
  const float* elsewhere = nullptr;
  CHECK_THROWS_AS(call.in("x", elsewhere, x), Broken);
  CHECK_THROWS_AS(call.in("again", call.args.x, x), Broken);
  CHECK_THROWS_AS(call.buffer("z"), Broken);
}

TEST_CASE("where a check asks for it, some calls are made with other float controls in between") {
  std::string made;
  Scripted session;
  session.script = [&](CallBase& call) {
    made += call.unusual_floats ? 'u' : '.';
    CHECK(call.zero_subnormals == call.unusual_floats);
  };
  Probe probe = probe_of(session);
  const auto made_by = [&](int calls) {
    made.clear();
    for (int i = 0; i < calls; ++i) {
      Call<ProbeArgs> call("work");
      probe.run_ok(call);
      CHECK_FALSE(call.unusual_floats);
      CHECK_FALSE(call.zero_subnormals);
    }
    return made;
  };
  CHECK(made_by(40).find('u') == std::string::npos);
  probe.ask_with_unusual_floats();
  const std::string some = made_by(40);
  CHECK(some.starts_with(".u."));
  CHECK(std::ranges::count(some, 'u') == 3);
  CHECK(some.size() == 46);
  probe.ask_with_unusual_floats(1);
  CHECK(made_by(3) == ".u..u..u.");

  // One answers questions and may count them, so that it is asked once; a refused one asks nothing.
  // What is returned with other float controls is not judged.
  session.script = [&](CallBase& call) {
    made += call.unusual_floats ? 'u' : '.';
    call.returned = call.unusual_floats ? 0 : -1;
  };
  Scripted counting;
  counting.script = session.script;
  Probe other = probe_of(counting);
  other.ask_with_unusual_floats();
  made.clear();
  Call<ProbeArgs> asks("work");
  asks.callbacks().push_back({});
  other.run(asks);
  CHECK(made == ".");
  Probe third = probe_of(counting);
  third.ask_with_unusual_floats();
  made.clear();
  third.run_for(asks, -1);
  CHECK(made == ".u.");
}

TEST_CASE("calls are made again until malloc has no more in use, and the first is judged") {
  int made = 0;
  std::byte room[4];
  std::function<std::int64_t(int)> in_use = [](int) { return 0; };
  Scripted session;
  session.script = [&](CallBase& call) {
    ++made;
    room[0] = static_cast<std::byte>(made);
    call.buffers()[0].result = room;
    call.heap_bytes = in_use(made);
  };
  Probe probe = probe_of(session);
  const auto judged = [&] {
    probe.restart();  // nobody knows what a new process has in use
    made = 0;
    Call<ProbeArgs> call("work");
    call.out<float>("y", call.args.y, 1);
    probe.run_ok(call);
    CHECK_FALSE(call.measure_heap);
    return static_cast<int>(call.buffers()[0].result[0]);
  };
  CHECK(judged() == 1);
  CHECK(made == 1);
  probe.ask_until_freed();
  CHECK(judged() == 1);
  CHECK(made == 3);
  // Scratch memory that is kept, and what threads keep by chance.
  in_use = [](int call) { return 100 * std::min(call, 5); };
  CHECK(judged() == 1);
  CHECK(made == 7);
  in_use = [](int call) { return call < 30 ? call + call / 12 : 0; };
  CHECK(judged() == 1);
  CHECK(made == 31);
  in_use = [](int call) { return 24 * call; };
  CHECK(finding_of(judged).summary ==
        "work does not free what it allocates: malloc had more in use behind each of 16 calls "
        "alike, 384 bytes in all");
  CHECK(made == 17);
  in_use = [](int call) { return call * call; };  // for ever, by another number each time
  CHECK(finding_of(judged).summary ==
        "work does not free what it allocates: malloc had more in use behind each of 256 calls "
        "alike, 66048 bytes in all");
}

TEST_CASE("a call is made again where malloc has more in use than behind the one before") {
  int made = 0;
  std::int64_t in_use = 1000;
  Scripted session;
  session.script = [&](CallBase& call) {
    ++made;
    call.heap_bytes = in_use;
  };
  Probe probe = probe_of(session);
  probe.ask_until_freed();
  const auto calls = [&](bool asks = false) {
    made = 0;
    Call<ProbeArgs> call("work");
    if (asks) call.callbacks().push_back({});
    probe.run_ok(call);
    return made;
  };
  CHECK(calls() == 3);  // nobody knows of the first
  CHECK(calls() == 1);
  in_use = 1001;
  CHECK(calls() == 3);
  in_use = 900;
  CHECK(calls() == 1);
  CHECK(calls() == 3);  // one in five, anyway
  CHECK(calls() == 1);
  CHECK(calls(true) == 1);
  CHECK(calls() == 3);  // nor of what a call left that did not tell
}

TEST_CASE("a call that returns something else when it is made again ends the check") {
  int made = 0;
  Scripted session;
  session.script = [&](CallBase& call) {
    call.returned = made++ == 0 ? 0 : -1;
    call.heap_bytes = 0;
  };
  Probe probe = probe_of(session);
  probe.ask_until_freed();
  Call<ProbeArgs> call("work");
  CHECK(finding_of([&] { probe.run_ok(call); }).summary ==
        "work returned 0, and -1 when it was called again alike");
}

TEST_CASE("calls that answer questions, and those whose memory is measured, are made once") {
  int made = 0;
  Scripted session;
  session.script = [&](CallBase& call) {
    ++made;
    call.heap_bytes = 0;
  };
  Probe probe = probe_of(session);
  probe.ask_until_freed();
  Call<ProbeArgs> asks("work");
  asks.callbacks().push_back({});
  probe.run_ok(asks);
  Call<ProbeArgs> measured("work");
  measured.measure_memory = true;
  probe.run_ok(measured);
  CHECK(made == 2);
}
