// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Random requests, each with a prompt of `shortest`..`longest` tokens.
std::vector<Prompt> draw_prompts(const Language& language, std::int64_t count,
                                 std::int64_t shortest, std::int64_t longest, Rng& rng) {
  std::vector<Prompt> prompts;
  for (std::int64_t r = 0; r < count; ++r)
    prompts.push_back(
        random_prompt(language, rng.integer(shortest, longest), rng.integer(5, 40), rng));
  return prompts;
}

void end_sometimes(Language& language, double probability, Rng& rng) {
  std::vector<std::int32_t> eos;
  for (std::int64_t left = rng.chance(0.3) ? 12 : rng.integer(1, 3); left > 0; --left)
    eos.push_back(nonzero_token(language, rng));
  language.end_with(std::move(eos), probability);
}

// Twelve calls with random trees in every order; half of the texts end by themselves. The second of
// a pair has the sizes of the first.
void greedy_equality(Probe& probe) {
  for (int turn = 0; turn < 6; ++turn) {
    Rng sizes = probe.begin_case(fmt::format("sizes_{}", turn));
    const std::int64_t vocab = sizes.integer(11, 60);
    const std::int64_t requests = sizes.integer(1, 6);
    const std::int64_t nodes = sizes.integer(6, 30);
    std::vector<std::int64_t> lengths;
    for (std::int64_t r = 0; r < 2 * requests; ++r) lengths.push_back(sizes.integer(1, 30));
    for (const char* pair : {"a", "b"}) {
      Rng rng = probe.begin_case(fmt::format("random_model_{}{}", turn, pair));
      Language language(vocab, rng);
      if (turn % 2 == 1) end_sometimes(language, 0.06, rng);
      Problem problem{&language, {}, nodes, random_drafter(language, rng.seed(), 0, nodes)};
      for (std::int64_t r = 0; r < requests; ++r)
        problem.prompts.push_back(random_prompt(language, lengths[std::size_t(2 * r)],
                                                4 + lengths[std::size_t(2 * r + 1)], rng));
      require_right(probe, problem);
    }
  }
}

/// Accepted nodes come last in a pass, and it goes on behind them.
void ask_late_paths(Probe& probe, std::int64_t wrong) {
  Rng rng = probe.begin_case(fmt::format("behind_{}", wrong));
  const Language language(rng.integer(11, 20), rng);
  Problem problem{&language, {}, wrong + 2, {}};
  for (int r = 0; r < 2; ++r) problem.prompts.push_back(random_prompt(language, 3, 7, rng));
  problem.drafter = [&language, wrong](std::size_t, std::int64_t known, State text) {
    return late_path(language, text, wrong, 1 + known % 2);
  };
  require_right(probe, problem);
}

// Accepted nodes lie apart in the pass; what is kept of it must be their slots in the text's order.
void scattered_paths(Probe& probe) {
  for (int turn = 0; turn < 3; ++turn) {
    Rng rng = probe.begin_case(fmt::format("directed_{}", turn));
    const DirectedTrees directed(rng);
    Problem problem{&directed.language, directed.prompts, 8, {}};
    for (Prompt& prompt : problem.prompts) prompt.max_new = 6;
    const auto later = random_drafter(directed.language, rng.seed(), 0, 5);
    problem.drafter = [&directed, later](std::size_t r, std::int64_t known, State text) {
      return known == std::ssize(directed.prompts[r].tokens) ? directed.drafts[r].tree
                                                             : later(r, known, text);
    };
    require_right(probe, problem);
  }
  for (int turn = 0; turn < 3; ++turn) {
    Rng rng = probe.begin_case(fmt::format("mixed_{}", turn));
    const Language language(rng.integer(20, 60), rng);
    Problem problem{&language, draw_prompts(language, 3, 2, 20, rng), 24, {}};
    problem.drafter = planned_drafter(language, rng.seed(), [](Rng& own) {
      TreePlan plan;
      plan.correct = own.integer(2, 5);
      plan.nodes = own.integer(10, 24);
      return plan;
    });
    require_right(probe, problem);
  }
  for (const bool chains : {true, false}) {
    Rng rng = probe.begin_case(chains ? "nearly_chains" : "nearly_stars");
    const Language language(rng.integer(100, 140), rng);
    require_right(probe, alike_drafts(language, chains, rng));
  }
  ask_late_paths(probe, 1100);
}

