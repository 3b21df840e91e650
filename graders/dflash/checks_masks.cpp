// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "batches.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// Trees whose rows, one more than nodes, lie around the widths of mask words.
constexpr std::int64_t kWidths[] = {0,  1,  2,  30,  31,  32,  33,  62,
                                    63, 64, 65, 126, 127, 128, 200, 320};
constexpr std::int64_t kContexts[] = {0, 1, 62, 63, 64, 65, 1000, std::int64_t{1} << 33};

Draft draw_wide(const Language& language, std::int64_t nodes, Rng& rng) {
  TreePlan plan = random_plan(nodes, rng);
  const double draw = rng.uniform();
  plan.shape = draw < 0.2    ? Shape::chain
               : draw < 0.25 ? Shape::fork
               : draw < 0.3  ? Shape::chain_but_one
               : draw < 0.35 ? Shape::star
               : draw < 0.4  ? Shape::star_but_one
               : draw < 0.6  ? Shape::comb
                             : Shape::bush;
  // A comb's teeth hang on a long path; a tree grown deep first has its branches listed late.
  if (plan.shape == Shape::comb) plan.correct = nodes / 2;
  if (plan.shape == Shape::star || plan.shape == Shape::star_but_one) plan.correct = 0;
  Draft draft = draft_after(language, 1, rng);
  draft.tree = grow(language, draft.root, plan, rng);
  draft.context_length = kit::one_of(rng, kContexts);
  return draft;
}

void ask_widths(Probe& probe, BuiltParts parts) {
  for (const std::int64_t nodes : kWidths)
    for (const char* turn : {"a", "b"}) {  // twice the same sizes, so that no answer can be kept
      Rng rng = probe.begin_case(fmt::format("{}_nodes_{}", nodes, turn));
      const Language language(rng.integer(210, 300), rng);
      require_built(probe, {&language, {draw_wide(language, nodes, rng)}}, {}, parts);
    }
}

void ask_batches(Probe& probe, BuiltParts parts) {
  for (int turn = 0; turn < 4; ++turn) {
    Rng rng = probe.begin_case(fmt::format("batch_{}", turn));
    const Language language(210, rng);
    Batch batch{&language};
    CallOptions options;
    options.spare_words = turn % 3;
    for (int t = 0; t < 12; ++t) {
      const std::int64_t nodes = rng.chance(0.3) ? kit::one_of(rng, kWidths) : rng.integer(0, 40);
      batch.drafts.push_back(draw_wide(language, nodes, rng));
    }
    require_built(probe, batch, options, parts);
  }
  // Neighbours that differ in two nodes, if at all.
  for (const Shape shape : {Shape::chain_but_one, Shape::star_but_one}) {
    Rng rng = probe.begin_case(shape == Shape::chain_but_one ? "nearly_chains" : "nearly_stars");
    const Language language(210, rng);
    const TreePlan plan{rng.integer(60, 320), shape, Order::depth_first};
    Batch batch{&language};
    for (int t = 0; t < 12; ++t) batch.drafts.push_back(random_draft(language, plan, rng));
    require_built(probe, batch, {}, parts);
  }
}

void tree_masks(Probe& probe) {
  ask_widths(probe, {true, false});
  ask_batches(probe, {true, false});
  Rng rng = probe.begin_case("many_words");
  const Language language(rng.integer(11, 40), rng);
  CallOptions options;
  options.spare_words = 1 << 16;
  require_built(probe, {&language, {draw_wide(language, 1, rng)}}, options, {true, false});
  rng = probe.begin_case("chains_in_a_row");
  require_built(probe, chains_in_a_row(language, rng), {}, {true, false});
  // The last row begins beyond 2^31 bits, and has the only slot of a word. Five threads do not
  // divide so many rows.
  rng = probe.begin_case("large_tree");
  const std::int64_t nodes = 64 * rng.integer(262, 265);
  require_large_tree_built(probe, rng, {nodes, 5, true, rng.integer(1740, 1790)}, {true, false});
}

void row_positions(Probe& probe) {
  ask_widths(probe, {false, true});
  ask_batches(probe, {false, true});
  Rng rng = probe.begin_case("deep_chain");
  require_deep_chain_built(probe, rng, {false, true});
}

}  // namespace

std::vector<Check> masks_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"tree_masks", "masks that show siblings, cousins or padding; bits beyond a word",
        correctness, 2, critical},
       tree_masks},
      {{"row_positions", "positions by index instead of by depth", correctness, 2, critical},
       row_positions},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
