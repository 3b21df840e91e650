// SPDX-License-Identifier: Apache-2.0
#include "judge.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>

#include "batches.h"
#include "evidence.h"
#include "graders/kit/refusals.h"
#include "graders/kit/threads.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// A drawing of a bigger tree is no picture.
using Lines = std::vector<std::string>;
Lines drawn(const Draft& draft, const std::function<Lines()>& draw) {
  return draft.tree.nodes() > 300 ? Lines() : draw();
}

std::string case_of(const Draft& draft) {
  return fmt::format("{} nodes after {} tokens, max_emit {}", draft.tree.nodes(),
                     draft.context_length + 1, draft.max_emit);
}

/// Compares by words, which is quicker than to say what is wrong.
bool is_built(const Tree& tree, const BuildCall& build, std::size_t t) {
  std::vector<std::uint64_t> want(static_cast<std::size_t>(build.args.mask_words));
  for (std::int32_t node = -1; node < tree.nodes(); ++node) {
    std::ranges::fill(want, 0);
    const auto see = [&](std::size_t slot) { want[slot / 64] |= std::uint64_t{1} << slot % 64; };
    see(0);
    for (std::int32_t above = node; above >= 0; above = tree.parent[std::size_t(above)])
      see(static_cast<std::size_t>(above) + 1);
    const std::size_t row = build.trees.first_row(t) + static_cast<std::size_t>(node + 1);
    if (!std::ranges::equal(build.words(row), want)) return false;
  }
  return true;
}

void require_mask(Probe& probe, const Draft& draft, const std::vector<std::vector<bool>>& got) {
  const auto want = visible(draft.tree);
  for (std::size_t row = 0; row < want.size(); ++row)
    for (std::size_t j = 0; j < got[row].size(); ++j) {
      const bool wanted = j < want.size() && want[row][j];
      if (got[row][j] == wanted) continue;
      const std::string slot = j >= want.size() ? "a slot that the tree does not have"
                               : j == row       ? "its own slot"
                               : wanted         ? "an ancestor's slot"
                                                : "a slot that is no ancestor's";
      auto cut = got;
      for (auto& bits : cut) bits.resize(want.size());
      probe.fail(fmt::format("mask bit [{}][{}] is {}, want {}: row {} {} {} ({} nodes)", row, j,
                             int{got[row][j]}, int{wanted}, row, wanted ? "does not see" : "sees",
                             slot, draft.tree.nodes()),
                 drawn(draft, [&] { return draw_masks(draft, cut); }));
    }
}

void require_positions(Probe& probe, const Draft& draft, std::span<const std::int64_t> got) {
  const auto depth = depths(draft.tree);
  for (std::size_t row = 0; row < depth.size(); ++row) {
    const std::int64_t want = draft.context_length + depth[row];
    if (got[row] == want) continue;
    probe.fail(fmt::format("position[{}] is {}, want {}: depth {} after {} committed tokens", row,
                           got[row], want, depth[row], draft.context_length),
               drawn(draft, [&] { return draw_positions(draft, got); }));
  }
}

/// The round in which the first wrong token was emitted, drawn.
std::vector<std::string> draw_round(const Problem& problem, const Model& model, std::size_t r,
                                    const std::vector<std::int32_t>& got, std::size_t wrong) {
  const auto prompt = std::ssize(problem.prompts[r].tokens);
  std::int64_t known = 0;
  for (const std::int64_t at : model.known_at(r))
    if (at - prompt <= static_cast<std::int64_t>(wrong)) known = at;
  if (known == 0) return {};
  const Draft draft = draft_at(problem, r, known);
  Walk walk;
  const std::int64_t from = known - prompt;
  const std::int64_t to = std::min(std::ssize(got), from + draft.tree.rows());
  walk.emit.assign(got.begin() + from, got.begin() + std::max(from, to));
  std::int32_t tip = -1;  // the nodes that spell it, as far as there are any
  for (const std::int32_t token : walk.emit)
    for (std::int32_t node = tip + 1; node < draft.tree.nodes(); ++node)
      if (draft.tree.parent[std::size_t(node)] == tip &&
          draft.tree.token[std::size_t(node)] == token) {
        walk.path.push_back(tip = node);
        break;
      }
  auto lines = draw_walks(*problem.language, draft, walk);
  lines.insert(lines.begin(),
               fmt::format("request {}, the pass that began with {} tokens known:", r, known));
  return lines;
}

