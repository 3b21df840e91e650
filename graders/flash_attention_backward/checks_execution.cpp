// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graders/kit/laps.h"
#include "graders/kit/threads.h"
#include "harness/grading/grader.h"
#include "lap.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// The same bits in each of these calls.
void require_bits(Probe& probe, const Problem& problem, const CallOptions& options, int calls) {
  const Answer first = require_right(probe, problem, options);
  for (int again = 1; again < calls; ++again)
    require_equal(probe, problem, ask(probe, problem, options), first);
}

/// And the right answer in each of these, when the order of the sums is free.
void require_always(Probe& probe, const Problem& problem, const CallOptions& options, int calls) {
  const Expected expected = expect(problem);
  for (int again = 0; again < calls; ++again)
    require_close(probe, problem, ask(probe, problem, options), expected);
}

/// One head, of whose work threads get their share by its keys: all of them add to the same dq. Of
/// 16 columns, which fill a vector, some orders of a sum give the same bits.
Problem one_long_head(Rng& rng) {
  return attended_problem(rng, {1, 1, 1, rng.integer(40, 50), rng.integer(1100, 1300), 24, 20});
}

/// Of heads that wide a solution may take another path, and try out which.
Problem wide_heads(Rng& rng) {
  return attended_problem(rng, {1, 3, 3, rng.integer(30, 40), rng.integer(130, 150),
                                rng.integer(130, 256), rng.integer(130, 256)});
}

/// A group on one head, whose queries' heads threads may share: all of them add to the same dk and
/// dv. Of two heads, either order of the sum gives the same bits. Each is work enough for another
/// thread to be as far.
Problem one_group(Rng& rng) {
  return attended_problem(rng, {1, 7, 1, rng.integer(60, 70), rng.integer(260, 300), 24, 20});
}

template <class Number>
void repeat(std::vector<Number>& numbers, std::int64_t times) {
  const std::vector<Number> once = numbers;
  numbers.reserve(once.size() * static_cast<std::size_t>(times));
  for (std::int64_t n = 1; n < times; ++n) numbers.insert(numbers.end(), once.begin(), once.end());
}

/// Heads for far more threads than processors, that take long enough for 65 of them and more to be
/// stopped amid a head, one after the other: where two of these have one memory, sums are lost.
/// Heads that are computed one after the other are not alike, but batch entries are, so that one is
/// computed here.
struct ManyHeads {
  explicit ManyHeads(Rng& rng)
      : problem(random_problem(
            rng, {1, 5, 5, rng.integer(150, 160), rng.integer(150, 160), 4, rng.integer(3, 5)})) {
    attend(problem);
    expected = expect(problem);
    const std::int64_t entries = rng.integer(53, 60);
    problem.form.batch = entries;
    for (kit::Tensor* tensor : {&problem.q, &problem.k, &problem.v, &problem.o, &problem.dout}) {
      tensor->extents.batch = entries;
      repeat(tensor->data, entries);
    }
    repeat(problem.lse, entries);
    for (Results<double>* of : {&expected.value, &expected.bound})
      for (std::vector<double>* part : {&of->dq, &of->dk, &of->dv, &of->delta})
        repeat(*part, entries);
  }

  Problem problem;
  Expected expected;
};

