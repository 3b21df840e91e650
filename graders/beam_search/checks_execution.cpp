// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <optional>

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
}

/// A first step that is work enough for threads to be counted; nobody is called back in it.
class FirstStep {
 public:
  explicit FirstStep(Rng rng) {
    settings_.beam = settings_.n_return = 4;
    settings_.vocab = rng.integer(128'000, 132'000);
    settings_.max_new = 1;
    settings_.eos = spread_tokens(rng, 1, settings_.vocab);
    language_ = large_language(rng);
    few_ = solved_problem(settings_, random_prompts(rng, 12), language_);
    states_ = rng.seed();
    prompts_ = rng.seed();
  }

  void limit_threads(Probe& probe, std::initializer_list<int> counts) {
    for (const int threads : counts) {
      const auto ask_once = [&](SolvedProblem& solved) {
        solved.problem.settings.threads = threads;
        require_no_difference(probe, solved, ask(probe, states_, solved.problem));
      };
      kit::require_thread_limit(
          probe, threads, [&] { ask_once(many()); }, [&] { ask_once(*few_); });
    }
  }

 private:
  /// Drawn for those alone who are quick enough to be asked it.
  SolvedProblem& many() {
    Rng rng(prompts_);
    if (!many_) many_ = solved_problem(settings_, random_prompts(rng, 128), language_);
    return *many_;
  }

  Settings settings_;
  Language language_;
  std::optional<SolvedProblem> few_, many_;
  Seed states_ = Seed(0), prompts_ = Seed(0);
};

void thread_limit(Probe& probe) {
  FirstStep(probe.begin_case("so_many_threads_at_most")).limit_threads(probe, {1, 3});
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
  // EOS ids that are still forbidden, in a row that two of them share.
  Rng rng = probe.begin_case("rows_cut_in_the_middle");
  require_same_by_threads(probe, rng, cut_rows_problem(rng, BEAM_POOLED));
  FirstStep(probe.begin_case("one_thread_at_most")).limit_threads(probe, {1});
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
