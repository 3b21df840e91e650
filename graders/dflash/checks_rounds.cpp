#include <fmt/format.h>

#include "cases.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "play.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// Requests of every kind in one call: long and short prompts, nothing wanted, never a draft, long
// chains beside short ones, ends at different times. Each alone must give the same.
void several_requests(Probe& probe) {
  for (int turn = 0; turn < 4; ++turn) {
    Rng rng = probe.begin_case(fmt::format("mixed_{}", turn));
    Language language(rng.integer(80, 120), rng);
    if (turn % 2 == 1)
      language.end_with({static_cast<std::int32_t>(rng.integer(1, language.vocab() - 1))}, 0.05);
    Scene scene{&language, {}, 70, {}};
    for (const std::int64_t max_new : {7, 0, 30, 1, 12, 18})
      scene.prompts.push_back(
          random_prompt(language, rng.chance(0.3) ? 1 : rng.integer(2, 130), max_new, rng));
    rng.shuffle(scene.prompts);
    const auto small = chain_drafter(language, rng.seed(), 0, 9);
    const auto big = chain_drafter(language, rng.seed(), 50, 70);
    scene.drafter = [small, big](std::size_t r, std::int64_t known, State text) {
      return r % 3 == 0 ? big(r, known, text) : r % 3 == 1 ? small(r, known, text) : Tree{};
    };
    play(probe, scene);
    // One of them again, alone.
    const std::size_t one = static_cast<std::size_t>(rng.integer(0, 5));
    const auto together = scene.drafter;
    Scene alone = scene;
    alone.prompts = {scene.prompts[one]};
    alone.drafter = [together, one](std::size_t, std::int64_t known, State text) {
      return together(one, known, text);
    };
    play(probe, alone);
  }
}

// Many nodes, few, none, and again: nothing of a bigger tree may be seen in a smaller one.
void shrinking_trees(Probe& probe) {
  for (int turn = 0; turn < 3; ++turn) {
    Rng rng = probe.begin_case(fmt::format("sizes_{}", turn));
    const Language language(rng.integer(80, 120), rng);
    Scene scene{&language, {}, 66, {}};
    for (int r = 0; r < 2; ++r)
      scene.prompts.push_back(random_prompt(language, rng.integer(1, 20), 24, rng));
    const Seed seed = rng.seed();
    scene.drafter = [&language, seed](std::size_t r, std::int64_t known, State text) {
      Rng own(derive(seed, fmt::format("{}:{}", r, known)));
      constexpr std::int64_t kSizes[] = {66, 3, 0, 33, 1};
      TreePlan plan = draw_plan(kSizes[known % 5], own);
      plan.correct = std::min<std::int64_t>(plan.correct, 2);
      return grow(language, text, plan, own);
    };
    play(probe, scene);
  }
}

// Drafts that are never right, for a hundred tokens: one token a pass, nothing but the root kept.
void total_rejection(Probe& probe) {
  Rng rng = probe.begin_case("hundred_tokens");
  const Language language(rng.integer(20, 40), rng);
  Scene scene{&language, {random_prompt(language, rng.integer(1, 70), 100, rng)}, 6, {}};
  const Seed seed = rng.seed();
  scene.drafter = [&language, seed](std::size_t r, std::int64_t known, State text) {
    Rng own(derive(seed, fmt::format("{}:{}", r, known)));
    return grow(language, text, chain_plan(0, own.integer(1, 6)), own);
  };
  const Play seen = play(probe, scene);
  if (seen.model->forwards() != 100)
    probe.fail(fmt::format("{} forward passes for 100 tokens without a right draft, want 100",
                           seen.model->forwards()));
}

}  // namespace

std::vector<Check> rounds_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"several_requests", "requests that get each other's rows, lengths or tokens", correctness,
        2, critical},
       several_requests},
      {{"shrinking_trees", "slots of an earlier, bigger tree still in use", robustness, 2, major},
       shrinking_trees},
      {{"total_rejection", "a cache that is reset, or grows, when everything is rejected",
        robustness, 1, major},
       total_rejection},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
