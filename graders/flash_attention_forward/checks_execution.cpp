// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include "graders/kit/threads.h"
#include "harness/grading/grader.h"
#include "lap.h"
#include "large.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Causal, so that late blocks of queries are more work than early ones.
Problem uneven_work(Rng& rng, std::int64_t length, std::int64_t columns = 16) {
  Problem problem({2, 2, 2, length, length, columns, columns});
  problem.form.causal = true;
  fill_sharp(problem, rng);
  return problem;
}

/// Too few blocks of queries for one a thread, and keys enough to be divided between threads, each
/// with so much of them that it is at work while others are.
Problem many_keys(Rng& rng) {
  Problem problem({1, 1, 1, rng.integer(24, 32), rng.integer(3000, 4000), 24, 24});
  fill_sharp(problem, rng);
  return problem;
}

/// Fewer rows than threads: who divides the keys of each has a part for each thread. All keys
/// weigh, so that a part that is lost, or added in another order, shows.
Problem few_rows(Rng& rng, std::int64_t keys) {
  Problem problem({1, rng.integer(1, 2), 1, rng.integer(1, 2), keys, 24, 24});
  fill_scores(problem, rng, 0.7);
  fill_values(problem, rng);
  return problem;
}

/// Entries of many keys, and behind each one of a single key, whose rows are ready while the last
/// ones before them are still at work: who writes more rows than there are spoils these. A last
/// block is nearly whole, of most sizes that are tried, and longer at work than a thread is let run
/// where others wait.
Problem uneven_entries(Rng& rng) {
  Problem problem({4, 1, 1, rng.integer(60, 63), rng.integer(8000, 9000), 8, 8});
  fill_sharp(problem, rng);
  const auto many = static_cast<std::int32_t>(problem.form.k_len);
  problem.form.kv_len = {many, 1, many, 1};
  return problem;
}

/// Rows of k and v that a solution may want side by side, in memory that threads must not share.
CallOptions in_pages() {
  CallOptions options;
  options.k = options.v = {.row_gap = 1024};
  return options;
}

/// Work enough for threads to be counted: of heads; and of few queries, so that who has more
/// threads than blocks of these divides keys.
constexpr Sizes kManyBlocks{1, 8, 2, 510, 510, 64, 64};
constexpr Sizes kOneBlock{1, 1, 1, 32, 1 << 14, 64, 64};

/// A query of each head, which is no block.
constexpr Sizes kOneOfEach{2, 64, 2, 1, 1 << 13, 64, 64};

/// Fewer rows than threads: who has as many threads for the keys of each may have more than all.
constexpr Sizes kFewerThanThreads{1, 2, 1, 1, (1 << 20) - 16, 1, 1};

/// What a call may want, or need not: who starts threads for it by themselves has more at work.
enum class Extras { none, all };

void limit_threads(Probe& probe, Rng rng, Sizes sizes, std::initializer_list<int> counts,
                   Extras extras = Extras::none) {
  constexpr std::int64_t kMostRows = 32;
  constexpr std::int64_t kMostPairs = std::int64_t{1} << 20;  // of a query and a key
  constexpr std::int64_t kHidden = 9;                         // keys at both ends that do not exist
  sizes.k_len += rng.integer(-10, 10);
  Problem problem(sizes);
  if (extras == Extras::all) {
    problem.form.causal = true;
    problem.form.softcap = static_cast<float>(rng.uniform(10, 30));
    problem.form.window_left = rng.integer(sizes.k_len / 2, sizes.k_len);
    problem.form.kv_start = {static_cast<std::int32_t>(rng.integer(1, kHidden))};
    problem.form.kv_len = {static_cast<std::int32_t>(sizes.k_len - kHidden)};
  }
  fill_repeating(problem, rng);
  const auto judged = static_cast<int>(std::min(kMostRows, kMostPairs / problem.form.k_len));
  const JudgedRows rows = some_rows(problem, rng, judged);
  for (const int threads : counts) {
    CallOptions options;
    options.want_lse = extras == Extras::none;
    Answer answer;
    kit::require_thread_limit(probe, threads, [&](int count) {
      options.threads = count;
      answer = ask(probe, problem, options);
    });
    probe.require(rows.miss(answer));
  }
}

void thread_limit(Probe& probe) {
  limit_threads(probe, probe.begin_case("so_many_threads_at_most"), kManyBlocks, {2, 3});
  limit_threads(probe, probe.begin_case("one_thread_and_all_extras"), kManyBlocks, {1},
                Extras::all);
  limit_threads(probe, probe.begin_case("one_thread_of_few_queries"), kOneBlock, {1});
  limit_threads(probe, probe.begin_case("one_thread_of_one_query"), kOneOfEach, {1});
  limit_threads(probe, probe.begin_case("three_threads_of_two_rows"), kFewerThanThreads, {3},
                Extras::all);
}

