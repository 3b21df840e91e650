// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <utility>
#include <vector>

#include "directed.h"
#include "graders/kit/inputs.h"
#include "graders/kit/threads.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Settings in which some items are done at once and others go on to the end.
Settings uneven_settings(Rng& rng, std::int32_t policy) {
  Settings settings = random_settings(rng, policy);
  draw_sizes(rng, settings, {2, 4}, {4, 9}, {5, 9});
  return settings;
}

/// So many items, the same ones again and again.
SolvedProblem repeated(const SolvedProblem& solved, std::int64_t items) {
  std::vector<std::int64_t> places;
  std::vector<Expected> want;
  for (std::int64_t item = 0; item < items; ++item) {
    places.push_back(item % solved.problem.batch());
    want.push_back(solved.want[static_cast<std::size_t>(places.back())]);
  }
  return {part_of(solved.problem, places), std::move(want)};
}

// Thousands of items of a row that is soon read, a third of which are done in each step: threads
// that share them out note it at the same time, of neighbours too, and one may undo what another
// one noted. It takes chance, and two processors.
void ask_done_together(Probe& probe) {
  constexpr int kCalls = 3;
  Rng rng = probe.begin_case("done_together");
  Settings settings;
  settings.beam = settings.n_return = 1;
  settings.vocab = rng.integer(257, 300);
  settings.max_new = 5;
  settings.stop = BEAM_STOP_FULL;
  const auto language = [last = rng.integer(1, settings.vocab - 1)](const Context& at,
                                                                    std::span<float> row) {
    std::ranges::fill(row, -8.0F);
    row[static_cast<std::size_t>(last)] = -1;
    if (at.depth > at.item % 3) row[0] = -0.5F;
  };
  const SolvedProblem solved =
      repeated(solved_problem(settings, random_prompts(rng, 3), language), rng.integer(2000, 2500));
  for (int call = 0; call < kCalls; ++call) require_right(probe, rng, solved);
}

// Items that are done at once beside items that go on to the end: together, alone, in another
// order.
void batch_independence(Probe& probe) {
  for (int turn = 0; turn < 4; ++turn) {
    const std::int32_t policy = turn % 2 == 0 ? BEAM_POOLED : BEAM_SEPARATE;
    Rng rng = probe.begin_case(fmt::format("policy_{}_{}", policy, turn / 2));
    const Settings settings = uneven_settings(rng, policy);
    std::int64_t drawn = 0;
    const auto alternates = [&](const Language&, const Expected& want) {
      const bool early = want.steps <= 2;
      if (drawn % 2 == 0 ? !early : want.steps < settings.max_new - 1) return false;
      ++drawn;
      return true;
    };
    const SolvedProblem solved = random_problem(rng, settings, 7, draw_uneven_language, alternates);
    const Answer together = require_right(probe, rng, solved);
    const std::vector<std::int64_t> order = kit::random_order(rng, 7);
    const Answer shuffled = require_right(probe, rng, part_of(solved.problem, order));
    for (std::size_t place = 0; place < 7; ++place) {
      const auto item = static_cast<std::size_t>(order[place]);
      require_same_bits(probe, solved.problem, together, item, shuffled, place,
                        fmt::format("item {} in its place and at place {}", item, place));
      const Answer solo = require_right(probe, rng, part_of(solved.problem, {order[place]}));
      require_same_bits(probe, solved.problem, together, item, solo, 0,
                        fmt::format("item {} among others and alone", item));
    }
  }
  // More items than a word has bits, and than anyone looks at one by one.
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("policy_{}_large_batch", policy));
    const std::int64_t batch = rng.integer(130, 300);
    const Settings settings = uneven_settings(rng, policy);
    require_right(probe, rng, random_problem(rng, settings, batch, draw_uneven_language));
  }
  ask_done_together(probe);
}