/// Requests of which every second has drafts of many nodes, the others of few, after texts that are
/// together, or alone, longer than 16 bits can count.
void ask_uneven_requests(Probe& probe) {
  for (const std::int64_t nodes : {70, 130, 200}) {
    Rng rng = probe.begin_case(fmt::format("uneven_{}_nodes", nodes));
    const Language language(rng.integer(20, 40), rng);
    Problem problem{&language, {}, nodes == 70 ? 65'535 : nodes, {}};
    for (const std::int64_t length : {nodes == 200 ? 263'000 : 65'537, 5, 300})
      problem.prompts.push_back(random_prompt(language, length, 4, rng));
    const Drafter few = random_drafter(language, rng.seed(), 3, 3);
    const Drafter many = random_drafter(language, rng.seed(), nodes, nodes);
    problem.drafter = [few, many](std::size_t r, std::int64_t known, State text) {
      return (r % 2 == 0 ? few : many)(r, known, text);
    };
    const Answer seen = require_right(probe, problem);
    if (const auto& stale = seen.model->stale_context()) probe.fail(stale->text);
  }
}

// Passes whose rows end around the widths of mask words, after texts whose lengths do.
void wide_passes(Probe& probe) {
  for (const std::int64_t nodes : {31, 32, 62, 63, 64, 65, 127, 128, 200, 320}) {
    Rng rng = probe.begin_case(fmt::format("{}_nodes", nodes));
    const Language language(rng.integer(205, 260), rng);
    Problem problem{&language, {}, nodes, {}};
    constexpr std::int64_t kLengths[] = {1, 2, 64, 65, 66, 1001};
    for (int r = 0; r < 2; ++r)
      problem.prompts.push_back(random_prompt(language, kit::one_of(rng, kLengths), 6, rng));
    problem.drafter = planned_drafter(language, rng.seed(), [nodes](Rng& own) {
      return random_plan(nodes - own.integer(0, 1), own);
    });
    require_right(probe, problem);
  }
  ask_late_paths(probe, 4200);
  Rng rng = probe.begin_case("equal_leaves");
  const Language language(rng.integer(20, 40), rng);
  CallOptions options;
  options.stride_extra = rng.integer(64, 99);  // room behind the many tokens of a pass
  require_right(probe, with_equal_leaves(language, rng), options);
  rng = probe.begin_case("long_comb");
  require_right(probe, with_long_comb(language, rng), options);
  ask_uneven_requests(probe);
}

/// Requests that are over after one pass, of 17 to 40 tokens, with room behind them or without.
void ask_long_rounds(Probe& probe) {
  for (const bool room : {false, true}) {
    Rng rng = probe.begin_case(room ? "long_rounds_with_room" : "long_rounds");
    const Language language(rng.integer(20, 60), rng);
    Problem problem = one_pass(language, 16, rng);
    problem.budget = 40;
    problem.drafter = [&language](std::size_t, std::int64_t, State text) {
      return late_path(language, text, 0, 40);
    };
    for (std::size_t r = 0; r < problem.prompts.size(); ++r)
      problem.prompts[r].max_new = room ? 17 + r : 40;
    CallOptions options;
    options.stride_extra = room ? rng.integer(64, 99) : 0;
    require_right(probe, problem, options);
  }
}

// Few tokens wanted of drafts that could give more. Texts that end often, so that every draft of
// them may be short: an end is then as often the token that follows the accepted ones.
void generation_limits(Probe& probe) {
  for (int turn = 0; turn < 6; ++turn) {
    Rng rng = probe.begin_case(fmt::format("limits_{}", turn));
    Language language(rng.integer(20, 60), rng);
    end_sometimes(language, turn % 2 == 0 ? 0.02 : 0.25, rng);
    Problem problem{&language, {}, 12, {}};
    for (std::int64_t limit = 0; limit <= 9; ++limit)
      problem.prompts.push_back(random_prompt(language, rng.integer(1, 9), limit, rng));
    // A prompt may hold an end of sequence, last or not: only emitted tokens end a request.
    problem.prompts.back().tokens.back() = language.eos().front();
    problem.prompts.front().tokens.front() = language.eos().front();
    const Seed seed = rng.seed();

    const std::int64_t least = turn % 2 == 0 ? 3 : 0;

    problem.drafter = [&language, seed, least](std::size_t r, std::int64_t known, State text) {
      Rng own = draft_rng(seed, r, known);
      Tree tree = grow(language, text, chain_plan(own.integer(least, 5), own.integer(0, 3)), own);
      tree.add(static_cast<std::int32_t>(tree.nodes()) - 1, language.eos().front());
      return tree;
    };
    CallOptions options;
    options.stride_extra = turn % 3;
    require_right(probe, problem, options);
  }
  ask_long_rounds(probe);
  Rng rng = probe.begin_case("ample_limits");
  Language language(rng.integer(20, 60), rng);
  require_right(probe, ample_limits(language, rng));

  rng = probe.begin_case("large_ends");
  Language many(rng.integer(132'000, 140'000), rng);
  require_right(probe, large_ends(many, rng));

  rng = probe.begin_case("long_text");
  const Language words(rng.integer(20, 60), rng);
  require_counts(probe, require_right(probe, long_request(words, rng)));
}

// Drafts that look right: the greedy text one token late, one token early, or another request's.
void plausible_drafts(Probe& probe) {
  for (int turn = 0; turn < 3; ++turn) {
    Rng rng = probe.begin_case(turn == 0 ? "late" : turn == 1 ? "early" : "foreign");
    const Language language(rng.integer(20, 60), rng);
    Problem problem{&language, draw_prompts(language, 3, 3, 20, rng), 10, {}};
    const auto prompts = problem.prompts;
    problem.drafter = [&language, prompts, turn](std::size_t r, std::int64_t known, State text) {
      auto tokens = language.decode(text, 11);
      if (turn == 0) tokens.insert(tokens.begin(), tokens.front());
      if (turn == 1) tokens.erase(tokens.begin());
      if (turn == 2) tokens = language.decode(language.read(prompts[(r + 1) % 3].tokens), 10);
      Tree tree;
      const auto skip = static_cast<std::size_t>(known % 3);
      for (int i = 0; i < 6; ++i) tree.add(i - 1, tokens[static_cast<std::size_t>(i) + skip]);
      return tree;
    };
    require_right(probe, problem);
  }
}

}  // namespace

std::vector<Check> generate_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"greedy_equality", "whole requests that differ from greedy decoding", correctness, 3,
        critical},
       greedy_equality},
      {{"scattered_paths", "keeping the first slots of a pass instead of the accepted ones",
        correctness, 2, critical},
       scattered_paths},
      {{"generation_limits", "requests that run past their limit or their end", correctness, 2,
        critical},
       generation_limits},
      {{"plausible_drafts", "drafts that look right one token early, late or elsewhere",
        correctness, 1, major},
       plausible_drafts},
      {{"wide_passes", "mask words of the wrong width, long committed texts", robustness, 2,
        critical},
       wide_passes},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
