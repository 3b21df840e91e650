// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "batches.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

struct Size {
  std::int64_t correct;
  std::int64_t wrong;
};

Draft draw_chain(const Language& language, const Size& size, Rng& rng) {
  return random_draft(language, chain_plan(size.correct, size.wrong), rng);
}

/// Over a vocabulary as models have it, somebody may not want to read every row. And the longest
/// rows that there are.
void long_rows(Probe& probe) {
  Rng rng = probe.begin_case("long_rows");
  Language language(rng.integer(132'000, 160'000), rng);
  // Around the pieces that such rows may be cut into.
  std::vector<std::int32_t> tokens{0};
  for (const std::int32_t piece : {1 << 13, 1 << 14, 1 << 15, 1 << 16, 1 << 17})
    tokens.insert(tokens.end(), {piece - 1, piece});
  language.speak(std::move(tokens));
  const std::int64_t right = rng.integer(1, 25);
  Batch batch{&language,
              {draw_chain(language, {26, 0}, rng), draw_chain(language, {0, 26}, rng),
               draw_chain(language, {right, 26 - right}, rng)}};
  batch.drafts.back().max_emit = right;  // and no bonus
  require_right(probe, batch);
  rng = probe.begin_case("longest_rows");
  Language longest(std::int64_t{1} << 20, rng);
  longest.speak({(1 << 20) - 1, 1 << 19});
  require_right(probe, Batch{&longest, {draw_chain(longest, {2, 1}, rng)}});
  const Drafter one = chain_drafter(longest, rng.seed(), 1, 1);
  require_right(probe, Problem{&longest, {random_prompt(longest, 3, 2, rng)}, 1, one});
}

/// As many nodes as a tree may have, nearly all of them children of the root that nobody says, and
/// trees behind it.
void most_nodes(Probe& probe) {
  constexpr std::int64_t kMostNodes = 65'535;
  Rng rng = probe.begin_case("most_nodes");
  const Language language(rng.integer(11, 30), rng);
  Draft most = draft_after(language, 3, rng);
  most.tree = late_path(language, most.root, kMostNodes - 4, 4);
  most.max_emit = 9;
  require_right(
      probe, Batch{&language,
                   {most, draw_chain(language, {3, 2}, rng), draw_chain(language, {4, 0}, rng)}});
}

// Far more nodes than a word, a byte or an array on the stack holds; in chains, which ask about
// sizes alone. branching_trees has the biggest tree there is.
void big_trees(Probe& probe) {
  for (const Size& size : {Size{300, 400}, Size{33'000, 0}, Size{40, 3000}}) {
    Rng rng = probe.begin_case(fmt::format("{}_of_{}", size.correct, size.correct + size.wrong));
    const Language language(rng.integer(11, 30), rng);
    require_right(
        probe, {&language, {draw_chain(language, size, rng), draw_chain(language, {3, 2}, rng)}});
  }
  long_rows(probe);
  most_nodes(probe);
  for (const Size& size : {Size{320, 9}, Size{1100, 1400}}) {
    Rng rng = probe.begin_case(fmt::format("masks_of_{}", size.correct + size.wrong));
    const Language language(rng.integer(11, 30), rng);
    Batch batch{&language, {draw_chain(language, {3, 2}, rng), draw_chain(language, size, rng)}};
    batch.drafts.back().context_length = std::int64_t{3} << 31;
    require_built(probe, batch);
  }
  Rng rng = probe.begin_case("masks_of_a_deep_chain");
  require_deep_chain_built(probe, rng);
  // The last row begins beyond 2^31 bits. Of a chain so long, whoever goes through the masks by
  // columns would take longer than anybody waits.
  rng = probe.begin_case("masks_of_a_large_tree");
  require_large_tree_watched(probe, rng, {16'800, 1, false, rng.integer(1740, 1790)});
  rng = probe.begin_case("refused");
  require_large_trees_refused(probe, rng);
  rng = probe.begin_case("right_neighbours");
  const Language language(rng.integer(11, 30), rng);
  require_right(probe, between_right_neighbours(language, rng));
  rng = probe.begin_case("shared");
  require_large_trees_shared(probe, rng, 3);
}

// More trees than 16 bits can count, with nodes and without. Most of them are equal.
void many_small_trees(Probe& probe) {
  Rng rng = probe.begin_case("small_trees");
  const Language language(rng.integer(3, 9), rng);
  std::vector<Draft> some;
  for (const Size& size : {Size{0, 0}, Size{1, 0}, Size{0, 1}, Size{1, 1}, Size{2, 0}})
    some.push_back(draw_chain(language, size, rng));
  Batch batch{&language};
  const std::int64_t trees = rng.integer(65'537, 65'600);
  while (std::ssize(batch.drafts) < trees) batch.drafts.push_back(kit::one_of(rng, some));
  require_right(probe, batch);
  require_built(probe, batch);
  require_last_refused(probe, batch);
  require_right(probe, one_right_node(language, rng));
}

// More trees and requests than a word has bits.
void many_at_once(Probe& probe) {
  Rng rng = probe.begin_case("trees");
  const Language language(rng.integer(11, 40), rng);
  Batch batch{&language};
  const std::int64_t trees = rng.integer(150, 400);
  while (std::ssize(batch.drafts) < trees)
    batch.drafts.push_back(draw_chain(language, {rng.integer(0, 4), rng.integer(0, 4)}, rng));
  require_right(probe, batch);
  require_built(probe, batch);

  rng = probe.begin_case("requests");
  Problem problem{&language, {}, 5, chain_drafter(language, rng.seed(), 0, 5)};
  const std::int64_t requests = rng.integer(70, 140);
  while (std::ssize(problem.prompts) < requests)
    problem.prompts.push_back(random_prompt(language, rng.integer(1, 9), rng.integer(1, 6), rng));
  require_fewest_passes(probe, require_right(probe, problem));
  many_small_trees(probe);

  rng = probe.begin_case("small_requests");
  const Problem many = many_requests(language, 1, 3, rng);
  require_fewest_passes(probe, require_right(probe, many));
  require_last_refused(probe, many);
}

}  // namespace

std::vector<Check> shapes_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"big_trees", "arrays for trees of so many nodes and no more", robustness, 1, major},
       big_trees},
      {{"many_at_once", "room for so many trees or requests and no more", robustness, 1, major},
       many_at_once},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
