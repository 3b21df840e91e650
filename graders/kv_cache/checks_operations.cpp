// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <fmt/format.h>

#include "harness/grading/grader.h"
#include "operations.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLives = 50;
constexpr std::int64_t kOperations = 40;  // in each
constexpr int kShrinkTries = 300;
constexpr std::chrono::milliseconds kShrinkTime{1500};

/// Small, so that pages fill, run out and are shared all the time.
Setup draw_setup(Rng& rng) {
  Setup setup;
  setup.stored = kAllStored[rng.integer(0, 2)];
  setup.heads = rng.integer(1, 2);
  setup.key_dim = rng.integer(2, 9);
  setup.value_dim = rng.integer(2, 9);
  setup.group = rng.integer(2, 9);
  setup.page_tokens = rng.integer(1, 5);
  setup.sequences = rng.integer(2, 5);
  setup.pages = rng.integer(6, 24);
  setup.width = rng.integer(6, 12);
  setup.options.threads = rng.chance(0.2) ? 2 : 1;
  setup.options.renumber_pages = true;
  setup.options.pool_stays = rng.chance(0.5);
  return setup;
}

/// Shortens a life that fails, and ends the check with the shortest that still does.
[[noreturn]] void fail_shortest(Probe& probe, const Setup& setup,
                                const std::vector<Operation>& operations, const Seed& seed,
                                Finding finding) {
  const auto start = Clock::now();
  const auto fails = [&](const std::vector<Operation>& candidate) {
    if (Clock::now() - start > kShrinkTime) return false;
    auto found = play(probe, setup, candidate, seed);
    if (!found) return false;
    finding = *std::move(found);
    return true;
  };
  const std::size_t left = shrink(operations, fails, kShrinkTries).size();
  finding.evidence.insert(
      finding.evidence.begin() + 1,
      fmt::format("the shortest of these that still fails ({} of {} operations):", left,
                  operations.size()));
  throw CheckEnded{std::move(finding)};
}

void random_operations(Probe& probe) {
  for (int life = 0; life < kLives; ++life) {
    Rng rng = probe.begin_case(fmt::format("life_{}", life));
    const Setup setup = draw_setup(rng);
    const std::vector<Operation> operations = draw_operations(rng, setup, kOperations);
    const Seed seed = rng.seed();
    if (auto finding = play(probe, setup, operations, seed))
      fail_shortest(probe, setup, operations, seed, *std::move(finding));
  }
  probe.fact("random operations", double(kLives * kOperations), "");
}

// One token after the other in the same slot, each seen by itself.
void replace_tokens(Probe& probe) {
  for (const KvStored stored : kAllStored) {
    Rng rng = probe.begin_case(fmt::format("{}_one_slot", name_of(stored)));
    Setup setup{.stored = stored, .heads = 1, .pages = 2, .sequences = 1};
    Cache cache(probe, setup, rng.seed());
    for (const std::int64_t before : {0, 3}) {
      cache.append(0, draw_tokens(rng, setup, before));
      for (int turn = 0; turn < 2; ++turn) {
        cache.append(0, draw_tokens(rng, setup, 1));
        Problem problem = draw_problem(rng, setup, cache.contents(), {0}, 1, 2);
        problem.window = 0;
        cache.require_right(problem);
        cache.truncate(0, before);
      }
    }
  }
}

// A branch that was tried and dropped in part, while the trunk goes on.
void leave_branches(Probe& probe, KvStored stored) {
  Rng rng = probe.begin_case(fmt::format("{}_branches", name_of(stored)));
  Setup setup{.stored = stored, .page_tokens = 8, .pages = 16};
  Cache cache(probe, setup, rng.seed());
  cache.append(0, draw_tokens(rng, setup, rng.integer(9, 12)));
  for (int turn = 0; turn < 4; ++turn) {
    cache.append(0, draw_tokens(rng, setup, 5 - cache.length(0) % setup.page_tokens));
    cache.fork(0, 1);
    cache.truncate(1, cache.length(0) - rng.integer(1, 3));
    const Chunk trunk{0, draw_tokens(rng, setup, 2)};
    const Chunk branch{1, draw_tokens(rng, setup, rng.integer(1, 3))};
    if (turn % 2 == 0) {
      cache.append({trunk, branch});
    } else {
      cache.append({trunk});
      cache.append({branch});
    }
    cache.require_right(rng, {0, 1}, 2, 2);
    cache.free(1);
    cache.truncate(0, cache.length(0) - rng.integer(4, 6));
  }
  cache.require_contents();
}

// Tokens that were tried and dropped leave nothing behind, neither numbers nor pages.
void rollback(Probe& probe) {
  for (const KvStored stored : kAllStored) {
    Rng rng = probe.begin_case(name_of(stored));
    Setup setup{.stored = stored, .page_tokens = 4, .pages = 16};
    Cache cache(probe, setup, rng.seed());
    cache.append(0, draw_tokens(rng, setup, 3));
    for (int turn = 0; turn < 14; ++turn) {
      const std::int64_t tried = rng.integer(1, 7);
      const std::int64_t kept = rng.integer(0, std::min<std::int64_t>(tried, 2));
      const std::int64_t before = cache.length(0);
      cache.append(0, draw_tokens(rng, setup, tried));
      cache.require_right(rng, {0}, tried, 2);
      cache.truncate(0, before + kept);
      cache.require_right(rng, {0}, 1, 2);
    }
    cache.require_contents();
    leave_branches(probe, stored);
  }
  replace_tokens(probe);
}

// Lists without anything in them.
void nothing_new(Probe& probe) {
  Rng rng = probe.begin_case("some_sequences");
  Setup setup;
  Cache cache(probe, setup, rng.seed());
  const Tokens none;
  cache.append({{0, none}, {1, draw_tokens(rng, setup, 5)}, {2, none}});
  cache.append({{1, none}});
  cache.append({{1, none}, {3, draw_tokens(rng, setup, 8)}, {0, none}});
  cache.read(1, 5, 0);
  cache.read(0, 0, 0);
  probe.begin_case("no_sequences");
  cache.append(std::vector<Chunk>{});
  cache.attend(Problem{});
  probe.begin_case("of_none");
  Cache nobody(probe, {.pages = 0, .sequences = 0, .width = 0}, rng.seed());
  nobody.append(std::vector<Chunk>{});
  nobody.attend(Problem{});
  probe.begin_case("no_queries");
  Problem problem = draw_problem(rng, setup, cache.contents(), {1, 0, 3}, 2, 2);
  problem.queries = {0, 0, 2};
  draw_queries(rng, setup, cache.contents(), problem);
  cache.require_right(problem);
  problem.queries = {0, 0, 0};
  problem.q.clear();
  cache.attend(problem);
  probe.begin_case("forks");
  cache.fork(0, 2);
  cache.truncate(2, 0);
  cache.truncate(1, cache.length(1));
  cache.require_contents();
}

}  // namespace

std::vector<Check> operations_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"random_operations", "states that only a history of many operations reaches", robustness, 3,
        critical},
       random_operations},
      {{"rollback", "dropped tokens that come back", robustness, 2, major}, rollback},
      {{"nothing_new", "lists and chunks without anything in them", robustness, 1, major},
       nothing_new},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
