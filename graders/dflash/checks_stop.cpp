// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "batches.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// A tree with `correct` right nodes and a few wrong branches.
Draft with_path(const Language& language, std::int64_t correct, std::int64_t wrong, Rng& rng) {
  TreePlan plan;
  plan.correct = correct;
  plan.nodes = correct + wrong;
  plan.order = static_cast<Order>(rng.integer(0, 2));
  return random_draft(language, plan, rng);
}

/// A language of at least 24 tokens with some of them ends, none of which comes by itself.
Language ending_language(std::int64_t ends, Rng& rng) {
  Language language(rng.integer(24, 60) + 2 * ends, rng);
  std::vector<std::int32_t> eos;
  for (std::int64_t left = ends; left > 0; --left) eos.push_back(nonzero_token(language, rng));
  if (ends >= 100) put_lowest_last(eos);
  language.end_with(std::move(eos), 0);
  return language;
}

/// Makes greedy decoding after `root` say an end as its token number `place`, from 0.
void end_at(Language& language, State root, std::int64_t place, Rng& rng) {
  for (; place > 0; --place) root = language.extend(root, language.choice(root));
  language.say(root, kit::one_of(rng, language.eos()));
}

/// The end inside the path, as its last node, as the bonus, and after the tree; the tree goes on
/// behind it, and the target would too.
void draw_ends(Language& language, std::vector<Draft>& drafts, Rng& rng) {
  for (std::int64_t correct = 0; correct <= 6; ++correct)
    for (std::int64_t place = 0; place <= correct + 1; ++place) {
      Draft draft = draft_after(language, rng.integer(1, 30), rng);
      end_at(language, draft.root, place, rng);
      draft.tree = grow(language, draft.root, chain_plan(correct, rng.integer(0, 3)), rng);
      draft.max_emit = draft.tree.rows();
      drafts.push_back(std::move(draft));
    }
}

/// Ends that are drafted after some right nodes, and wrong there.
void draw_rejected_ends(const Language& language, std::vector<Draft>& drafts, Rng& rng) {
  for (std::int64_t t = 0; t < 12; ++t) {
    Draft draft = random_draft(language, chain_plan(t % 4, 0), rng);
    for (std::int64_t more = rng.integer(1, 3); more > 0; --more)
      draft.tree.add(static_cast<std::int32_t>(draft.tree.nodes()) - 1,
                     kit::one_of(rng, language.eos()));
    draft.max_emit = draft.tree.rows();
    drafts.push_back(std::move(draft));
  }
}