void require_tokens(Probe& probe, const Problem& problem, const Model& model, std::size_t r,
                    const std::vector<std::int32_t>& got, const std::vector<std::int32_t>& want) {
  const auto [at, wanted] = std::ranges::mismatch(got, want);
  if (at == got.end() && wanted == want.end()) return;
  const auto place = static_cast<std::size_t>(at - got.begin());
  const std::string what =
      at == got.end() ? fmt::format("ends after {} tokens, greedy decoding goes on with {}",
                                    got.size(), *wanted)
      : wanted == want.end()
          ? fmt::format("emits {} tokens, greedy decoding ends after {}", got.size(), want.size())
          : fmt::format("emits {} as token {}, greedy decoding says {}", *at, place + 1, *wanted);
  probe.fail(fmt::format("request {} {}", r, what), draw_round(problem, model, r, got, place));
}

}  // namespace

std::int64_t require_right(Probe& probe, const Batch& batch, const CallOptions& options) {
  VerifyCall verify(batch, options);
  probe.run_ok(verify);
  return require_walks(probe, batch, verify);
}

std::int64_t require_walks(Probe& probe, const Batch& batch, const VerifyCall& verify) {
  std::int64_t missed = 0;
  const Draft* worst = nullptr;
  Walk shown;
  std::string why;
  for (std::size_t t = 0; t < batch.drafts.size(); ++t) {
    const Draft& draft = batch.drafts[t];
    std::string complaint;
    Walk got = verify.walk(t, &complaint);
    if (complaint.empty()) complaint = fault(*batch.language, draft, got).value_or("");
    if (complaint.empty())
      missed += std::ssize(greedy(*batch.language, draft).path) - std::ssize(got.path);
    if (complaint.empty() || (worst != nullptr && worst->tree.nodes() <= draft.tree.nodes()))
      continue;
    worst = &draft;
    shown = std::move(got);
    why = std::move(complaint);
  }
  if (worst != nullptr)
    probe.fail(fmt::format("{} ({})", why, case_of(*worst)),
               drawn(*worst, [&] { return draw_walks(*batch.language, *worst, shown); }));
  return missed;
}

void require_right_row_alone(Probe& probe, const Language& language, Rng& rng) {
  CallOptions options;
  options.stride_extra = (std::int64_t{1} << 32) - language.vocab();
  require_right(probe, Batch{&language, {draft_after(language, 3, rng)}}, options);
}

void require_built(Probe& probe, const Batch& batch, const CallOptions& options, BuiltParts parts) {
  BuildCall build(batch, options);
  probe.run_ok(build);
  for (std::size_t t = 0; t < batch.drafts.size(); ++t) {
    if (parts.masks && !is_built(batch.drafts[t].tree, build, t))
      require_mask(probe, batch.drafts[t], build.mask(t));
    if (parts.positions) require_positions(probe, batch.drafts[t], build.positions(t));
  }
}

void require_chain_built(Probe& probe, const Draft& chain, const BuildCall& build, std::size_t t,
                         BuiltParts parts) {
  const auto words = static_cast<std::size_t>(build.args.mask_words);
  const std::span<const std::int64_t> positions = build.positions(t);
  for (std::size_t row = 0; row < positions.size(); ++row) {
    const std::int64_t want = chain.context_length + static_cast<std::int64_t>(row);
    if (parts.positions && positions[row] != want)
      probe.fail(fmt::format("position[{}] of a chain is {}, want {}", row, positions[row], want));
    if (!parts.masks) continue;
    const auto got = build.words(build.trees.first_row(t) + row);
    for (std::size_t word = 0; word < words; ++word) {
      const std::uint64_t sees = word < row / 64   ? ~std::uint64_t{0}
                                 : word > row / 64 ? 0
                                                   : ~std::uint64_t{0} >> (63 - row % 64);
      if (got[word] != sees)
        probe.fail(fmt::format("mask word [{}][{}] of a chain is {:#x}, want {:#x}", row, word,
                               got[word], sees));
    }
  }
}

