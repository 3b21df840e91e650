#include <algorithm>
#include <fmt/format.h>
#include <functional>

#include "cases.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "play.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

template <class What>
struct Flaw {
  const char* name;
  std::int64_t want;
  std::function<void(What&)> spoil;
};

constexpr std::int64_t kBad = DFLASH_BAD_ARGUMENT;
constexpr std::int64_t kUnsupported = DFLASH_UNSUPPORTED;

/// Runs a spoilt call, which must say so and write nothing.
void expect_refusal(Probe& probe, CallBase& call, std::int64_t want) {
  probe.run(call);
  if (call.returned != want)
    probe.fail(fmt::format("{} returned {}, want {}", call.symbol, call.returned, want));
  for (const Buffer& buffer : call.buffers())
    if (buffer.direction == Direction::out &&
        !std::ranges::all_of(buffer.result, [](std::byte b) { return b == std::byte{0xff}; }))
      probe.fail(fmt::format("{} was written by a call of {} that has to be refused", buffer.name,
                             call.symbol));
}

/// What every function refuses in the same way.
template <class What>
std::vector<Flaw<What>> common_flaws() {
  return {{"later_abi", kUnsupported, [](What& c) { ++c.call.args.abi_version; }},
          {"unknown_device", kUnsupported, [](What& c) { c.call.args.device = 77; }},
          {"no_threads", kBad, [](What& c) { c.call.args.num_threads = 0; }}};
}

/// Trees that are none, in either function that takes them. The batch has three trees of 4 nodes.
template <class What>
std::vector<Flaw<What>> tree_flaws() {
  return {{"negative_count", kBad, [](What& c) { c.call.args.num_trees = -1; }},
          {"parent_is_itself", kBad, [](What& c) { c.trees().parent[5] = 1; }},
          {"parent_comes_later", kBad, [](What& c) { c.trees().parent[8] = 3; }},
          {"parent_below_root", kBad, [](What& c) { c.trees().parent[11] = -2; }},
          {"first_node_of_itself", kBad, [](What& c) { c.trees().parent[4] = 0; }},
          {"parent_far_away", kBad, [](What& c) { c.trees().parent[9] = 1 << 30; }},
          {"starts_above_zero", kBad, [](What& c) { c.trees().node_start[0] = 1; }},
          {"starts_descend", kBad, [](What& c) { c.trees().node_start[2] = 3; }}};
}

template <class What>
std::vector<Flaw<What>> joined(std::initializer_list<std::vector<Flaw<What>>> lists) {
  std::vector<Flaw<What>> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

Batch three_trees(const Language& language, Rng& rng) {
  Batch batch{&language, {}, {}};
  for (int t = 0; t < 3; ++t) batch.drafts.push_back(draw_draft(language, draw_plan(4, rng), rng));
  return batch;
}

template <class What>
void ask_flaws(Probe& probe, const char* function, const std::vector<Flaw<What>>& flaws) {
  for (const Flaw<What>& flaw : flaws) {
    Rng rng = probe.begin_case(fmt::format("{}_{}", function, flaw.name));
    const Language language(rng.integer(11, 40), rng);
    What what(three_trees(language, rng));
    flaw.spoil(what);
    expect_refusal(probe, what.call, flaw.want);
  }
}

void ask_generate_flaws(Probe& probe) {
  using G = GenerateCall;
  const auto flaws =
      joined<G>({common_flaws<G>(),
                 {{"negative_count", kBad, [](G& c) { c.call.args.num_requests = -1; }},
                  {"no_vocabulary", kBad, [](G& c) { c.call.args.vocab = 0; }},
                  {"negative_ends", kBad, [](G& c) { c.call.args.num_eos = -1; }},
                  {"negative_budget", kBad, [](G& c) { c.call.args.draft_budget = -1; }},
                  {"short_stride", kBad, [](G& c) { c.call.args.emit_stride = 11; }},
                  {"negative_max_new", kBad, [](G& c) { c.max_new()[1] = -1; }},
                  {"no_prompt", kBad, [](G& c) { c.prompt_start()[1] = 0; }},
                  {"prompts_above_zero", kBad, [](G& c) { c.prompt_start()[0] = 1; }},
                  {"prompts_descend", kBad, [](G& c) { c.prompt_start()[2] = 3; }}}});
  for (const auto& flaw : flaws) {
    Rng rng = probe.begin_case(fmt::format("generate_{}", flaw.name));
    const Language language(rng.integer(11, 40), rng);
    Scene scene{&language, {}, 4, random_drafter(language, rng.seed(), 0, 4)};
    for (int r = 0; r < 2; ++r) scene.prompts.push_back(random_prompt(language, 5, 12, rng));
    GenerateCall generate(scene);
    flaw.spoil(generate);
    expect_refusal(probe, generate.call, flaw.want);
    if (generate.model().forwards() > 0)
      probe.fail("the target was asked by a call that has to be refused");
  }
}

void bad_arguments(Probe& probe) {
  using B = BuildCall;
  using V = VerifyCall;
  ask_flaws<B>(probe, "build",
               joined<B>({common_flaws<B>(),
                          tree_flaws<B>(),
                          {{"no_words", kBad, [](B& c) { c.call.args.mask_words = 0; }},
                           {"negative_context", kBad, [](B& c) { c.context_length()[2] = -1; }}}}));
  for (const std::int64_t nodes : {64, 128}) {  // one row more than the mask has bits
    Rng rng = probe.begin_case(fmt::format("build_words_for_{}_nodes", nodes));
    const Language language(rng.integer(130, 160), rng);
    BuildCall build({&language, {draw_draft(language, draw_plan(nodes, rng), rng)}, {}});
    --build.call.args.mask_words;
    expect_refusal(probe, build.call, kBad);
  }
  ask_flaws<V>(probe, "verify",
               joined<V>({common_flaws<V>(),
                          tree_flaws<V>(),
                          {{"no_vocabulary", kBad, [](V& c) { c.call.args.vocab = 0; }},
                           {"negative_ends", kBad, [](V& c) { c.call.args.num_eos = -1; }},
                           {"short_stride", kBad, [](V& c) { --c.call.args.logits_stride; }},
                           {"negative_limit", kBad, [](V& c) { c.max_emit()[1] = -1; }}}}));
  ask_generate_flaws(probe);
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
    Scene scene{&language, {}, 6, random_drafter(language, rng.seed(), 4, 6)};
    for (int r = 0; r < 2; ++r) scene.prompts.push_back(random_prompt(language, 5, 9, rng));
    scene.spoil_draft = spoil;
    GenerateCall generate(scene);
    probe.run(generate.call);
    if (generate.model().forwards() > 0) probe.fail("the target was asked about such a draft");
    if (generate.call.returned != kBad)
      probe.fail(fmt::format("dflash_generate returned {} after such a draft, want {}",
                             generate.call.returned, kBad));
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