// The same question again and again, with others in between: the same bits when determinism is
// asked for, and the right answer when it is not.
void deterministic_bits(Probe& probe) {
  Rng rng = probe.begin_case("twelve times");
  Sizes sizes = drawn_sizes(rng, rng.integer(130, 260), rng.integer(260, 300));
  sizes.dim = sizes.value_dim = 32;
  sizes.q_heads = sizes.kv_heads = 3;
  const Problem problem = attended_problem(rng, sizes);
  CallOptions options;
  options.threads = 3;
  for (const std::int32_t yes : {1, 256}) {
    options.deterministic = yes;
    require_bits(probe, problem, options, 12);
  }

  rng = probe.begin_case("one head, twelve times");
  const Problem head = one_long_head(rng);
  for (const std::int32_t yes : {2, -1}) {
    options.deterministic = yes;
    require_bits(probe, head, options, 12);
  }

  rng = probe.begin_case("wide heads, four times");
  const Problem wide = wide_heads(rng);
  for (const std::int32_t yes : {1, 256}) {
    options.deterministic = yes;
    require_bits(probe, wide, options, 4);
  }

  rng = probe.begin_case("one group, eight times");
  const Problem group = one_group(rng);
  for (const std::int32_t yes : {2, -1}) {
    options.deterministic = yes;
    require_bits(probe, group, options, 8);
  }

  rng = probe.begin_case("many threads on many heads");
  const ManyHeads many(rng);
  options.threads = kit::kManyThreads;
  require_close(probe, many.problem, ask(probe, many.problem, options), many.expected);

  probe.begin_case("order left free");
  options.threads = 3;
  options.deterministic = 0;
  require_always(probe, problem, options, 8);
  probe.begin_case("order left free in one head");
  require_always(probe, head, options, 8);
}

/// What a call may ask for, or need not: who starts threads for it by themselves has more at work.
enum class Extras { none, all, all_without_dq };

/// So many heads, which are work enough for each of so many threads and one more to be counted.
void limit_threads(Probe& probe, Rng rng, std::int64_t heads, std::int64_t length,
                   std::initializer_list<int> counts, Extras extras = Extras::none) {
  const bool plain = extras == Extras::none;
  Problem problem({1, plain ? heads : 2 * heads, heads, length + rng.integer(0, 9),
                   length + rng.integer(0, 9), 64, 64});
  CallOptions options;
  if (!plain) {
    problem.form.causal = true;
    problem.form.softcap = static_cast<float>(rng.uniform(10, 30));
    problem.form.kv_len = {static_cast<std::int32_t>(problem.form.k_len - rng.integer(1, 9))};
    problem.dlse.assign(problem.lse.size(), 0.25f);
    options.deterministic = 1;
    options.want_delta = true;
    options.want_dq = extras != Extras::all_without_dq;
  }
  fill_quickly(problem, rng);
  const JudgedRows rows = some_rows(problem, rng, 20);
  for (const int threads : counts) {
    Answer answer;
    kit::require_thread_limit(probe, threads, [&](int count) {
      options.threads = count;
      answer = ask(probe, problem, options);
    });
    probe.require(rows.miss(answer));
  }
}

/// Many queries that share one row of dout and one of o, and see one key: little memory, and little
/// more to do than delta, of which a thread that is started for it has enough to be counted.
struct ManyQueries {
  ManyQueries(Rng& rng, std::int64_t q_len) : problem({1, 8, 4, 1, 1, 1, 256}) {
    problem.form.q_len = q_len;
    problem.q = kit::Tensor({1, 8, q_len, 1});
    problem.dout = problem.o = kit::Tensor({1, 1, 1, 256});
    problem.lse.resize(problem.q.data.size());
    problem.dlse.resize(problem.lse.size());
    fill_quickly(problem, rng);
    kit::fill_uniform(rng, problem.dlse);
    options.dout.idle = options.o.idle = 0;
    options.want_delta = true;
  }

  void require_right_with(Probe& probe, Rng& rng, int threads) {
    options.threads = threads;
    const Answer answer = ask(probe, problem, options);
    const JudgedRows rows(problem, kit::some_of(rng, problem.q_rows(), 20), {});
    probe.require(rows.miss(answer));
  }

  Problem problem;
  CallOptions options;
};

/// Who has threads for what is done once for each query, beside those that have the pairs.
void limit_threads_of_delta(Probe& probe, Rng rng) {
  constexpr int kThreads = 2;
  const std::int64_t q_len = rng.integer(44'000, 45'000);
  ManyQueries few(rng, q_len / 8), many(rng, q_len);
  kit::require_thread_limit(
      probe, kThreads, [&](int count) { many.require_right_with(probe, rng, count); },
      [&](int count) { few.require_right_with(probe, rng, count); });
}

