// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"
#include "rows.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr int kMostVocab = 1 << 20;  // by the contract

/// Positions that vector loops treat apart: ends, and around multiples of 8 and 64.
std::size_t edge(std::size_t vocab, Rng& rng) {
  const std::int64_t last = static_cast<std::int64_t>(vocab) - 1;
  const std::int64_t tile = rng.chance(0.5) ? 8 : 64;
  const std::int64_t near = tile * rng.integer(0, last / tile) + rng.integer(-1, 1);
  const double draw = rng.uniform();
  if (draw < 0.2) return 0;
  if (draw < 0.4) return vocab - 1;
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(draw < 0.8 ? near : rng.integer(0, last), 0, last));
}

/// Hangs tokens outside the vocabulary on a tree.
void add_foreign_tokens(const Language& language, State root, Tree& tree, Rng& rng) {
  const auto states = row_states(language, tree, root);
  for (std::size_t row = 0; row < states.size(); ++row) {
    for (const std::int32_t foreign : strangers(language, states, row))
      if (rng.chance(0.3) && !tree.has_child(static_cast<std::int32_t>(row) - 1, foreign))
        tree.add(static_cast<std::int32_t>(row) - 1, foreign);
  }
}

/// Rows of every kind, each of a tree alone, so that threads may share it. They do not divide
/// evenly, in whole blocks or without. The largest is in what is left, or has equals in the
/// parts of all threads, from the first token on where all of a row may be infinite.
void shared_rows(Probe& probe) {
  for (std::size_t k = 0; k < kRowKinds.size(); ++k) {
    Rng rng = probe.begin_case(fmt::format("shared_row_{}", k));
    const RowKind kind = kRowKinds[k];
    CallOptions options;
    options.threads = 2 + static_cast<int>(k % 4);
    const std::int64_t left = rng.integer(1, options.threads - 1);
    const std::int64_t blocks = options.threads * std::int64_t{4096};
    Language language((65'536 / blocks + 1) * blocks + left, rng);
    const bool all_equal = kind == RowKind::forbidden || kind == RowKind::infinite;
    const std::int64_t early = all_equal ? 0 : rng.integer(1, language.vocab() / 3);
    for (const std::int64_t best : {language.vocab() - rng.integer(1, left), early}) {
      Batch batch{&language, {draft_after(language, 5, rng)}};
      language.say(batch.drafts.front().root, static_cast<std::int32_t>(best));
      batch.logits = [&rng, best, kind](State, std::span<float> row) {
        write_row(row, static_cast<std::size_t>(best), kind, rng);
      };
      require_right(probe, batch, options);
    }
  }
}

/// More threads than a row has whole blocks for: where parts are rounded up, the last of them have
/// nothing, and begin where all is larger.
void rows_of_few_blocks(Probe& probe) {
  Rng rng = probe.begin_case("rows_of_few_blocks");
  CallOptions options;
  options.threads = static_cast<int>(rng.integer(30, 36));
  options.stride_extra = rng.integer(1024, 1100);
  options.between = kit::kInfinity;
  const Language language(std::int64_t{256} * options.threads + rng.integer(1, 9), rng);
  Batch batch{&language};
  for (int t = 0; t < 6; ++t) batch.drafts.push_back(draft_after(language, 40 + t, rng));
  require_right(probe, batch, options);
}

/// The choice on either side of where rows may be cut in pieces, of any power of two.
void rows_in_pieces(Probe& probe) {
  Rng rng = probe.begin_case("rows_in_pieces");
  Language language((1 << 17) + rng.integer(2, 999), rng);
  Batch batch{&language};
  for (int power = 9; power <= 17; ++power)
    for (const int beside : {-1, 0, 1}) {
      batch.drafts.push_back(draft_after(language, 40 + power, rng));
      const std::int64_t pieces = rng.integer(1, (1 << 17) >> power);
      language.say(batch.drafts.back().root, static_cast<std::int32_t>((pieces << power) + beside));
    }
  batch.logits = [&](State text, std::span<float> row) {
    const auto best = static_cast<std::size_t>(language.choice(text));
    write_row(row, best, kit::one_of(rng, kRowKinds), rng);
  };
  require_right(probe, batch);
}

// Trees without nodes, so that only the choice counts; NaN stands between the rows. Long rows may
// be shared out between threads; of those that are longest, more threads have a part than there are
// trees or processors.
void choice_rule(Probe& probe) {
  for (const std::int64_t around :
       {1, 2, 8, 16, 33, 64, 128, 1000, 4099, 20'000, 70'000, 140'000, kMostVocab}) {
    Rng rng = probe.begin_case(fmt::format("vocab_near_{}", around));
    Language language(around == kMostVocab ? around : kit::near_to(rng, around), rng);
    std::unordered_map<State, std::vector<float>> rows;
    Batch batch{&language};
    CallOptions options;
    options.stride_extra = rng.integer(0, 5);
    options.threads =
        around == kMostVocab ? kit::kManyThreads : static_cast<int>(rng.integer(1, 4));
    for (int t = 0; t < (around < 10'000 ? 40 : around < kMostVocab ? 12 : 3); ++t) {
      batch.drafts.push_back(draft_after(language, 40 + t, rng));
      std::vector<float> row(static_cast<std::size_t>(language.vocab()));
      const auto kind = kit::one_of(rng, kRowKinds);
      const std::size_t best = t == 0                       ? row.size() - 1
                               : kind == RowKind::forbidden ? 0
                                                            : edge(row.size(), rng);
      write_row(row, best, kind, rng);
      language.say(batch.drafts.back().root, static_cast<std::int32_t>(best));
      rows[batch.drafts.back().root] = std::move(row);
    }
    batch.logits = [&rows](State text, std::span<float> row) {
      std::ranges::copy(rows.at(text), row.begin());
    };
    require_right(probe, batch, options);
  }
  shared_rows(probe);
  rows_of_few_blocks(probe);
  rows_in_pieces(probe);
  Rng rng = probe.begin_case("row_alone");
  require_right_row_alone(probe, Language(rng.integer(11, 40), rng), rng);
  // And where the logits are the solution's own.
  rng = probe.begin_case("long_rows_in_requests");
  const Language language(kMostVocab - rng.integer(0, 99), rng);
  require_right(probe, Problem{&language,
                               {random_prompt(language, 5, 4, rng)},
                               1,
                               chain_drafter(language, rng.seed(), 0, 1)});
}

// Tokens outside the vocabulary, alone and in whole requests. Token 0, which padding is made of,
// once right and once not drafted.
void strange_tokens(Probe& probe) {
  for (int turn = 0; turn < 4; ++turn) {
    Rng rng = probe.begin_case(fmt::format("strangers_{}", turn));
    Language language(rng.integer(11, 60), rng);
    Batch batch{&language};
    for (int t = 0; t < 24; ++t) {
      Draft draft = draft_after(language, rng.integer(1, 30), rng);
      if (t % 3 == 0) language.say(draft.root, 0);
      TreePlan plan = random_plan(rng.integer(0, 8), rng);
      plan.correct = std::min<std::int64_t>(plan.nodes, t % 3);
      draft.tree = grow(language, draft.root, plan, rng);
      add_foreign_tokens(language, draft.root, draft.tree, rng);
      draft.tree = reordered(draft.tree, Order::random, rng);
      draft.max_emit = draft.tree.rows();
      batch.drafts.push_back(std::move(draft));
    }
    require_right(probe, batch);
  }
  Rng rng = probe.begin_case("past_strangers");
  const Language words(rng.integer(11, 60), rng);
  require_right(probe, past_strangers(words, rng));

  rng = probe.begin_case("strangers_drafted");
  const Language language(rng.integer(11, 60), rng);
  Problem problem{&language, {random_prompt(language, 5, 20, rng)}, 24, {}};
  const Seed seed = rng.seed();
  problem.drafter = [&language, seed](std::size_t, std::int64_t known, State text) {
    Rng own(derive(seed, fmt::format("{}", known)));
    Tree tree = grow(language, text, chain_plan(own.integer(0, 2), 0), own);
    add_foreign_tokens(language, text, tree, own);
    return tree;
  };
  require_right(probe, problem);
  problem.drafter = [&language, seed](std::size_t, std::int64_t known, State text) {
    Rng own(derive(seed, fmt::format("{}", known)));
    return kit::one_of(own, chains_past_strangers(language, text, own));
  };
  require_right(probe, problem);
}

}  // namespace

std::vector<Check> choice_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"choice_rule", "ties, near ties, infinities and ends of a row of logits", correctness, 1,
        major},
       choice_rule},
      {{"strange_tokens", "draft tokens outside the vocabulary, padding taken for token 0",
        correctness, 1, major},
       strange_tokens},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
