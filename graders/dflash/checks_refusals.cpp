// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graders/kit/refusals.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Flaw;
constexpr std::int64_t kBad = DFLASH_BAD_ARGUMENT;

/// What every function refuses in the same way.
template <class What>
std::vector<Flaw<What>> unsupported_flaws() {
  return {{"later_abi", [](What& c) { ++c.args.abi_version; }},
          {"unknown_device", [](What& c) { c.args.device = 77; }}};
}

/// What either function that takes trees refuses. The batch has three trees of 4 nodes.
template <class What>
std::vector<Flaw<What>> tree_flaws() {
  return {{"no_threads", [](What& c) { c.args.num_threads = 0; }},
          {"negative_count", [](What& c) { c.args.num_trees = -1; }},
          {"parent_is_itself", [](What& c) { c.trees.parent[5] = 1; }},
          {"parent_comes_later", [](What& c) { c.trees.parent[8] = 3; }},
          {"parent_below_root", [](What& c) { c.trees.parent[11] = -2; }},
          {"first_node_of_itself", [](What& c) { c.trees.parent[4] = 0; }},
          {"parent_far_away", [](What& c) { c.trees.parent[9] = 1 << 30; }},
          {"starts_above_zero", [](What& c) { c.trees.node_start[0] = 1; }},
          {"starts_descend", [](What& c) { c.trees.node_start[2] = 3; }}};
}

Batch three_trees(const Language& language, Rng& rng) {
  Batch batch{&language};
  for (int t = 0; t < 3; ++t)
    batch.drafts.push_back(random_draft(language, random_plan(4, rng), rng));
  return batch;
}

template <class What>
void require_trees_refused(Probe& probe, const char* function, const std::vector<Flaw<What>>& flaws,
                           std::int64_t want) {
  for (const Flaw<What>& flaw : flaws) {
    Rng rng = probe.begin_case(fmt::format("{}_{}", function, flaw.name));
    const Language language(rng.integer(11, 40), rng);
    What call(three_trees(language, rng));
    flaw.spoil(call);
    kit::require_refused(probe, call, want);
  }
}

void require_generate_refused(Probe& probe, const std::vector<Flaw<GenerateCall>>& flaws,
                              std::int64_t want) {
  for (const auto& flaw : flaws) {
    Rng rng = probe.begin_case(fmt::format("generate_{}", flaw.name));
    const Language language(rng.integer(11, 40), rng);
    Problem problem{&language, {}, 4, random_drafter(language, rng.seed(), 0, 4)};
    for (int r = 0; r < 2; ++r) problem.prompts.push_back(random_prompt(language, 5, 12, rng));
    GenerateCall generate(problem);
    flaw.spoil(generate);
    kit::require_refused(probe, generate, want);
    if (generate.model->forwards() > 0)
      probe.fail("the target was asked by a call that has to be refused");
  }
}

void bad_arguments(Probe& probe) {
  using B = BuildCall;
  using V = VerifyCall;
  using G = GenerateCall;
  require_trees_refused(probe, "build", unsupported_flaws<B>(), DFLASH_UNSUPPORTED);
  require_trees_refused(probe, "build", tree_flaws<B>(), kBad);
  require_trees_refused<B>(probe, "build",
                           {{"no_words", [](B& c) { c.args.mask_words = 0; }},
                            {"negative_context", [](B& c) { c.context_length[2] = -1; }}},
                           kBad);
  for (const std::int64_t nodes : {64, 128}) {  // one row more than the mask has bits
    Rng rng = probe.begin_case(fmt::format("build_words_for_{}_nodes", nodes));
    const Language language(rng.integer(130, 160), rng);
    BuildCall build({&language, {random_draft(language, random_plan(nodes, rng), rng)}});
    --build.args.mask_words;
    kit::require_refused(probe, build, kBad);
  }
  require_trees_refused(probe, "verify", unsupported_flaws<V>(), DFLASH_UNSUPPORTED);
  require_trees_refused(probe, "verify", tree_flaws<V>(), kBad);
  require_trees_refused<V>(probe, "verify",
                           {{"no_vocabulary", [](V& c) { c.args.vocab = 0; }},
                            {"negative_ends", [](V& c) { c.args.num_eos = -1; }},
                            {"short_stride", [](V& c) { --c.args.logits_stride; }},
                            {"negative_limit", [](V& c) { c.max_emit[1] = -1; }}},
                           kBad);
  require_generate_refused(probe, unsupported_flaws<G>(), DFLASH_UNSUPPORTED);
  require_generate_refused(probe,
                           {{"no_threads", [](G& c) { c.args.num_threads = 0; }},
                            {"negative_count", [](G& c) { c.args.num_requests = -1; }},
                            {"no_vocabulary", [](G& c) { c.args.vocab = 0; }},
                            {"negative_ends", [](G& c) { c.args.num_eos = -1; }},
                            {"negative_budget", [](G& c) { c.args.draft_budget = -1; }},
                            {"short_stride", [](G& c) { c.args.emit_stride = 11; }},
                            {"negative_max_new", [](G& c) { c.max_new[1] = -1; }},
                            {"no_prompt", [](G& c) { c.prompt_start[1] = 0; }},
                            {"prompts_above_zero", [](G& c) { c.prompt_start[0] = 1; }},
                            {"prompts_descend", [](G& c) { c.prompt_start[2] = 3; }}},
                           kBad);
}

// A drafter that answers what is no tree: refused before the target is asked.
void bad_drafts(Probe& probe) {
  using Spoil = void (*)(DflashDraft&, CallbackRequest&);
  const std::pair<const char*, Spoil> flaws[] = {
      {"more_than_asked_for",
       [](DflashDraft& ask, CallbackRequest& raw) {
         for (auto& count : raw.array<std::int64_t>(3)) count = ask.budget + 1;
       }},
      {"negative_nodes",
       [](DflashDraft&, CallbackRequest& raw) {
         for (auto& count : raw.array<std::int64_t>(3)) count = -1;
       }},
      {"parents_come_later",
       [](DflashDraft&, CallbackRequest& raw) {
         for (auto& parent : raw.array<std::int32_t>(4)) parent += 3;
       }},
      {"parents_below_root", [](DflashDraft&, CallbackRequest& raw) {
         for (auto& parent : raw.array<std::int32_t>(4)) parent = -7;
       }}};
  for (const auto& [name, spoil] : flaws) {
    Rng rng = probe.begin_case(name);
    const Language language(rng.integer(11, 40), rng);
    Problem problem{&language, {}, 6, random_drafter(language, rng.seed(), 4, 6)};
    for (int r = 0; r < 2; ++r) problem.prompts.push_back(random_prompt(language, 5, 9, rng));
    problem.spoil_draft = spoil;
    GenerateCall generate(problem);
    probe.run(generate);
    if (generate.model->forwards() > 0) probe.fail("the target was asked about such a draft");
    if (generate.returned != kBad)
      probe.fail(fmt::format("dflash_generate returned {} after such a draft, want {}",
                             generate.returned, kBad));
  }
}

}  // namespace

std::vector<Check> refusals_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"bad_arguments", "arguments that make no sense, acted upon", robustness, 1, major},
       bad_arguments},
      {{"bad_drafts", "drafts that are no trees, acted upon", robustness, 0.5, minor}, bad_drafts},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