void require_deep_chain_built(Probe& probe, Rng& rng, BuiltParts parts) {
  const Language language(rng.integer(11, 30), rng);
  Draft chain = draft_after(language, 3, rng);
  chain.tree = late_path(language, chain.root, 0, 64 * rng.integer(512, 514));
  const Batch alone{&language, {chain}};
  BuildCall build(alone);
  probe.run_ok(build);
  require_chain_built(probe, chain, build, 0, parts);
}

void require_large_tree_built(Probe& probe, Rng& rng, const LargeTree& asked, BuiltParts parts) {
  const Language language(rng.integer(11, 30), rng);
  Draft large = draft_after(language, 5, rng);
  large.tree = large_random_tree(language, large.root, asked.nodes, asked.nodes / 32, rng);
  Batch batch{&language, {large}};
  if (!asked.alone)
    batch.drafts = {draft_after(language, 3, rng), large, draft_after(language, 7, rng)};
  CallOptions options;
  options.threads = asked.threads;
  options.spare_words = asked.spare_words;
  require_built(probe, batch, options, parts);
}

void require_large_tree_watched(Probe& probe, Rng& rng, const LargeTree& asked) {
  probe.restart();
  kit::watched(
      probe, asked.threads, [&] { require_large_tree_built(probe, rng, asked); }, false);
}

void require_large_trees_shared(Probe& probe, Rng& rng, int threads) {
  const Language language(rng.integer(1000, 1200), rng);
  const Batch batch = large_trees(language, rng);
  CallOptions options;
  options.threads = threads;
  VerifyCall verify(batch, options);
  for (int turn = 0; turn < 10; ++turn) {
    probe.run_ok(verify);
    require_walks(probe, batch, verify);
  }
  require_built(probe, batch, options);
}

void require_last_refused(Probe& probe, const Batch& batch) {
  BuildCall build(batch);
  build.context_length.back() = -1;
  kit::require_refused(probe, build, DFLASH_BAD_ARGUMENT);
  Batch wider = batch;  // by one row of one tree
  wider.drafts.back().tree = late_path(*batch.language, batch.drafts.back().root, 64, 0);
  BuildCall narrow(wider);
  --narrow.args.mask_words;
  kit::require_refused(probe, narrow, DFLASH_BAD_ARGUMENT);
  VerifyCall verify(batch);
  verify.max_emit.back() = -1;
  kit::require_refused(probe, verify, DFLASH_BAD_ARGUMENT);
  verify.max_emit.back() = 1;
  verify.trees.node_start.back() = -1;
  kit::require_refused(probe, verify, DFLASH_BAD_ARGUMENT);
}

void require_last_refused(Probe& probe, const Problem& problem) {
  GenerateCall generate(problem);
  generate.max_new.back() = -1;
  kit::require_refused(probe, generate, DFLASH_BAD_ARGUMENT);
}