void thread_limit(Probe& probe) {
  // One head more than two threads have equal shares of: who starts another for it has three.
  limit_threads(probe, probe.begin_case("so many threads at most"), 3, 600, {1, 2});
  limit_threads(probe, probe.begin_case("three threads at most"), 8, 340, {3}, Extras::all);
  limit_threads_of_delta(probe, probe.begin_case("two threads at most, many queries"));
}

// More threads than heads, more than blocks of keys, and just one. What is asked first comes first
// in its process, where there is nothing yet that a solution may have found out.
void thread_counts(Probe& probe) {
  Rng first = probe.begin_case("5 threads on one head");
  const Problem head = one_long_head(first);
  CallOptions five;
  five.threads = 5;
  five.deterministic = 1;
  require_bits(probe, head, five, 2);
  five.deterministic = 0;
  require_always(probe, head, five, 4);
  first = probe.begin_case("5 threads on wide heads");
  five.deterministic = 1;
  require_bits(probe, wide_heads(first), five, 3);
  first = probe.begin_case("5 threads on one group");
  five.deterministic = 256;
  require_bits(probe, one_group(first), five, 4);
  first = probe.begin_case("many threads on many heads");  // the first that there are so many for
  const ManyHeads heads(first);
  CallOptions many;
  many.threads = kit::kManyThreads;
  require_close(probe, heads.problem, ask(probe, heads.problem, many), heads.expected);
  for (const std::int32_t threads : {1, 3, 5, 16, kit::kManyThreads}) {
    Rng rng = probe.begin_case(fmt::format("{} threads", threads));
    Sizes sizes = drawn_sizes(rng, rng.integer(20, 180), rng.integer(20, 180));
    if (threads == 3) sizes.q_heads = sizes.kv_heads = 4;
    if (threads == kit::kManyThreads) sizes.q_len = rng.integer(100, 180);
    const Problem problem = attended_problem(rng, sizes);
    CallOptions options;
    options.threads = threads;
    require_right(probe, problem, options);
  }
  Rng rng = probe.begin_case("many threads on 140 heads");  // more than somebody may stop at
  const Sizes sizes{2, 70, 70, rng.integer(3, 9), rng.integer(3, 9), 8, 8};
  require_right(probe, attended_problem(rng, sizes), many);
  limit_threads(probe, probe.begin_case("one thread at most"), 3, 400, {1}, Extras::all_without_dq);
  limit_threads_of_delta(probe, probe.begin_case("two threads at most, many queries"));
}

void optional_outputs(Probe& probe) {
  for (int wanted = 0; wanted < 16; ++wanted) {
    Rng rng = probe.begin_case(fmt::format("results {}{}{}{}", wanted & 1 ? "dq " : "",
                                           wanted & 2 ? "dk " : "", wanted & 4 ? "dv " : "",
                                           wanted & 8 ? "delta" : ""));
    Problem problem =
        random_problem(rng, drawn_sizes(rng, rng.integer(20, 100), rng.integer(20, 100)));
    problem.dlse.assign(problem.lse.size(), 0.25f);
    attend(problem);
    CallOptions options;
    options.want_dq = wanted & 1;
    options.want_dk = wanted & 2;
    options.want_dv = wanted & 4;
    options.want_delta = wanted & 8;
    require_right(probe, problem, options);
  }
}

}  // namespace

std::vector<Check> execution_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"deterministic_bits", "races between threads", robustness, 2, major}, deterministic_bits},
      {{"thread_counts", "a fixed number of threads, or of heads for them", robustness, 1, major},
       thread_counts},
      {{"thread_limit", "more threads at work than num_threads", robustness, 1, major},
       thread_limit},
      {{"optional_outputs", "results that are not wanted", robustness, 1, major}, optional_outputs},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
