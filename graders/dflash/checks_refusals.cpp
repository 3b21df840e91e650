// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <tuple>

#include "cases.h"
#include "domain.h"
#include "freed.h"
#include "graders/kit/refusals.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "invalid_calls.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;
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
          {"starts_descend", [](What& c) { c.trees.node_start[2] = 3; }},
          {"starts_descend_from_beyond_all_nodes", [](What& c) {
             std::ranges::fill(c.trees.parent, -1);
             c.trees.node_start[1] = 40'000;
           }}};
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
  for (const std::int64_t start : {-1, 1}) {  // of no trees
    Rng rng = probe.begin_case(fmt::format("no_trees_from_{}", start));
    const Language language(rng.integer(11, 40), rng);
    BuildCall build({&language});
    VerifyCall verify({&language});
    build.trees.node_start[0] = verify.trees.node_start[0] = start;
    kit::require_refused(probe, build, kBad);
    kit::require_refused(probe, verify, kBad);
  }
  for (const std::int64_t nodes : {64, 128}) {  // one row more than the mask has bits
    Rng rng = probe.begin_case(fmt::format("build_words_for_{}_nodes", nodes));
    const Language language(rng.integer(130, 160), rng);
    // For the last tree only: those before it are not written either.
    BuildCall build({&language,
                     {random_draft(language, random_plan(3, rng), rng),
                      random_draft(language, random_plan(nodes, rng), rng)}});
    --build.args.mask_words;
    kit::require_refused(probe, build, kBad);
  }
  {
    Rng rng = probe.begin_case("build_no_words_without_nodes");  // the root's slot has no room
    const Language language(rng.integer(11, 40), rng);
    BuildCall build({&language, {draft_after(language, 3, rng), draft_after(language, 5, rng)}});
    build.args.mask_words = 0;
    kit::require_refused(probe, build, kBad);
  }
  require_trees_refused(probe, "verify", unsupported_flaws<V>(), DFLASH_UNSUPPORTED);
  require_trees_refused(probe, "verify", tree_flaws<V>(), kBad);
  require_trees_refused<V>(probe, "verify",
                           {{"no_vocabulary", [](V& c) { c.args.vocab = 0; }},
                            {"negative_ends", [](V& c) { c.args.num_eos = -1; }},
                            {"short_stride", [](V& c) { --c.args.logits_stride; }},
                            {"negative_limit", [](V& c) { c.max_emit[1] = -1; }},
                            {"parent_where_nothing_is_wanted",
                             [](V& c) {
                               c.max_emit[1] = 0;
                               c.trees.parent[6] = 2;
                             }}},
                           kBad);
  require_generate_refused(probe, unsupported_flaws<G>(), DFLASH_UNSUPPORTED);
  require_generate_refused(
      probe,
      {{"no_threads", [](G& c) { c.args.num_threads = 0; }},
       {"negative_count", [](G& c) { c.args.num_requests = -1; }},
       {"no_vocabulary", [](G& c) { c.args.vocab = 0; }},
       {"negative_ends", [](G& c) { c.args.num_eos = -1; }},
       {"negative_budget", [](G& c) { c.args.draft_budget = -1; }},
       {"short_stride", [](G& c) { c.args.emit_stride = 11; }},
       {"negative_max_new", [](G& c) { c.max_new[1] = -1; }},
       {"no_prompt", [](G& c) { c.prompt_start[1] = 0; }},
       {"no_prompt_where_nothing_is_wanted", [](G& c) { c.prompt_start[1] = c.max_new[0] = 0; }},
       {"prompts_above_zero", [](G& c) { c.prompt_start[0] = 1; }},
       {"prompts_descend", [](G& c) { c.prompt_start[2] = 3; }},
       {"prompts_descend_from_beyond_all", [](G& c) { c.prompt_start[1] = 40'000; }}},
      kBad);
  Rng rng = probe.begin_case("large_trees");
  require_large_trees_refused(probe, rng);
  // Behind as many as 16 bits can count.
  rng = probe.begin_case("last_of_many");
  const Language language(rng.integer(11, 40), rng);
  Batch batch{&language, {draft_after(language, 3, rng)}};
  batch.drafts.resize(65'537, batch.drafts.back());
  require_last_refused(probe, batch);
  require_last_refused(probe, many_requests(language, 0, 1, rng));
}

/// Spoils the answers for requests from `first` on.
using Spoil = void (*)(std::int64_t budget, std::span<std::int64_t> nodes,
                       std::span<std::int32_t> parents);
constexpr std::pair<const char*, Spoil> kSpoilt[] = {
    {"more_than_asked_for",
     [](std::int64_t budget, auto nodes, auto) { std::ranges::fill(nodes, budget + 1); }},
    {"negative_nodes", [](auto, auto nodes, auto) { std::ranges::fill(nodes, -1); }},
    {"parents_come_later",
     [](auto, auto, auto parents) {
       for (auto& parent : parents) parent += 3;
     }},
    {"parents_below_root", [](auto, auto, auto parents) { std::ranges::fill(parents, -7); }}};

void require_draft_refused(Probe& probe, Problem problem, Spoil spoil, std::size_t first) {
  bool spoilt = false;
  problem.spoil_draft = [=, &spoilt](DflashDraft& ask, CallbackRequest& raw) {
    spoilt |= ask.num_requests > static_cast<std::int64_t>(first);
    spoil(ask.budget, raw.array<std::int64_t>(3).subspan(first),
          raw.array<std::int32_t>(4).subspan(first * static_cast<std::size_t>(ask.budget)));
  };
  for (const bool unusual : {false, true}) {
    GenerateCall generate(problem);
    generate.unusual_floats = unusual;
    probe.run(generate);
    if (!spoilt && problem.prompts.back().max_new == 1) continue;  // which needs no draft
    if (generate.model->forwards() > 0) probe.fail("the target was asked about such a draft");
    if (generate.returned != kBad)
      probe.fail(fmt::format("dflash_generate returned {} after such a draft, want {}",
                             generate.returned, kBad));
  }
}

// A drafter that answers what is no tree, for all requests or the last, of which a single token may
// be wanted: refused before the target is asked, and the caller's float controls stay. The next
// call has nothing of it, nor does it stay allocated.
void bad_drafts(Probe& probe) {
  for (const auto& [name, spoil] : kSpoilt)
    for (const auto& [first, wanted] : {std::pair{0, 9}, std::pair{1, 9}, std::pair{1, 1}}) {
      Rng rng = probe.begin_case(fmt::format("{}_from_{}_of_{}", name, first, wanted));
      const Language language(rng.integer(11, 40), rng);
      Problem problem{&language, {}, 6, random_drafter(language, rng.seed(), 4, 6)};
      for (const int tokens : {9, wanted})
        problem.prompts.push_back(random_prompt(language, 5, tokens, rng));
      require_right_around(probe, one_pass(language, 2, rng), [&, spoil = spoil, first = first] {
        require_draft_refused(probe, problem, spoil, static_cast<std::size_t>(first));
      });
    }
  Rng rng = probe.begin_case("again_and_again");
  require_bad_drafts_freed(probe, rng);
}

/// The numbers of a call that flaws change; the arrays stay where they are.
auto numbers_of(BuildCall& call) {
  return std::tie(call.args, call.trees, call.context_length);
}
auto numbers_of(VerifyCall& call) {
  return std::tie(call.args, call.trees, call.max_emit);
}
auto numbers_of(GenerateCall& call) {
  return std::tie(call.args, call.prompt_start, call.max_new);
}

TreeCase case_for(const BuildCall*, const Assignment& choice, Rng& rng) {
  return build_case(choice, rng);
}
TreeCase case_for(const VerifyCall*, const Assignment& choice, Rng& rng) {
  return verify_case(choice, rng);
}
RequestCase case_for(const GenerateCall*, const Assignment& choice, Rng& rng) {
  return generate_case(choice, rng);
}

const Batch& asked(const TreeCase& made) {
  return made.batch;
}
const Problem& asked(const RequestCase& made) {
  return made.problem;
}

void require_right_again(Probe& probe, const BuildCall*, const TreeCase& made) {
  require_built(probe, made.batch, made.options);
}
void require_right_again(Probe& probe, const VerifyCall*, const TreeCase& made) {
  require_right(probe, made.batch, made.options);
}
void require_right_again(Probe& probe, const GenerateCall*, const RequestCase& made) {
  require_right(probe, made.problem, made.options);
}

void require_untouched(Probe& probe, BuildCall& call, std::int64_t want) {
  kit::require_refused(probe, call, want);
}
void require_untouched(Probe& probe, VerifyCall& call, std::int64_t want) {
  kit::require_refused(probe, call, want);
}
void require_untouched(Probe& probe, GenerateCall& call, std::int64_t want) {
  kit::require_refused(probe, call, want);
  probe.require(call.model->forwards() == 0, "asked the target although it refused the call");
}

/// A call of these classes that is good but for what is spoilt, one thing after the other. With
/// `between`, the good call is asked before and after each of them.
template <class Made>
void refuse(Probe& probe, const InvalidGroup<Made>& group, const Assignment& choice, Rng& rng,
            bool between) {
  const Made* const kind = nullptr;
  const auto made = case_for(kind, choice, rng);
  Made call(asked(made), made.options);
  const auto numbers = numbers_of(call);
  const auto good = std::apply([](const auto&... all) { return std::tuple(all...); }, numbers);
  if (between) require_right_again(probe, kind, made);
  for (const Flaw<Made>& flaw : group.flaws) {
    flaw.spoil(call);
    kit::naming_flaw(flaw.name, [&] { require_untouched(probe, call, group.want); });
    std::apply(
        [&](auto&... all) {
          std::apply([&](const auto&... before) { ((all = before), ...); }, good);
        },
        numbers);
    if (between) require_right_again(probe, kind, made);
  }
}

/// An answer of the drafter, the first or a later one, is no tree in one of its entries. The target
/// is not asked about it.
void require_draft_refused(Probe& probe, const Flaw<DraftAnswer>& flaw, std::int64_t want,
                           const RequestCase& made, std::int64_t round, std::size_t place) {
  Problem problem = made.problem;
  const Model* model = nullptr;
  std::int64_t drafts = 0;
  bool spoilt = false;
  std::int64_t passes = 0;
  problem.spoil_draft = [&](DflashDraft& ask, CallbackRequest& raw) {
    if (made.problem.spoil_draft) made.problem.spoil_draft(ask, raw);
    if (++drafts != round) return;
    passes = model->forwards();
    DraftAnswer answer{ask, raw, at_place(place, static_cast<std::size_t>(ask.num_requests))};
    flaw.spoil(answer);
    spoilt = true;
  };
  GenerateCall call(problem, made.options);
  model = call.model.get();
  run_watched(probe, call);
  if (!spoilt) return;  // so many drafts were not wanted
  probe.require(model->forwards() == passes, "asked the target about what is no tree");
  if (call.returned != want)
    probe.fail(fmt::format("dflash_generate returned {} after a draft that is none, want {}",
                           call.returned, want));
}

void refuse_drafts(Probe& probe, const InvalidGroup<DraftAnswer>& group, const Assignment& choice,
                   Rng& rng, bool between) {
  const GenerateCall* const kind = nullptr;
  const RequestCase made = generate_case(choice, rng);
  std::int64_t rounds = 0;
  for (std::size_t r = 0; r < made.problem.prompts.size(); ++r)
    rounds = std::max(rounds, expect(made.problem, r).rounds);
  if (between) require_right_again(probe, kind, made);
  for (const Flaw<DraftAnswer>& flaw : group.flaws) {
    const std::int64_t round = rng.chance(0.5) ? 1 : std::min<std::int64_t>(rounds, 2);
    const auto place = static_cast<std::size_t>(rng.integer(0, kPlaces - 1));
    kit::naming_flaw(flaw.name,
                     [&] { require_draft_refused(probe, flaw, group.want, made, round, place); });
    if (between) require_right_again(probe, kind, made);
  }
}

/// Many calls are refused, so that each has to be cheap.
bool is_small(const Assignment& choice) {
  return choice["threads"].most <= 7;
}

template <class What, class Ask>
std::vector<kit::Refusal> refusals(Probe& probe, const std::vector<InvalidGroup<What>>& groups,
                                   bool between, const Ask& ask) {
  std::vector<kit::Refusal> all;
  for (const InvalidGroup<What>& group : groups)
    all.push_back({group.name,
                   [beside = group.beside](const Assignment& choice) {
                     return beside(choice) && is_small(choice);
                   },
                   [=, &probe](const Assignment& choice, Rng& rng) {
                     ask(probe, group, choice, rng, between);
                   },
                   group.always});
  return all;
}

template <class Made>
std::vector<kit::Refusal> refusals_of(Probe& probe, const std::vector<InvalidGroup<Made>>& groups,
                                      bool between) {
  return refusals(probe, groups, between, refuse<Made>);
}

std::vector<kit::Refusal> refusals_of_requests(Probe& probe, bool between) {
  std::vector<kit::Refusal> all = refusals_of(probe, invalid_generates(), between);
  for (kit::Refusal& draft : refusals(probe, invalid_drafts(), between, refuse_drafts))
    all.push_back(std::move(draft));
  return all;
}

}  // namespace

std::vector<Check> refusals_checks() {
  using enum Section;
  using enum Severity;
  std::vector<Check> all = kit::refusal_checks(
      {{&build_domain(),
        [](Probe& probe, bool between) { return refusals_of(probe, invalid_builds(), between); }},
       {&verify_domain(),
        [](Probe& probe, bool between) { return refusals_of(probe, invalid_verifies(), between); }},
       {&generate_domain(), refusals_of_requests}});
  all.push_back(
      {{"bad_arguments", "arguments that make no sense, acted upon", robustness, 1, major},
       bad_arguments});
  all.push_back(
      {{"bad_drafts", "drafts that are no trees, acted upon", robustness, 0.5, minor}, bad_drafts});
  return all;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