void thread_counts(Probe& probe) {
  for (const int threads : {1, 2, 3, 5, 16, 64, 200}) {
    Rng rng = probe.begin_case(fmt::format("threads_{}", threads));
    // More pieces of work than 64 threads take one each of, and in the process' first call, whose
    // bits have to be those of later ones, more keys than any tile has. Much work, too, where
    // threads may pack rows, so that they do so at once.
    const bool pages = threads == 5;
    const bool many = threads > 64 || threads == 1 || pages;
    // What is tried out on wide heads alone differs between the first calls with such.
    const bool wide = threads == 3;
    const std::int64_t length = many   ? rng.integer(330, 400)
                                : wide ? rng.integer(70, 90)
                                       : rng.integer(1, 200);
    const Problem problem = uneven_work(rng, length, wide ? rng.integer(130, 256) : 16);
    CallOptions options = pages ? in_pages() : CallOptions();
    options.threads = threads;
    const Answer answer = require_right(probe, problem, options);
    require_equal(probe, problem, ask(probe, problem, options), answer);
  }
  CallOptions many;
  many.threads = 200;
  for (const std::int64_t heads : {70, 130}) {  // more than threads that somebody may stop at
    Rng rng = probe.begin_case(fmt::format("threads_200_on_{}_heads", 2 * heads));
    Problem problem({2, heads, heads, rng.integer(3, 9), rng.integer(3, 9), 8, 8});
    fill_sharp(problem, rng);
    require_right(probe, problem, many);
  }
  {
    Rng rng = probe.begin_case("threads_3_on_uneven_entries");
    const Problem problem = uneven_entries(rng);
    many.threads = 3;
    const Answer answer = require_right(probe, problem, many);
    for (int again = 0; again < 5; ++again)
      require_equal(probe, problem, ask(probe, problem, many), answer);
  }
  for (const int threads : {5, 200}) {  // of more tiles than there are threads
    Rng rng = probe.begin_case(fmt::format("threads_{}_on_few_rows", threads));
    const Problem problem = few_rows(rng, rng.integer(13'000, 14'000));
    many.threads = threads;
    const Answer answer = require_right(probe, problem, many);
    for (int again = 0; again < 8; ++again)
      require_equal(probe, problem, ask(probe, problem, many), answer);
  }
  limit_threads(probe, probe.begin_case("three_threads_at_most"), kManyBlocks, {3}, Extras::all);
  limit_threads(probe, probe.begin_case("one_thread_of_many_blocks"), kManyBlocks, {1});
  limit_threads(probe, probe.begin_case("three_threads_of_two_rows"), kFewerThanThreads, {1, 3},
                Extras::all);
}

/// Keys and values that are others in each call, at the same place and of the same shape: a copy of
/// them that is kept is old. Of one query, as while a text is written, and of some.
void ask_changing_keys(Probe& probe) {
  for (const std::int64_t queries : {1, 20}) {
    Rng rng = probe.begin_case(fmt::format("{} queries of keys that change", queries));
    Problem problem({1, 1, 1, queries, rng.integer(30, 90), 24, 24});
    CallOptions options = in_pages();
    options.threads = 1;
    for (int call = 0; call < 3; ++call) {
      fill_sharp(problem, rng);
      require_right(probe, problem, options);
    }
  }
}

// Also with calls of other shapes in between, whose leftovers a reused scratch buffer would hold.
void deterministic_bits(Probe& probe) {
  Rng rng = probe.begin_case("again_and_again");
  const Problem problem = uneven_work(rng, 171);
  const Problem bigger = uneven_work(rng, 230);
  const Problem smaller = uneven_work(rng, 17);
  const Answer first = require_right(probe, problem);
  for (int round = 0; round < 20; ++round) {
    if (round % 5 == 1) require_right(probe, bigger);
    if (round % 5 == 3) require_right(probe, smaller);
    require_equal(probe, problem, ask(probe, problem), first);
  }
  // By many threads: in which order they are ready differs from call to call.
  for (const std::string_view kind :
       {"a page between rows", "many keys", "few rows", "uneven entries", "wide heads"}) {
    Rng own = probe.begin_case(std::string(kind));
    const bool pages = kind == "a page between rows";
    const bool divided = kind == "many keys" || kind == "few rows";
    const Problem shared = pages                      ? uneven_work(own, 240)
                           : kind == "many keys"      ? many_keys(own)
                           : kind == "few rows"       ? few_rows(own, own.integer(13'000, 14'000))
                           : kind == "uneven entries" ? uneven_entries(own)
                                                      : uneven_work(own, 80, own.integer(130, 256));
    CallOptions options = pages ? in_pages() : CallOptions();
    options.threads = 7;
    const Answer once = require_right(probe, shared, options);
    const int rounds = divided ? 20 : kind == "uneven entries" ? 5 : 10;
    for (int round = 0; round < rounds; ++round)
      require_equal(probe, shared, ask(probe, shared, options), once);
  }
  ask_changing_keys(probe);
  ask_large(probe, {{"before"}, {"threads", {"1", "2"}}});
}

void optional_outputs(Probe& probe) {
  for (const bool causal : {false, true}) {
    Rng rng = probe.begin_case(causal ? "causal" : "full");
    Sizes sizes{2, 4, 2, rng.integer(20, 70), 0, rng.integer(13, 40), rng.integer(13, 40)};
    sizes.k_len = causal ? sizes.q_len : rng.integer(70, 130);
    Problem problem(sizes);
    problem.form.causal = causal;
    fill_sharp(problem, rng);
    CallOptions options;
    options.want_lse = false;
    require_right(probe, problem, options);
  }
  ask_large(probe, {{"lse", {"not wanted"}}, {"causal"}, kFewOrManyQueries});
}

}  // namespace

std::vector<Check> execution_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"thread_counts", "work lost or doubled between threads", robustness, 2, major},
       thread_counts},
      {{"thread_limit", "more threads at work than num_threads", robustness, 1, major},
       thread_limit},
      {{"deterministic_bits", "races, and scratch memory that remembers", robustness, 1, major},
       deterministic_bits},
      {{"optional_outputs", "a log-sum-exp that nobody wants", robustness, 1, minor},
       optional_outputs},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