void require_large_trees_refused(Probe& probe, Rng& rng) {
  constexpr std::int64_t kMostNodes = 65'535;
  const Language language(rng.integer(3, 9), rng);
  Draft draft = draft_after(language, 3, rng);
  const auto spoil = [&](std::span<std::int32_t> parent) {
    const auto node = std::ssize(parent) - rng.integer(1, 9);
    parent[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(node);
  };
  draft.tree = late_path(language, draft.root, kMostNodes, 0);
  VerifyCall verify({&language, {draft}});
  spoil(verify.trees.parent);
  kit::require_refused(probe, verify, DFLASH_BAD_ARGUMENT);
  const auto refuse_cramped = [&](std::int64_t words) {
    CallOptions options;
    options.spare_words = -words;
    BuildCall cramped({&language, {draft}}, options);
    kit::require_refused(probe, cramped, DFLASH_BAD_ARGUMENT);
  };
  refuse_cramped(rng.integer(1000, 1023));

  Problem problem{&language, {random_prompt(language, 3, 4, rng)}, kMostNodes, {}};
  problem.drafter = [&draft](std::size_t, std::int64_t, State) { return draft.tree; };
  bool spoilt = false;
  problem.spoil_draft = [&](DflashDraft&, CallbackRequest& raw) {
    const auto nodes = static_cast<std::size_t>(raw.array<std::int64_t>(3)[0]);
    spoilt = nodes == kMostNodes;
    if (spoilt) spoil(raw.array<std::int32_t>(4).first(nodes));
  };
  GenerateCall generate(problem);
  run_watched(probe, generate);
  if (spoilt && (generate.returned != DFLASH_BAD_ARGUMENT || generate.model->forwards() > 0))
    probe.fail("a draft of very many nodes is not refused where one of the last is its own parent");

  draft.tree = late_path(language, draft.root, 64 * rng.integer(129, 140), 0);
  refuse_cramped(1);  // the last row has none
  BuildCall build({&language, {draft}});
  spoil(build.trees.parent);
  kit::require_refused(probe, build, DFLASH_BAD_ARGUMENT);
}

void run_watched(Probe& probe, GenerateCall& generate) {
  const auto& broken = generate.model->violation();
  try {
    probe.run(generate);
  } catch (const CheckEnded&) {
    if (!broken) throw;  // else the broken rule came first, and says more than how it ended
  }
  if (broken) probe.fail(broken->text, broken->drawing);
}

Answer require_right(Probe& probe, const Problem& problem, const CallOptions& options) {
  GenerateCall generate(problem, options);
  run_watched(probe, generate);
  if (generate.returned != 0)
    probe.fail(fmt::format("dflash_generate returned {}, want 0", generate.returned));
  Answer answer;
  answer.model = generate.model;
  for (std::size_t r = 0; r < problem.prompts.size(); ++r) {
    const std::int64_t most = problem.prompts[r].max_new;
    const std::int64_t count = generate.num_emit(r);
    if (count < 0 || count > most)
      probe.fail(fmt::format("num_emit[{}] is {}, max_new is {}", r, count, most));
    answer.expected.push_back(expect(problem, r));
    require_tokens(probe, problem, *generate.model, r, generate.emitted(r),
                   answer.expected[r].emit);
    if (generate.wrote_beyond(r))
      probe.fail(fmt::format("emit of request {} was written beyond max_new = {}", r, most));
    answer.rounds.push_back(generate.rounds(r));
    answer.accepted.push_back(generate.accepted(r));
  }
  return answer;
}

void require_right_around(Probe& probe, const Problem& problem,
                          const std::function<void()>& between) {
  const std::int64_t before = require_right(probe, problem).model->forwards();
  between();
  const std::int64_t after = require_right(probe, problem).model->forwards();
  if (before != after)
    probe.fail(
        fmt::format("{} forward passes after a call that failed, {} before it", after, before));
}

void require_counts(Probe& probe, const Answer& answer, bool one_path) {
  for (std::size_t r = 0; r < answer.expected.size(); ++r) {
    const Expected& want = answer.expected[r];
    const std::int64_t passes = std::ssize(answer.model->known_at(r));
    if (answer.rounds[r] != passes)
      probe.fail(fmt::format("rounds[{}] is {}, want {}", r, answer.rounds[r], passes));
    const std::int64_t got = answer.accepted[r];
    // With more passes than needed other nodes are accepted; their number is not ours to know.
    if (one_path && answer.model->whole_drafts() && passes == want.rounds && got != want.accepted)
      probe.fail(fmt::format("accepted[{}] is {}, want {} of {} emitted tokens", r, got,
                             want.accepted, want.emit.size()));
    // Every round but the last brings a bonus.
    const std::int64_t least = std::ssize(want.emit) - passes;
    if (got < least || got > least + (passes > 0 ? 1 : 0))
      probe.fail(fmt::format("accepted[{}] is {} of {} tokens emitted in {} rounds", r, got,
                             want.emit.size(), passes));
  }
}

void require_fewest_passes(Probe& probe, const Answer& answer) {
  const std::int64_t want = answer.fewest_forwards();
  const std::int64_t made = answer.model->forwards();
  if (made > want)
    probe.fail(fmt::format("{} forward passes, want {} with these drafts", made, want));
}

std::int64_t Answer::fewest_forwards() const {
  std::int64_t most = 0;
  for (const Expected& each : expected) most = std::max(most, each.rounds);
  return most;
}

std::int64_t Answer::fewest_rows() const {
  std::int64_t sum = 0;
  for (const Expected& each : expected) sum += each.rows;
  return sum;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
