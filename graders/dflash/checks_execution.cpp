// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <fmt/format.h>

#include "batches.h"
#include "freed.h"
#include "graders/kit/memory.h"
#include "graders/kit/threads.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"
#include "rows.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

TreePlan random_chain(std::int64_t nodes, Rng& rng) {
  const std::int64_t correct = rng.integer(0, nodes);
  return chain_plan(correct, nodes - correct);
}

/// Chains: verification is asked nothing about branches here.
Batch random_chains(const Language& language, int trees, Rng& rng) {
  Batch batch{&language};
  for (int t = 0; t < trees; ++t)
    batch.drafts.push_back(random_draft(language, random_chain(rng.integer(0, 30), rng), rng));
  return batch;
}

Batch random_trees(const Language& language, int trees, Rng& rng) {
  Batch batch{&language};
  for (int t = 0; t < trees; ++t)
    batch.drafts.push_back(random_draft(language, random_plan(rng.integer(0, 70), rng), rng));
  return batch;
}

Problem random_problem(const Language& language, Rng& rng) {
  Problem problem{&language, {}, 16, chain_drafter(language, rng.seed(), 0, 16)};
  for (int r = 0; r < 3; ++r)
    problem.prompts.push_back(random_prompt(language, rng.integer(1, 20), 12, rng));
  return problem;
}

void require_right_trees(Probe& probe, const Language& language, int trees,
                         const CallOptions& options, Rng& rng) {
  const Batch chains = random_chains(language, trees, rng);
  require_built(probe, random_trees(language, trees, rng), options);
  require_right(probe, chains, options);
}

