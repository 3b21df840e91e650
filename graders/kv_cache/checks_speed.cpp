// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <memory>

#include "cache.h"
#include "graders/kit/laps.h"
#include "harness/grading/grader.h"
#include "lap.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// Decoding reads every byte of the cache once and does little with it: 12 MiB as floats, of which
// INT8 makes 3 and INT4 1.5 when nothing else changes, so they get more tokens.
constexpr TimedCase kTimed[] = {
    {"decode_f32", KV_F32, 4, 1536, 1, false},   {"decode_int8", KV_INT8, 4, 2560, 1, false},
    {"decode_int4", KV_INT4, 4, 2560, 1, false}, {"prefill_f32", KV_F32, 1, 1536, 128, false},
    {"append_int8", KV_INT8, 4, 1024, 0, true},
};

RaceSpec spec_for(const TimedCase& timed) {
  const double numbers = 2.0 * kHeads * kDim * double(timed.sequences * timed.tokens);
  const double bytes = static_cast<double>(page_budget(setup_for(timed, timed.tokens))) / 16 *
                       double(timed.sequences * (timed.tokens - 40));
  const auto lap = std::make_shared<TimedLap>(timed);
  RaceSpec spec;
  spec.case_name = timed.name;
  spec.floor_bytes = timed.append ? 4 * numbers + bytes : bytes;
  spec.floor_written = timed.append ? bytes : 0;
  // Two products a key and query: with the key and with the value.
  spec.floor_flops = timed.queries > 1
                         ? 4.0 * kDim * kQueryHeads * double(timed.queries) *
                               (double(timed.tokens) - 40 - 0.5 * double(timed.queries))
                         : 0;
  spec.prepare = [lap](Rng& inputs, Rng& judge) { lap->prepare(inputs, judge); };
  spec.lap = [lap](Session& session) { return lap->run(session); };
  return spec;
}

constexpr std::int64_t kFew = 100;
constexpr std::int64_t kMany = 20'000;

/// A cost that must not grow: what a call takes with few of something and with many. A busy machine
/// only ever adds time, so the shortest of several turns counts, and many turns are had where it
/// matters.
class Growth {
 public:
  using Turn = std::function<std::chrono::nanoseconds()>;

  Growth(const Turn& few, const Turn& many)
      : few_(shortest(few, 9, 0)), many_(shortest(many, 60, allowed())) {}
  double few() const { return few_; }
  double many() const { return many_; }
  double allowed() const { return 4 * few_ + 400; }

 private:
  static double shortest(const Turn& turn, int turns, double enough) {
    double best = 1e12;
    for (int i = 0; i < turns && best > enough; ++i)
      best = std::min(best, std::chrono::duration<double, std::micro>(turn()).count());
    return best;
  }

  double few_;  // microseconds
  double many_;
};

void require_flat(Probe& probe, const Setup& setup, const std::string& what, const Growth& growth) {
  probe.fact(fmt::format("{} {}", name_of(setup.stored), what), growth.many(), "us");
  if (growth.many() > growth.allowed())
    probe.fail(fmt::format("{} takes {:.0f} us, and {:.0f} us of few, want {:.0f} or less", what,
                           growth.many(), growth.few(), growth.allowed()));
}

/// Appends one token, each time to the same state.
Growth::Turn append_turn(Probe& probe, Rng& rng, const State& state) {
  return [&probe, &rng, &state] {
    AppendCall call(state, {{0, draw_tokens(rng, state.setup, 1)}});
    probe.run_ok(call);
    State after = state;
    call.take(after);
    if (after.lengths[0] != state.lengths[0] + 1)
      probe.fail(fmt::format("lengths[0] is {}, want {}", after.lengths[0], state.lengths[0] + 1));
    return call.elapsed;
  };
}

void speed(Probe& probe) {
  std::vector<RaceSpec> specs;
  for (const TimedCase& timed : kTimed) specs.push_back(spec_for(timed));
  kit::race(probe, specs);
}

// A token costs what it costs, however many there are: to go through 20,000 of them once takes
// milliseconds.
void append_cost(Probe& probe) {
  for (const KvStored stored : {KV_F32, KV_INT4}) {
    Rng rng = probe.begin_case(name_of(stored));
    const Setup setup = long_sequence(stored, kMany, 32);
    const State few = filled_state(probe, setup, draw_many_tokens(rng, setup, kFew + 5));
    const State many = filled_state(probe, setup, draw_many_tokens(rng, setup, kMany + 5));
    require_flat(probe, setup, fmt::format("an append behind the last of {} tokens", kMany),
                 {append_turn(probe, rng, few), append_turn(probe, rng, many)});
  }
}

/// Attention to the last 60 of so many tokens, each time to the same state.
Growth::Turn window_turn(Probe& probe, Rng& rng, const Setup& setup, std::int64_t tokens) {
  Problem problem;
  problem.which = {0};
  problem.queries = {1};
  problem.window = 60;
  problem.q.assign(static_cast<std::size_t>(problem.rows() * setup.key_dim), 0.25f);
  const State state = filled_state(probe, setup, draw_many_tokens(rng, setup, tokens));
  ReadCall read(state, 0, 0, tokens);
  probe.run_ok(read);
  return [&probe, state, problem, expected = expect(setup, {read.tokens()}, problem)] {
    AttendCall call(state, problem);
    probe.run_ok(call);
    require_close(probe, {call.answer().out, {}}, expected);
    return call.elapsed;
  };
}

// A query with a short window costs what it sees, however many tokens or pages there might be.
void window_cost(Probe& probe) {
  for (const KvStored stored : {KV_F32, KV_INT8}) {
    Rng rng = probe.begin_case(name_of(stored));
    const Setup setup = long_sequence(stored, kMany, 32);
    Setup wide = setup;
    wide.width = kWideTable;
    const Growth::Turn few = window_turn(probe, rng, setup, kFew);
    require_flat(probe, setup, fmt::format("attention to the last 60 of {} tokens", kMany),
                 {few, window_turn(probe, rng, setup, kMany)});
    require_flat(probe, setup, fmt::format("attention beside {} table entries", kWideTable),
                 {few, window_turn(probe, rng, wide, kFew)});
  }
}

}  // namespace

std::vector<Check> speed_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"speed", "slowness", performance, 4, minor}, speed},
      {{"append_cost", "the whole sequence gone through for every new token", performance, 1,
        major},
       append_cost},
      {{"window_cost", "time spent on tokens that no query sees", performance, 1, major},
       window_cost},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
