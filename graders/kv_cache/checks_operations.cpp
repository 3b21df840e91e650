#include <chrono>
#include <fmt/format.h>

#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
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
  setup.threads = rng.chance(0.2) ? 2 : 1;
  return setup;
}

/// Shortens a life that fails, and ends the check with the shortest that still does.
[[noreturn]] void fail_shortest(Probe& probe, const Setup& setup,
                                const std::vector<Operation>& operations, const Seed& litter,
                                Finding finding) {
  const auto start = Clock::now();
  const auto fails = [&](const std::vector<Operation>& candidate) {
    if (Clock::now() - start > kShrinkTime) return false;
    auto found = play(probe, setup, candidate, litter);
    if (found) finding = *std::move(found);
    return found.has_value();
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
    const Seed litter = rng.seed();
    if (auto finding = play(probe, setup, operations, litter))
      fail_shortest(probe, setup, operations, litter, *std::move(finding));
  }
  probe.fact("random operations", double(kLives * kOperations), "");
}

}  // namespace

std::vector<Check> operations_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"random_operations", "states that only a history of many operations reaches", robustness, 3,
        critical},
       random_operations},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