// Every number of accepted nodes, from none to all, in chains and in trees; each followed by
// exactly the choice after the last accepted row. And more than 16 bits can count with a sign.
void bonus_token(Probe& probe) {
  for (int turn = 0; turn < 3; ++turn) {
    Rng rng = probe.begin_case(fmt::format("depths_{}", turn));
    const Language language(rng.integer(40, 90), rng);
    Batch batch{&language};
    for (std::int64_t correct = 0; correct <= 17; ++correct) {
      batch.drafts.push_back(with_path(language, correct, 0, rng));
      batch.drafts.push_back(with_path(language, correct, rng.integer(1, 9), rng));
      batch.drafts.push_back(random_draft(language, chain_plan(correct, rng.integer(1, 5)), rng));
    }
    require_right(probe, batch);
  }
  Rng rng = probe.begin_case("last_entry");
  const Language language(rng.integer(11, 30), rng);
  require_right(probe, whole_chain(language, 16 * rng.integer(1, 9), rng));
  rng = probe.begin_case("deepest");
  require_right(probe, Batch{&language, {with_path(language, 33'000, 0, rng)}});
}

/// A right path behind thousands of siblings that nobody says, cut by an end or by the limit.
void ask_late_stop(Probe& probe) {
  Rng rng = probe.begin_case("large_trees");
  Language language = ending_language(2, rng);
  Batch batch{&language};
  constexpr std::int64_t kRight = 4;
  for (const std::int64_t end : {rng.integer(0, kRight - 2), kRight - 1, kRight + 1}) {
    batch.drafts.push_back(draft_after(language, 3, rng));
    Draft& draft = batch.drafts.back();
    end_at(language, draft.root, end, rng);
    draft.tree = late_path(language, draft.root, rng.integer(8200, 9000), kRight);
    draft.max_emit = end < kRight ? 9 : rng.integer(1, kRight);
  }
  require_right(probe, batch);
}

/// Ends that 16 and 17 bits do not hold, each as the last right node of a chain; and a limit.
void ask_large_ends(Probe& probe, std::int64_t vocab) {
  Rng rng = probe.begin_case("large_ends");
  Language language(vocab, rng);
  std::vector<std::int32_t> ends{static_cast<std::int32_t>(vocab) - 1};
  ends.push_back(ends.front() - static_cast<std::int32_t>(rng.integer(1, 999)));
  language.end_with(ends, 0);
  Batch batch{&language};
  for (const std::int32_t end : ends) {
    batch.drafts.push_back(draft_after(language, 3, rng));
    Draft& draft = batch.drafts.back();
    language.say(draft.root, end);
    draft.tree = late_path(language, draft.root, 0, 1);
    draft.max_emit = 9;
  }
  batch.drafts.push_back(draft_after(language, 5, rng));  // the limit comes before the bonus
  batch.drafts.back().tree = late_path(language, batch.drafts.back().root, 0, 1);
  require_right(probe, batch);
}

// On chains, which ask about ends alone; branching_trees has ends in trees.
void end_of_sequence(Probe& probe) {
  for (const std::int64_t ends : {1, 2, 3, 40, 300}) {
    Rng rng = probe.begin_case(fmt::format("{}_ends", ends));
    Language language = ending_language(ends, rng);
    Batch batch{&language};
    draw_ends(language, batch.drafts, rng);
    draw_rejected_ends(language, batch.drafts, rng);
    require_right(probe, batch);
  }
  ask_large_ends(probe, 300'000);
  ask_late_stop(probe);
  Rng rng = probe.begin_case("what_is_said_in_fewer_bits");
  Language strange(rng.integer(11, 40), rng);
  std::vector<std::int32_t> aliases;
  for (int t = 0; t < 40; ++t)
    std::ranges::copy(strangers(strange, {rng()}, 0), std::back_inserter(aliases));
  strange.end_with(std::move(aliases), 0);
  Batch endless{&strange};
  for (int t = 0; t < 8; ++t)
    endless.drafts.push_back(random_draft(strange, chain_plan(t, 2), rng));
  require_right(probe, endless);

  rng = probe.begin_case("no_end_token");
  const Language language(rng.integer(11, 40), rng);
  Batch batch{&language};
  for (int t = 0; t < 8; ++t) batch.drafts.push_back(random_draft(language, chain_plan(t, 2), rng));
  CallOptions options;
  options.stride_extra = rng.integer(1, 9);
  require_right(probe, batch, options);
}

// Limits from nothing to more than the tree can give or 32 bits can hold, with an end before, at
// and behind the limit; on chains, which ask about limits alone.
void emit_limits(Probe& probe) {
  constexpr std::int64_t kHigh = std::int64_t{5} << 32;
  for (int turn = 0; turn < 2; ++turn) {
    Rng rng = probe.begin_case(fmt::format("limits_{}", turn));
    Language language = ending_language(1 + 29 * turn, rng);
    Batch batch{&language};
    for (std::int64_t limit = 0; limit <= 8; ++limit)
      for (const std::int64_t end : {-2, -1, 0, 1, 99}) {
        Draft draft = draft_after(language, rng.integer(1, 30), rng);
        if (limit + end >= 0 && end < 99) end_at(language, draft.root, limit + end, rng);
        draft.tree = grow(language, draft.root, chain_plan(6, rng.integer(0, 3)), rng);
        draft.max_emit = limit < 8 || end < 99 ? limit : kHigh;
        batch.drafts.push_back(std::move(draft));
      }
    require_right(probe, batch);
  }
  ask_large_ends(probe, 140'000);
  ask_late_stop(probe);
}

}  // namespace

std::vector<Check> stop_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"bonus_token", "the bonus missing, or read from another row than the last accepted",
        correctness, 2, critical},
       bonus_token},
      {{"end_of_sequence", "tokens after an end of sequence; stopping at one that was rejected",
        correctness, 2, critical},
       end_of_sequence},
      {{"emit_limits", "more tokens than asked for, limit and end taken in the wrong order",
        correctness, 2, critical},
       emit_limits},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
