#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <functional>

#include "cache.h"
#include "graders/kit/compare.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr std::int64_t kFew = 100;
constexpr std::int64_t kMany = 20'000;

/// One sequence. A single thread: where cores are busy, others are late.
Setup long_setup(KvStored stored, std::int64_t tokens, std::int64_t dim) {
  Setup setup;
  setup.stored = stored;
  setup.heads = 1;
  setup.key_dim = setup.value_dim = setup.group = dim;
  setup.page_tokens = 16;
  setup.sequences = 1;
  setup.pages = setup.width = tokens / setup.page_tokens + 2;
  return setup;
}

/// A cache that one sequence of `tokens` tokens fills.
State filled_state(Probe& probe, Rng& rng, const Setup& setup, std::int64_t tokens) {
  State state(setup, ask_page_bytes(probe, setup));
  AppendCall call(state, {{0, draw_many_tokens(rng, setup, tokens)}});
  probe.run_ok(call.call);
  call.take(state);
  return state;
}

/// A cost that must not grow: what a call takes with few tokens and with many. A busy machine only
/// ever adds time, so the shortest of several turns counts, and many turns are had where it
/// matters.
class Growth {
 public:
  using Turn = std::function<std::chrono::nanoseconds()>;

  void with_few(const Turn& turn) { few_ = shortest(turn, 9, 0); }
  void with_many(const Turn& turn) { many_ = shortest(turn, 60, allowed()); }
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

  double few_ = 0;  // microseconds
  double many_ = 0;
};

void require_flat(Probe& probe, const Setup& setup, const char* what, std::int64_t many,
                  const Growth& growth) {
  probe.fact(fmt::format("{} {} of {} tokens", name_of(setup.stored), what, many), growth.many(),
             "us");
  if (growth.many() > growth.allowed())
    probe.fail(
        fmt::format("{} of {} tokens takes {:.0f} us, and {:.0f} us of few, want {:.0f} or"
                    " less",
                    what, many, growth.many(), growth.few(), growth.allowed()));
}

/// Appends one token, each time to the same state.
Growth::Turn append_turn(Probe& probe, Rng& rng, const State& state) {
  return [&probe, &rng, &state] {
    AppendCall call(state, {{0, draw_tokens(rng, state.setup, 1)}});
    probe.run_ok(call.call);
    State after = state;
    call.take(after);
    if (after.lengths[0] != state.lengths[0] + 1)
      probe.fail(fmt::format("lengths[0] is {}, want {}", after.lengths[0], state.lengths[0] + 1));
    return call.call.elapsed;
  };
}

void require_out(Probe& probe, const Setup& setup, const Question& question, const Answer& answer,
                 const Expected& expected) {
  probe.require(kit::worst_miss(std::span(answer.out), expected.out, expected.out_allowed,
                                kit::index_namer("out", {1, question.q_heads, setup.value_dim})));
}

double mib(std::int64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

// A token costs what it costs, however many there are: to go through 20,000 of them once takes
// milliseconds.
void append_cost(Probe& probe) {
  for (const KvStored stored : {KV_F32, KV_INT4}) {
    Rng rng = probe.begin_case(name_of(stored));
    const Setup setup = long_setup(stored, kMany, 32);
    const State few = filled_state(probe, rng, setup, kFew + 5);
    const State many = filled_state(probe, rng, setup, kMany + 5);
    Growth growth;
    growth.with_few(append_turn(probe, rng, few));
    growth.with_many(append_turn(probe, rng, many));
    require_flat(probe, setup, "an append behind the last", kMany, growth);
  }
}

// A query with a short window costs what it sees.
void window_cost(Probe& probe) {
  for (const KvStored stored : {KV_F32, KV_INT8}) {
    Rng rng = probe.begin_case(name_of(stored));
    const Setup setup = long_setup(stored, kMany, 32);
    Question question;
    question.which = {0};
    question.queries = {1};
    question.window = 60;
    question.q.assign(static_cast<std::size_t>(question.rows() * setup.key_dim), 0.25f);
    Growth growth;
    for (const std::int64_t tokens : {kFew, kMany}) {
      const State state = filled_state(probe, rng, setup, tokens);
      ReadCall read(state, 0, 0, tokens);
      probe.run_ok(read.call);
      const Expected expected = expect_attention(setup, {read.tokens()}, question);
      const Growth::Turn turn = [&] {
        AttendCall call(state, question);
        probe.run_ok(call.call);
        require_out(probe, setup, question, call.answer(), expected);
        return call.call.elapsed;
      };
      if (tokens == kFew) {
        growth.with_few(turn);
      } else {
        growth.with_many(turn);
      }
    }
    require_flat(probe, setup, "attention to the last 60", kMany, growth);
  }
}

// Attention works on the pages as they lie: what it allocates does not grow with their number.
void attend_memory(Probe& probe) {
  constexpr std::int64_t kAllowed = std::int64_t{4} << 20;
  // Stacks, the allocator's own, and what libraries set up when they are first used.
  constexpr std::int64_t kProcess = std::int64_t{2} << 20;
  std::optional<Interval> peaks;
  for (const KvStored stored : kAllStored) {
    Rng rng = probe.begin_case(name_of(stored));
    constexpr std::int64_t kTokens = 16'000;  // 8 MiB as floats
    Setup setup = long_setup(stored, kTokens, 64);
    setup.threads = 2;
    const State state = filled_state(probe, rng, setup, kTokens);
    Question question;
    question.which = {0};
    question.queries = {1};
    question.q_heads = 8;
    question.scale = 0.125f;
    question.want_lse = false;
    for (std::int64_t i = 0; i < question.rows() * setup.key_dim; ++i)
      question.q.push_back(static_cast<float>(rng.normal()));
    probe.restart();
    AttendCall call(state, question);
    call.call.measure_memory = true;
    probe.run_ok(call.call);
    if (!call.call.peak_bytes) probe.unmeasured("memory cannot be measured here");
    const std::int64_t peak = *call.call.peak_bytes;
    const std::int64_t allowed = kAllowed + kProcess + question.rows() * 1024;
    probe.fact(fmt::format("peak memory of attention, {}", name_of(stored)), mib(peak), "MiB");
    peaks = peaks ? Interval{std::min(peaks->low, mib(peak)), std::max(peaks->high, mib(peak))}
                  : Interval{mib(peak), mib(peak)};
    probe.answer(ClaimKind::peak_workspace, "peak memory of attention", peaks->high, "MiB", peaks);
    if (peak > allowed)
      probe.fail(
          fmt::format("kv_attend holds {:.2f} MiB over a pool of {:.1f} MiB, want {:.2f} or"
                      " less",
                      mib(peak), mib(std::ssize(state.pool)), mib(allowed)));
    const Answer answer = call.answer();
    ReadCall read(state, 0, 0, kTokens);
    probe.run_ok(read.call);
    const Expected expected = expect_attention(setup, {read.tokens()}, question);
    require_out(probe, setup, question, answer, expected);
  }
}

}  // namespace

std::vector<Check> cost_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"append_cost", "the whole sequence gone through for every new token", performance, 1,
        major},
       append_cost},
      {{"window_cost", "time spent on tokens that no query sees", performance, 1, major},
       window_cost},
      {{"attend_memory", "a copy of the cache, or of what it stands for", performance, 1, major},
       attend_memory},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
