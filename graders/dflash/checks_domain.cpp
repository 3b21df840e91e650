// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "cases.h"
#include "domain.h"
#include "graders/kit/inputs.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;

/// A node of the batch, at random; nullptr where there is none.
Draft* draft_with_nodes(Batch& batch, Rng& rng) {
  std::vector<Draft*> full;
  for (Draft& draft : batch.drafts)
    if (draft.tree.nodes() > 0) full.push_back(&draft);
  return full.empty() ? nullptr : kit::one_of(rng, full);
}

/// The same sizes, mostly at the same addresses, with one parent or token that is another.
void change_node(const Assignment& choice, Rng& rng, Batch& batch) {
  Draft* draft = draft_with_nodes(batch, rng);
  if (draft == nullptr) return;
  const auto node = static_cast<std::size_t>(rng.integer(0, draft->tree.nodes() - 1));
  if (choice.is("before", "a parent differed")) {
    std::int32_t& parent = draft->tree.parent[node];
    parent = parent < 0 ? static_cast<std::int32_t>(node) - 1 : -1;
  } else {
    draft->tree.token[node] ^= 1;
  }
}

void change_trees(const Assignment& choice, Rng& rng, TreeCase& made) {
  const std::string& what = choice["before"].name;
  if (what == "a parent differed" || what == "a token differed")
    change_node(choice, rng, made.batch);
  if (what == "a tree more" && !made.batch.drafts.empty())
    made.batch.drafts.push_back(made.batch.drafts.front());
  if (what == "other threads") made.options.threads = made.options.threads == 2 ? 5 : 2;
}

void build_before(Probe& probe, const Assignment& choice, Rng& rng, TreeCase made) {
  change_trees(choice, rng, made);
  if (choice.is("before", "contexts differed"))
    for (Draft& draft : made.batch.drafts) draft.context_length += 3;
  if (choice.is("before", "more words")) ++made.options.spare_words;
  BuildCall call(made.batch, made.options);
  if (choice.is("before", "a refusal")) call.args.num_threads = 0;
  probe.run(call);
}

/// The same with as many other ends.
Language with_other_ends(const Language& language) {
  Language other = language;
  std::vector<std::int32_t> ends = language.eos();
  for (std::int32_t& end : ends) end = static_cast<std::int32_t>((end + 1LL) % language.vocab());
  other.end_with(std::move(ends), 0.5);
  return other;
}

void verify_before(Probe& probe, const Assignment& choice, Rng& rng, TreeCase made) {
  change_trees(choice, rng, made);
  if (choice.is("before", "logits differed")) translate(choice, rng, made);
  if (choice.is("before", "limits differed"))
    for (Draft& draft : made.batch.drafts) draft.max_emit = draft.max_emit == 1 ? 2 : 1;
  const Language other = with_other_ends(*made.language);
  if (choice.is("before", "EOS ids differed")) made.batch.language = &other;
  VerifyCall call(made.batch, made.options);
  if (choice.is("before", "a refusal")) call.args.num_threads = 0;
  probe.run(call);
}

/// A callback fails in the first or second round, and is left alone then. Its result may be nothing
/// in 32 bits, or what a solution itself says. The call ends so with any float controls.
void fail_before(Probe& probe, Problem problem, Problem::Callback failing,
                 const CallOptions& options, Rng& rng) {
  using Limits = std::numeric_limits<std::int64_t>;
  constexpr std::int64_t kResults[] = {77, -1, -2, 5LL << 32, Limits::min(), Limits::max()};
  problem.failing = failing;
  problem.fail_at = rng.integer(1, 2);
  problem.failure = kit::one_of(rng, kResults);
  for (const bool unusual : {false, true}) {
    GenerateCall call(problem, options);
    call.unusual_floats = unusual;
    run_watched(probe, call);
    probe.require(call.model->calls_after_failure() == 0, "callbacks after one that failed");
    if (call.model->failed() && call.returned != problem.failure)
      probe.fail(fmt::format("dflash_generate returned {} after a callback returned {}",
                             call.returned, problem.failure));
  }
}

void generate_before(Probe& probe, const Assignment& choice, Rng& rng, RequestCase made) {
  using enum Problem::Callback;
  const std::string& what = choice["before"].name;
  // What a failure leaves behind is that of another text, or of the same.
  if (what == "another model" || (what.ends_with(" failed") && rng.chance(0.5)))
    made = generate_case(choice, rng);
  if (what == "a drafter failed") return fail_before(probe, made.problem, draft, made.options, rng);
  if (what == "a target failed")
    return fail_before(probe, made.problem, forward, made.options, rng);
  if (what == "a cache failed") return fail_before(probe, made.problem, keep, made.options, rng);
  Problem& problem = made.problem;
  if (what == "limits differed")
    for (Prompt& prompt : problem.prompts) prompt.max_new /= 2;
  if (what == "a request more" && !problem.prompts.empty())
    problem.prompts.push_back(problem.prompts.front());
  if (what == "other threads") made.options.threads = made.options.threads == 2 ? 5 : 2;
  if (what == "a draft was none")
    problem.spoil_draft = [](DflashDraft&, CallbackRequest& raw) {
      std::ranges::fill(raw.array<std::int64_t>(3), -1);
    };
  const Language other = with_other_ends(*made.language);
  if (what == "EOS ids differed") problem.language = &other;
  GenerateCall call(problem, made.options);
  if (what == "a refusal") call.args.num_threads = 0;
  probe.run(call);
  const bool no_draft = what == "a draft was none";
  if (!no_draft && what != "other float controls") return;
  GenerateCall again(problem, made.options);
  again.unusual_floats = true;
  if (no_draft) return probe.run(again);
  probe.run_ok(again);
}

void ask_build(Probe& probe, const Assignment& choice, Rng& rng) {
  const TreeCase made = build_case(choice, rng);
  if (!choice.is("before", "nothing")) build_before(probe, choice, rng, made);
  require_built(probe, made.batch, made.options);
}

void ask_verify(Probe& probe, const Assignment& choice, Rng& rng) {
  const TreeCase made = verify_case(choice, rng);
  if (!choice.is("before", "nothing")) verify_before(probe, choice, rng, made);
  require_right(probe, made.batch, made.options);
}

void ask_generate(Probe& probe, const Assignment& choice, Rng& rng) {
  const RequestCase made = generate_case(choice, rng);
  if (!choice.is("before", "nothing")) generate_before(probe, choice, rng, made);
  const Answer seen = require_right(probe, made.problem, made.options);
  require_counts(probe, seen, one_path(choice));
  if (const auto& stale = seen.model->stale_context()) probe.fail(stale->text);
}

}  // namespace

std::vector<Check> domain_checks() {
  return kit::domain_checks({{&build_domain(), ask_build},
                             {&verify_domain(), ask_verify},
                             {&generate_domain(), ask_generate}});
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