/// A first step that is work enough for threads to be counted; nobody is called back in it. Whoever
/// reads rows at the speed of memory is asked hundreds of MiB of them where one thread may be: two
/// that share 64 MiB on one core are done in 4 ms, before the kernel has accounted both. EOS ids
/// are ahead and forbidden, and 2 or 4 threads that share the tokens out cut a row: this is where
/// one that reads a part of it may meet what another one has not done yet.
class FirstStep {
 public:
  explicit FirstStep(Rng rng) {
    Settings settings;
    settings.policy = BEAM_POOLED;
    settings.beam = settings.n_return = 4;
    settings.vocab = rng.integer(128'000, 132'000);
    settings.max_new = settings.min_new = 1;
    settings.eos = spread_tokens(rng, 4, settings.vocab);
    different_ = solved_problem(settings, random_prompts(rng, 12),
                                with_ids_ahead(large_language(rng), settings.eos));
    states_ = rng.seed();
  }

  void limit_threads(Probe& probe, std::initializer_list<int> counts) {
    constexpr std::chrono::milliseconds kQuick(2);  // with 12 rows: 127 take 20 ms
    for (const int threads : counts) {
      std::chrono::nanoseconds few_took{};
      kit::require_thread_limit(
          probe, threads,
          [&](int count) {
            if (threads == 1 && few_took < kQuick)
              ask_once(probe, most_, 640, count);
            else
              ask_once(probe, many_, 127, count);
          },
          [&](int count) { few_took = ask_once(probe, few_, 12, count); });
    }
  }

 private:
  struct Asked {
    Asked(SolvedProblem of, const Seed& states)
        : solved(std::move(of)), call(solved.problem, Rng(states)) {}

    SolvedProblem solved;
    SearchCall call;
  };

  /// Made for those alone who are asked it.
  Asked& made(std::unique_ptr<Asked>& asked, std::int64_t items) const {
    if (!asked) asked = std::make_unique<Asked>(repeated(different_, items), states_);
    return *asked;
  }

  /// Of a processor.
  std::chrono::nanoseconds ask_once(Probe& probe, std::unique_ptr<Asked>& asked, std::int64_t items,
                                    int threads) const {
    auto& [solved, call] = made(asked, items);
    call.args.num_threads = threads;
    probe.run(call);
    require_no_difference(probe, solved, call.answer());
    return call.processor;
  }

  SolvedProblem different_;
  Seed states_ = Seed(0);
  std::unique_ptr<Asked> few_, many_, most_;
};

/// A second step that is work for threads, of rows that are not short and more items than there may
/// be of them: all the time goes into sorting, and little into the model's answer.
class SecondStep {
 public:
  explicit SecondStep(Rng rng) {
    Settings settings;
    settings.beam = settings.n_return = 192;
    settings.vocab = rng.integer(1030, 1060);
    settings.max_new = 2;
    settings.min_new = 1;
    settings.penalty = BEAM_PENALTY_NONE;
    settings.stop = BEAM_STOP_BOUND;
    settings.eos = spread_tokens(rng, 64, settings.vocab);
    const SolvedProblem one =
        solved_problem(settings, {3}, [seed = rng()](const Context& at, std::span<float> row) {
          for (std::size_t token = 0; token < row.size(); ++token)
            row[token] = -static_cast<float>(mixed(at.path ^ seed, token) >> 44) / 1024;
        });
    solved_ = repeated(one, 6);
    states_ = rng.seed();
  }

  /// Asked once: threads that share so much are at work for long.
  void limit_threads(Probe& probe, int threads) const {
    SearchCall call(solved_.problem, Rng(states_));
    call.args.num_threads = threads;
    kit::watched(
        probe, threads, [&] { probe.run(call); }, false);
    require_no_difference(probe, solved_, call.answer());
  }

 private:
  SolvedProblem solved_;
  Seed states_ = Seed(0);
};

