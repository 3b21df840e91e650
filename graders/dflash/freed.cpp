// SPDX-License-Identifier: Apache-2.0
#include "freed.h"

#include <algorithm>
#include <span>

#include "call.h"
#include "graders/kit/memory.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

namespace {

constexpr std::int64_t kFailure = 77;

}  // namespace

void require_freed(Probe& probe, Rng& rng, Problem::Callback failing) {
  const Language language(rng.integer(16'000, 17'000), rng);
  Problem problem{&language, {}, 3, chain_drafter(language, rng.seed(), 3, 3)};
  // Where nothing else is allocated it is the context.
  const std::int64_t length = failing == Problem::Callback::draft ? 30'000 : 3;
  problem.prompts = {random_prompt(language, length, 6, rng)};
  problem.failing = failing;
  problem.fail_at = 1;
  problem.failure = failing == Problem::Callback::none ? 0 : kFailure;
  GenerateCall generate(problem);
  // Every call has a target that has read nothing yet.
  for (Callback& callback : std::span(generate.callbacks()).first(2))  // keep comes after these
    callback.answer = [&, answer = callback.answer](CallbackRequest& raw) {
      if (generate.model->is_over()) generate.model = std::make_shared<Model>(problem);
      return answer(raw);
    };
  kit::require_freed(probe, generate, problem.failure);
}

void require_passes_freed(Probe& probe, Rng& rng, Problem::Callback failing) {
  const Language language(rng.integer(3, 5), rng);
  const Problem problem{
      &language, std::vector<Prompt>(430, random_prompt(language, 60, 60, rng)), 51, {}};
  GenerateCall generate(problem);
  // A target that says 0 whatever it reads, as its logits are before anybody writes them.
  const auto answered = [failing](Problem::Callback callback) {
    return failing == callback ? kFailure : 0;
  };
  using enum Problem::Callback;
  const std::span<Callback> callbacks = generate.callbacks();
  callbacks[0].answer = [=](CallbackRequest& raw) {
    std::ranges::fill(raw.array<std::int64_t>(3), raw.as<DflashDraft>().budget);
    std::ranges::fill(raw.array<std::int32_t>(4), -1);
    return answered(draft);
  };
  callbacks[1].answer = [=](CallbackRequest&) { return answered(forward); };
  callbacks[2].answer = [=](CallbackRequest&) { return answered(keep); };
  kit::require_freed(probe, generate, failing == none ? 0 : kFailure);
}

void require_bad_drafts_freed(Probe& probe, Rng& rng) {
  constexpr std::int64_t kNodes = 26'000;
  const Language language(rng.integer(11, 40), rng);
  // A target that has read nothing stays for all calls: so many may ask for a draft of a token.
  constexpr std::int64_t kTokens = 60;
  Problem problem{&language, {random_prompt(language, kNodes, kTokens, rng)}, kNodes, {}};
  const Tree tree = late_path(language, {}, kNodes, 0);
  problem.drafter = [&tree](std::size_t, std::int64_t, State) { return tree; };
  problem.spoil_draft = [](DflashDraft&, CallbackRequest& raw) {
    raw.array<std::int32_t>(4).front() = -2;
  };
  GenerateCall generate(problem);
  kit::require_freed(probe, generate, DFLASH_BAD_ARGUMENT);
}

namespace {

/// Walks through large trees that end in each way: at an end, at a limit, behind the last node.
void require_walks_freed(Probe& probe, Rng& rng) {
  constexpr std::int64_t kWalks = 120;
  Language language(rng.integer(5, 9), rng);
  const std::int32_t end = nonzero_token(language, rng);
  language.end_with({end}, 0);
  Batch batch{&language};
  for (std::int64_t t = 0; t < kWalks; ++t) {
    Draft draft = draft_after(language, rng.integer(9, 30), rng);
    if (t % 3 == 0) language.say(draft.root, end);
    draft.tree = late_path(language, draft.root, rng.integer(295, 299), 4);
    draft.max_emit = t % 3 == 1 ? 2 : draft.tree.rows();
    batch.drafts.push_back(std::move(draft));
  }
  VerifyCall verify(batch);
  kit::require_freed(probe, verify);
}

}  // namespace

void require_trees_freed(Probe& probe, Rng& rng) {
  constexpr std::size_t kTrees = 120;
  const Language language(rng.integer(3, 9), rng);
  Draft draft = draft_after(language, 3, rng);
  draft.tree = late_path(language, draft.root, rng.integer(295, 299), 4);
  const Batch batch{&language, std::vector<Draft>(kTrees, draft)};
  BuildCall build(batch);
  kit::require_freed(probe, build);
  build.context_length.back() = -1;
  kit::require_freed(probe, build, DFLASH_BAD_ARGUMENT);
  build.context_length.back() = 0;
  --build.args.mask_words;
  kit::require_freed(probe, build, DFLASH_BAD_ARGUMENT);
  // So many that a number for each shows.
  draft.tree = {};
  VerifyCall verify({&language, std::vector<Draft>(14'000, draft)});
  kit::require_freed(probe, verify);
  verify.max_emit.back() = -1;
  kit::require_freed(probe, verify, DFLASH_BAD_ARGUMENT);
  require_walks_freed(probe, rng);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