/// Rows of logits that start at any float are not copied to where vectors would rather have them.
void require_no_copy(Probe& probe) {
  Rng rng = probe.begin_case("copies");
  const Language language(32'768 + rng.integer(-99, 99), rng);
  const Batch batch{&language, {random_draft(language, random_chain(63, rng), rng)}};
  CallOptions options;
  options.placement = {64, 8};
  options.stride_extra = rng.integer(1, 7);
  VerifyCall verify(batch, options);
  verify.measure_memory = true;
  probe.restart();
  probe.run_ok(verify);
  require_walks(probe, batch, verify);
  const std::int64_t logits = 64 * language.vocab() * 4;
  if (verify.peak_bytes && *verify.peak_bytes > kit::kProcessBytes + logits / 10)
    probe.fail(fmt::format("holds {:.2f} MiB beside {:.2f} MiB of logits",
                           kit::mib(*verify.peak_bytes), kit::mib(logits)));
}

// Arrays that start 8 bytes after a multiple of 64, or at any multiple of 8; rows of logits at any
// float. Each ends at a page that faults, those of tokens and nodes where these fill them.
void unaligned_pointers(Probe& probe) {
  for (const std::size_t skew : {8, 24, 40, 56}) {
    Rng rng = probe.begin_case(fmt::format("skew_{}", skew));
    const Language language(rng.integer(60, 140), rng);
    CallOptions options;
    options.placement = {64, skew};
    options.stride_extra = rng.integer(0, 7);
    require_right_trees(probe, language, 9, options, rng);
    require_right(probe, random_problem(language, rng), options);
    const auto rows = static_cast<std::int64_t>((64 - skew) / 4) + 16 * rng.integer(0, 2);
    require_right(probe, whole_chain(language, rows, rng), options);
  }
  require_no_copy(probe);
}

// Rows of logits, and of emitted tokens, more than 2^31 or 2^32 elements, or bytes, behind each
// other. What lies between them is not there.
void far_rows(Probe& probe) {
  for (const std::int64_t stride : kit::kFarStrides) {
    Rng rng = probe.begin_case(
        fmt::format("stride_near_2_to_the_{}", std::countr_zero(std::uint64_t(stride))));
    const Language language(rng.integer(60, 140), rng);
    CallOptions options;
    options.far = {"logits", stride + rng.integer(0, 99)};
    Batch batch{&language};
    for (int t = 0; t < 2; ++t)
      batch.drafts.push_back(random_draft(language, chain_plan(1, 0), rng));
    VerifyCall verify(batch, options);
    probe.run_ok(verify);
    require_walks(probe, batch, verify);
    options.far->array = "emit";
    Problem problem = random_problem(language, rng);
    problem.prompts.resize(std::min<std::size_t>(problem.prompts.size(), 4));
    require_right(probe, problem, options);
  }
}

/// Chains in four places among trees without nodes: of 16 threads that share the trees in blocks,
/// four have all the work. `block`: of 16, and the chains in each place.
Batch chains_in_four_places(const Language& language, std::size_t block, Rng& rng) {
  const Draft empty = draft_after(language, rng.integer(1, 9), rng);
  Draft chain = empty;
  chain.tree = late_path(language, chain.root, 0, rng.integer(124, 127));
  Batch batch{&language, std::vector<Draft>(16 * block, empty)};
  for (const std::size_t place : {0, 4, 8, 12})
    std::ranges::fill(std::span(batch.drafts).subspan(place * block, block), chain);
  return batch;
}

template <class AnyCall>
kit::AskWith asking(Probe& probe, AnyCall& call) {
  return [&](int threads) {
    call.args.num_threads = threads;
    probe.run_ok(call);
  };
}

/// Masks of so many chains that threads can be counted. Each row is the one above and one bit more,
/// for which most have to wait until it is written: it takes longer than to write as much.
void limit_threads_of_masks(Probe& probe, Rng rng) {
  const Language language(rng.integer(11, 40), rng);
  const Batch many = chains_in_four_places(language, 6500, rng);
  const Batch few = chains_in_four_places(language, 500, rng);
  BuildCall build(many);
  BuildCall less(few);
  kit::require_thread_limit(probe, 1, asking(probe, build), asking(probe, less));
  // A team need not be a power of two.
  const auto ask = [&] { asking(probe, build)(3); };
  for (int asks = 0; asks < 4; ++asks) kit::watched(probe, 3, ask, asks > 0);
  for (std::size_t t = 0; t < many.drafts.size(); ++t)
    require_chain_built(probe, many.drafts[t], build, t);
}

/// So many chains over so large a vocabulary that threads can be counted.
struct LongRows {
  int chains;
  std::int64_t nodes;  // of each at most
  std::int64_t vocab;
};
void limit_threads(Probe& probe, Rng rng, const LongRows& asked,
                   std::initializer_list<int> counts) {
  const Language language(asked.vocab + rng.integer(0, 999), rng);
  Batch batch{&language};
  for (int t = 0; t < asked.chains; ++t) {
    const std::int64_t nodes = rng.integer(asked.nodes - asked.nodes / 7, asked.nodes);
    batch.drafts.push_back(random_draft(language, chain_plan(nodes, 0), rng));
  }
  VerifyCall verify(batch);
  for (const int threads : counts) {
    kit::require_thread_limit(probe, threads, asking(probe, verify));
    require_walks(probe, batch, verify);
  }
}

// Who shares each row on its own has threads at work together most of the time only where rows are
// about as long as they may be.
void thread_limit(Probe& probe) {
  limit_threads(probe, probe.begin_case("so_many_threads_at_most"), {8, 1, 1'047'000}, {1, 3});
  limit_threads(probe, probe.begin_case("two_threads_of_many_trees"), {100, 14, 12'000}, {2});
  limit_threads_of_masks(probe, probe.begin_case("threads_for_masks"));
  Rng rng = probe.begin_case("threads_for_a_large_tree");
  require_large_tree_watched(probe, rng, {8200, 1, true, rng.integer(2000, 2099)});
}

/// A vocabulary that is worth splitting, one tree: the choice on either side of every seam, and
/// equals of it on the other side. Of very many threads, half have next to nothing before it. Then
/// a row whose largest is subnormal and the very last, behind what divides evenly.
void share_rows(Probe& probe, int threads) {
  Rng rng = probe.begin_case(fmt::format("wide_rows_{}_threads", threads));
  const bool many = threads == kit::kManyThreads;
  const std::int64_t even = threads * std::int64_t{many ? 64 : 4096};
  const std::int64_t most = many ? 1 << 20 : rng.integer(120'000, 152'000);
  Language language(most / even * even + 1, rng);
  Draft draft = draft_after(language, 5, rng);
  while (many && language.choice(draft.root) < language.vocab() / 2)
    draft = draft_after(language, 5, rng);
  draft.tree.add(-1, language.choice(draft.root));
  const auto last = static_cast<std::int32_t>(language.vocab()) - 1;
  const State text = row_states(language, draft.tree, draft.root)[1];
  language.say(text, last);
  // What follows is wrong, and right when it is cut to 16 bits.
  draft.tree.add(0, last ^ (1 << 16));
  draft.max_emit = 3;
  Batch batch{&language, {draft}};
  CallOptions options;
  options.threads = threads;
  // What no part of the row may begin with.
  options.stride_extra = rng.integer(4096, 5000);
  options.between = kit::kInfinity;
  batch.logits = [&](State row_text, std::span<float> row) {
    const auto best = static_cast<std::size_t>(language.choice(row_text));
    if (row_text == text) return write_row(row, best, RowKind::subnormal, rng);
    language.logits(row_text, row);
    for (std::size_t j = best + 1; j < row.size(); j += row.size() / 40) row[j] = row[best];
  };
  require_right(probe, batch, options);
}

/// A row whose largest is a zero, with zeros of both signs in the parts of all threads behind it.
void share_zeros(Probe& probe, int threads) {
  Rng rng = probe.begin_case(fmt::format("wide_row_of_zeros_{}_threads", threads));
  Language language(rng.integer(66'000, 70'000), rng);
  Batch batch{&language, {draft_after(language, 7, rng)}};
  const std::int64_t first = rng.integer(1, language.vocab() / 5);
  language.say(batch.drafts.front().root, static_cast<std::int32_t>(first));
  batch.logits = [&](State, std::span<float> row) {
    write_row(row, static_cast<std::size_t>(first), RowKind::zeros, rng);
  };
  CallOptions options;
  options.threads = threads;
  require_right(probe, batch, options);
}

/// Trees that are worth sharing. Their rows, one more than nodes, do not divide evenly. Those of a
/// tree alone fill all words of the mask, or have one bit in the last.
void share_large_trees(Probe& probe, int threads) {
  Rng rng = probe.begin_case(fmt::format("large_trees_{}_threads", threads));
  const std::int64_t words = 21 * rng.integer(6, 7) + 1;
  if (threads <= 3)
    require_large_tree_built(probe, rng, {64 * words - (threads - 2), threads, true});
  const std::int64_t nodes =
      rng.integer(2100, 2600) / threads * threads + rng.integer(0, threads - 2);
  require_large_tree_built(probe, rng, {nodes, threads});
  const Language language(rng.integer(11, 30), rng);
  CallOptions options;
  options.threads = threads;
  require_right(probe, Batch{&language, {random_draft(language, random_chain(nodes, rng), rng)}},
                options);
}

void thread_counts(Probe& probe) {
  for (const int threads : {1, 2, 3, 7, 33}) {
    Rng rng = probe.begin_case(fmt::format("{}_threads", threads));
    const Language language(rng.integer(60, 140), rng);
    CallOptions options;
    options.threads = threads;
    for (const int trees : {1, threads - 1, threads + 1, 40, 100})
      if (trees >= 1) require_right_trees(probe, language, trees, options, rng);
    require_right(probe, random_problem(language, rng), options);
  }
  for (const int threads : {2, 3, 7}) share_large_trees(probe, threads);
  Rng rng = probe.begin_case("large_trees_of_two_threads");
  require_large_trees_shared(probe, rng, 2);
  for (const int threads : {2, 3, 5, kit::kManyThreads}) share_rows(probe, threads);
  for (const int threads : {2, 5}) share_zeros(probe, threads);
  limit_threads(probe, probe.begin_case("threads_of_many_trees"), {36, 0, 450'000}, {1, 2});
  limit_threads_of_masks(probe, probe.begin_case("threads_for_masks"));
}

// The same sizes again and again with other contents, in one process: nothing is kept from before.
void fresh_answers(Probe& probe) {
  Rng sizes = probe.begin_case("sizes");
  std::vector<std::int64_t> nodes;
  for (int t = 0; t < 6; ++t) nodes.push_back(sizes.integer(3, 20));
  const std::int64_t vocab = sizes.integer(20, 40);
  for (int turn = 0; turn < 5; ++turn) {
    Rng rng = probe.begin_case(fmt::format("again_{}", turn));
    const Language language(vocab, rng);
    Batch batch{&language};
    for (const std::int64_t count : nodes)
      batch.drafts.push_back(random_draft(language, random_chain(count, rng), rng));
    require_built(probe, batch);
    require_right(probe, batch);
    Problem problem{&language,
                    {random_prompt(language, 7, 12, rng)},
                    12,
                    chain_drafter(language, rng.seed(), 0, 12)};
    require_right(probe, problem);
  }
}

void empty_sizes(Probe& probe) {
  Rng rng = probe.begin_case("nothing_at_all");
  const Language language(rng.integer(11, 40), rng);
  require_built(probe, {&language});
  require_right(probe, Batch{&language});
  require_right(probe, Problem{&language, {}, 4, chain_drafter(language, 1, 0, 4)});

  rng = probe.begin_case("trees_without_nodes");
  Batch batch{&language};
  for (int t = 0; t < 5; ++t) batch.drafts.push_back(draft_after(language, 1 + t, rng));
  require_built(probe, batch);
  require_right(probe, batch);

  rng = probe.begin_case("row_alone");
  require_right_row_alone(probe, language, rng);

  rng = probe.begin_case("many_words_without_nodes");
  CallOptions options;
  options.spare_words = 1 << 16;
  require_built(probe, {&language, {draft_after(language, 3, rng)}}, options);

  rng = probe.begin_case("many_trees_without_nodes");
  batch = one_right_node(language, rng);
  require_built(probe, batch);
  require_right(probe, batch);

  rng = probe.begin_case("no_budget");
  const auto nothing = [](std::size_t, std::int64_t, State) { return Tree{}; };
  require_right(probe, Problem{&language, {random_prompt(language, 1, 9, rng)}, 0, nothing});

  rng = probe.begin_case("many_requests_without_budget");
  require_right(probe, many_requests(language, 0, 2, rng));

  rng = probe.begin_case("no_draft_ever");
  const std::int64_t tokens = rng.integer(257, 280);  // more rounds than a byte counts
  const Answer seen = require_right(
      probe, Problem{&language, {random_prompt(language, 3, tokens, rng)}, 8, nothing});
  if (seen.model->forwards() != tokens)
    probe.fail(fmt::format("{} forward passes for {} tokens without drafts", seen.model->forwards(),
                           tokens));
  require_counts(probe, seen);

  rng = probe.begin_case("nothing_wanted");
  require_right(probe,
                Problem{&language,
                        {random_prompt(language, 3, 0, rng), random_prompt(language, 1, 0, rng)},
                        8,
                        chain_drafter(language, rng.seed(), 0, 8)});
}

void require_failure(Probe& probe, const char* callback, const Problem& problem, bool unusual) {
  GenerateCall generate(problem);
  generate.unusual_floats = unusual;
  run_watched(probe, generate);
  if (generate.returned != problem.failure)
    probe.fail(fmt::format("dflash_generate returned {} after `{}` returned {}", generate.returned,
                           callback, problem.failure));
  if (generate.model->calls_after_failure() > 0)
    probe.fail(fmt::format("{} callbacks after the one that failed",
                           generate.model->calls_after_failure()));
}

// A failing drafter, target or cache ends the call with its result, and nobody is asked again. The
// next call, of another text, has nothing of the round that failed; nor does it stay allocated. The
// caller's float controls are as they were, the usual ones or others.
void failing_callbacks(Probe& probe) {
  using enum Problem::Callback;
  constexpr std::pair<const char*, Problem::Callback> kCallbacks[] = {
      {"draft", draft}, {"forward", forward}, {"keep", keep}};
  for (const auto& [name, callback] : kCallbacks)
    for (const std::int64_t call : {1, 3}) {
      Rng rng = probe.begin_case(fmt::format("{}_{}", name, call));
      const Language language(rng.integer(20, 40), rng);
      Problem problem = random_problem(language, rng);
      for (Prompt& prompt : problem.prompts) prompt.max_new = 60;
      problem.failing = callback;
      problem.fail_at = call;
      // Below and above zero, and nothing in 32 bits.
      problem.failure = call == 1 ? -rng.integer(4000, 5000) : rng.integer(1, 9) << 32;
      require_right_around(probe, one_pass(language, 3, rng), [&, name = name] {
        for (const bool unusual : {false, true}) require_failure(probe, name, problem, unusual);
      });
    }
  for (const auto& [name, callback] : kCallbacks) {
    Rng rng = probe.begin_case(fmt::format("{}_again_and_again", name));
    require_freed(probe, rng, callback);
    require_passes_freed(probe, rng, callback);
  }
  Rng rng = probe.begin_case("trees_again_and_again");
  require_trees_freed(probe, rng);
}

}  // namespace

std::vector<Check> execution_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"empty_sizes", "no trees, no nodes, no requests, nothing wanted", robustness, 1, major},
       empty_sizes},
      {{"thread_counts", "trees lost or doubled between threads, seams within a row", robustness, 1,
        major},
       thread_counts},
      {{"thread_limit", "more threads at work than num_threads", robustness, 1, major},
       thread_limit},
      {{"fresh_answers", "answers kept from an earlier call", robustness, 2, critical},
       fresh_answers},
      {{"far_rows", "offsets of rows in 32 bits", robustness, 2, major}, far_rows},
      {{"unaligned_pointers", "wider alignment than promised, reads behind the end", robustness, 2,
        major},
       unaligned_pointers},
      {{"failing_callbacks", "a failing target that goes unnoticed", robustness, 0.5, minor},
       failing_callbacks},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