void thread_limit(Probe& probe) {
  FirstStep(probe.begin_case("so_many_threads_at_most")).limit_threads(probe, {1, 3});
  SecondStep(probe.begin_case("so_many_after_an_answer")).limit_threads(probe, 2);
}

void require_same_by_threads(Probe& probe, Rng& rng, SolvedProblem solved) {
  solved.problem.settings.threads = 1;
  const Answer single = require_right(probe, rng, solved);
  for (const std::int32_t threads : {2, 3, 7, 33, 200}) {
    solved.problem.settings.threads = threads;
    const Answer many = require_right(probe, rng, solved);
    for (std::size_t item = 0; item < solved.want.size(); ++item)
      require_same_bits(probe, solved.problem, single, item, many, item,
                        fmt::format("item {} with 1 and with {} threads", item, threads));
  }
}

// One thread or many, small rows and such that are worth sharing out: the same bits.
void thread_counts(Probe& probe) {
  for (int turn = 0; turn < 4; ++turn) {
    const std::int32_t policy = turn % 2 == 0 ? BEAM_POOLED : BEAM_SEPARATE;
    Rng rng = probe.begin_case(fmt::format("policy_{}_{}", policy, turn / 2));
    Settings settings = random_settings(rng, policy);
    settings.vocab = rng.integer(12'000, 16'000);
    settings.beam = settings.n_return = rng.integer(3, 5);
    settings.max_new = 4;
    settings.stop = BEAM_STOP_BOUND;
    settings.alpha = rng.uniform(0.5, 1.5);
    settings.eos = spread_tokens(rng, 1, settings.vocab);
    settings.min_new = turn < 2 ? 0 : rng.integer(1, 2);
    const auto favoured = [random = large_language(rng), eos = settings.eos[0],
                           favour = turn < 2 ? 1024.0F : 65536.0F](const Context& at,
                                                                   std::span<float> row) {
      random(at, row);
      // Often or always among the best, and no less exact.
      row[static_cast<std::size_t>(eos)] /= favour;
    };
    require_same_by_threads(probe, rng, solved_problem(settings, random_prompts(rng, 4), favoured));
  }
  // All that is among the best, EOS ids too, falls to one of them where they share out tokens.
  for (const std::int64_t ids : {2, 12}) {
    Rng rng = probe.begin_case(fmt::format("{}_ids_in_one_stretch", ids));
    require_same_by_threads(probe, rng, stretch_problem(rng, BEAM_SEPARATE, ids));
  }
  // A few items more than threads: of equal shares the last thread gets none.
  Rng rng = probe.begin_case("some_without_items");
  Settings settings = random_settings(rng, kit::one_of(rng, {BEAM_POOLED, BEAM_SEPARATE}));
  draw_sizes(rng, settings, {2, 3}, {1030, 1300}, {3, 4});
  settings.alpha = rng.uniform(0.5, 1.5);
  settings.threads = static_cast<std::int32_t>(rng.integer(5, 7));
  const std::int64_t items = settings.threads + rng.integer(1, 2);
  require_right(probe, rng,
                solved_problem(settings, random_prompts(rng, items), large_language(rng)));
  ask_done_together(probe);
  // EOS ids that are still forbidden, in a row that two of them share.
  rng = probe.begin_case("rows_cut_in_the_middle");
  require_same_by_threads(probe, rng, cut_rows_problem(rng, BEAM_POOLED));
  FirstStep(probe.begin_case("one_thread_at_most")).limit_threads(probe, {1});
  SecondStep(probe.begin_case("so_many_after_an_answer")).limit_threads(probe, 2);
}

}  // namespace

std::vector<Check> execution_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"batch_independence", "items that see their neighbours", correctness, 3, critical},
       batch_independence},
      {{"thread_counts", "candidates lost between threads", robustness, 1, major}, thread_counts},
      {{"thread_limit", "more threads at work than num_threads", robustness, 1, major},
       thread_limit},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
