#include <fmt/format.h>

#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "play.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// One request whose drafts have `low`..`high` right nodes among `wrong` wrong ones.
Scene single(const Language& language, Shape shape, std::int64_t low, std::int64_t high,
             std::int64_t wrong, std::int64_t max_new, Rng& rng) {
  Scene scene{
      &language, {random_prompt(language, rng.integer(1, 20), max_new, rng)}, high + wrong, {}};
  const Seed seed = rng.seed();
  scene.drafter = [&language, seed, shape, low, high, wrong](std::size_t r, std::int64_t known,
                                                             State text) {
    Rng own(derive(seed, fmt::format("{}:{}", r, known)));
    TreePlan plan;
    plan.shape = shape;
    plan.correct = own.integer(low, high);
    plan.nodes = plan.correct + wrong;
    plan.order = static_cast<Order>(own.integer(0, 2));
    return grow(language, text, plan, own);
  };
  return scene;
}

void expect_fewest(Probe& probe, const Play& seen) {
  const std::int64_t want = seen.fewest_forwards();
  if (seen.model->forwards() > want)
    probe.fail(
        fmt::format("{} forward passes, want {} with these drafts", seen.model->forwards(), want));
}

/// Requests that end at very different times.
Scene uneven(const Language& language, Rng& rng) {
  Scene scene{&language, {}, 8, chain_drafter(language, rng.seed(), 0, 8)};
  for (const std::int64_t max_new : {3, 40, 5, 8, 13, 1, 21})
    scene.prompts.push_back(random_prompt(language, rng.integer(1, 20), max_new, rng));
  rng.shuffle(scene.prompts);
  return scene;
}

void passes_on_branches(Probe& probe) {
  for (int turn = 0; turn < 5; ++turn) {
    Rng rng = probe.begin_case(fmt::format("branches_{}", turn));
    const Language language(rng.integer(20, 60), rng);
    expect_fewest(probe, play(probe, single(language, turn % 2 == 0 ? Shape::bush : Shape::comb, 1,
                                            4, rng.integer(6, 12), 40, rng)));
  }
}

void passes_on_chains(Probe& probe) {
  for (int turn = 0; turn < 4; ++turn) {
    Rng rng = probe.begin_case(fmt::format("chains_{}", turn));
    const Language language(rng.integer(20, 60), rng);
    const std::int64_t length = turn == 0 ? 16 : rng.integer(2, 7);
    expect_fewest(probe, play(probe, single(language, Shape::chain, turn < 2 ? length : 0, length,
                                            turn < 2 ? 0 : 2, turn == 0 ? 85 : 40, rng)));
  }
}

void one_pass_for_all(Probe& probe) {
  for (int turn = 0; turn < 2; ++turn) {
    Rng rng = probe.begin_case(fmt::format("uneven_{}", turn));
    const Language language(rng.integer(20, 60), rng);
    expect_fewest(probe, play(probe, uneven(language, rng)));
  }
}

void ended_requests(Probe& probe) {
  for (int turn = 0; turn < 2; ++turn) {
    Rng rng = probe.begin_case(fmt::format("uneven_{}", turn));
    Language language(rng.integer(20, 60), rng);
    if (turn == 1)
      language.end_with({static_cast<std::int32_t>(rng.integer(1, language.vocab() - 1))}, 0.08);
    const Play seen = play(probe, uneven(language, rng));
    if (const auto& guest = seen.model->late_guest()) probe.fail(guest->text);
  }
}

void draft_context(Probe& probe) {
  for (int turn = 0; turn < 3; ++turn) {
    Rng rng = probe.begin_case(fmt::format("contexts_{}", turn));
    const Language language(rng.integer(20, 60), rng);
    const Play seen = play(probe, uneven(language, rng));
    if (const auto& stale = seen.model->stale_context()) probe.fail(stale->text);
  }
}

void reported_counts(Probe& probe) {
  for (int turn = 0; turn < 3; ++turn) {
    Rng rng = probe.begin_case(fmt::format("counts_{}", turn));
    Language language(rng.integer(20, 60), rng);
    if (turn > 0)
      language.end_with({static_cast<std::int32_t>(rng.integer(1, language.vocab() - 1))}, 0.08);
    const Play seen = play(probe, uneven(language, rng));
    for (std::size_t r = 0; r < seen.plans.size(); ++r) {
      const Plan& plan = seen.plans[r];
      const std::int64_t passes = std::ssize(seen.model->known_at(r));
      if (seen.rounds[r] != passes)
        probe.fail(fmt::format("rounds[{}] is {}, want {}", r, seen.rounds[r], passes));
      // With more passes than needed other nodes are accepted; their number is not ours to know.
      if (passes == plan.rounds && seen.accepted[r] != plan.accepted)
        probe.fail(fmt::format("accepted[{}] is {}, want {} of {} emitted tokens", r,
                               seen.accepted[r], plan.accepted, plan.emit.size()));
    }
  }
}

}  // namespace

std::vector<Check> counts_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"passes_on_branches", "accepting less than the tree holds: first children only",
        correctness, 2, major},
       passes_on_branches},
      {{"passes_on_chains", "accepting less than a chain holds: no bonus, one node a pass",
        correctness, 2, major},
       passes_on_chains},
      {{"one_pass_for_all", "a forward pass for every request instead of one for all", correctness,
        1, major},
       one_pass_for_all},
      {{"reported_counts", "rounds and accepted tokens claimed, not counted", correctness, 0.5,
        minor},
       reported_counts},
      {{"ended_requests", "requests that have ended and are still in the passes", robustness, 1,
        major},
       ended_requests},
      {{"draft_context", "a drafter that is not told the latest tokens", robustness, 1, major},
       draft_context},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
