// SPDX-License-Identifier: Apache-2.0
#include "cases.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>

#include "domain.h"
#include "graders/kit/assignments.h"
#include "invalid_calls.h"
#include "rows.h"

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

namespace {

std::vector<kit::Assignment> many_of(const kit::Domain& domain, Rng& rng) {
  std::vector<kit::Assignment> all = kit::covering_assignments(domain, rng);
  for (const kit::Assignment& one : kit::random_assignments(domain, rng, 100)) all.push_back(one);
  return all;
}

bool legal_tree(const Tree& tree) {
  for (std::int64_t i = 0; i < tree.nodes(); ++i)
    if (tree.parent[std::size_t(i)] < -1 || tree.parent[std::size_t(i)] >= i) return false;
  return tree.parent.size() == tree.token.size();
}

/// The lowest id of the largest logits.
std::int64_t choice_of(std::span<const float> row) {
  return std::ranges::max_element(row) - row.begin();
}

bool allowed(const Batch& batch) {
  return std::ranges::all_of(batch.drafts, [](const Draft& draft) {
    return legal_tree(draft.tree) && draft.max_emit >= 0 && draft.context_length >= 0;
  });
}

}  // namespace

TEST_CASE("what is drawn of the domains is within the contract") {
  Rng rng(3);
  for (const kit::Assignment& choice : many_of(build_domain(), rng))
    CHECK_MESSAGE(allowed(build_case(choice, rng).batch), choice.words());
  for (const kit::Assignment& choice : many_of(verify_domain(), rng))
    CHECK_MESSAGE(allowed(verify_case(choice, rng).batch), choice.words());
  for (const kit::Assignment& choice : many_of(generate_domain(), rng)) {
    CAPTURE(choice.words());
    const RequestCase made = generate_case(choice, rng);
    for (std::size_t r = 0; r < made.problem.prompts.size(); ++r) {
      const Prompt& prompt = made.problem.prompts[r];
      REQUIRE(!prompt.tokens.empty());
      CHECK(prompt.max_new >= 0);
      const Draft draft = draft_at(made.problem, r, std::ssize(prompt.tokens));
      CHECK(legal_tree(draft.tree));
      CHECK(draft.tree.nodes() <= made.problem.budget);
    }
  }
}

TEST_CASE("classes of sizes, limits and texts are what they say") {
  const auto with = [](const kit::Domain& domain, const char* argument, const char* name) {
    const auto& all = domain.arguments;
    const auto k = std::ranges::find(all, argument, &kit::Argument::name) - all.begin();
    const auto& classes = all[std::size_t(k)].classes;
    const auto c = std::ranges::find(classes, name, &kit::ValueClass::name) - classes.begin();
    return kit::Assignment(all).with(std::size_t(k), std::size_t(c));
  };
  Rng rng(4);
  for (int turn = 0; turn < 20; ++turn) {
    const TreeCase few = verify_case(with(verify_domain(), "max_emit", "path - 1"), rng);
    for (Draft draft : few.batch.drafts) {
      const std::int64_t limit = draft.max_emit;
      draft.max_emit = draft.tree.rows();
      CHECK(limit == std::max<std::int64_t>(0, std::ssize(greedy(*few.language, draft).path) - 1));
    }
    const TreeCase empty =
        build_case(with(build_domain(), "other trees", "empty but the last"), rng);
    for (std::size_t t = 0; t < empty.batch.drafts.size(); ++t)
      CHECK((empty.batch.drafts[t].tree.nodes() == 0) == (t + 1 < empty.batch.drafts.size()));
    const TreeCase strange = verify_case(with(verify_domain(), "tokens", "strangers"), rng);
    for (const Draft& draft : strange.batch.drafts)
      for (const std::int32_t token : draft.tree.token)
        CHECK((token < 0 || token >= strange.language->vocab()));
    const TreeCase last =
        verify_case(with(verify_domain(), "EOS are", "strangers but the last"), rng);
    CHECK(last.language->eos().back() < last.language->vocab());
  }
}

TEST_CASE("a row of any kind has its first largest logit where it was wanted") {
  Rng rng(5);
  for (const RowKind kind : kRowKinds)
    for (const std::size_t best : {0, 1, 7, 64, 99}) {
      std::vector<float> row(100);
      write_row(row, best, kind, rng);
      CHECK(choice_of(row) == std::int64_t(best));
    }
}

TEST_CASE("every flaw changes its call and nothing of its sizes") {
  Rng rng(6);
  const auto try_all = [&](const kit::Domain& domain, const auto& groups, const auto& make) {
    std::set<std::string> names;
    for (const auto& group : groups) {
      CHECK_MESSAGE(names.insert(group.name).second, group.name);
      for (const kit::Assignment& choice : kit::each_class_once(domain, rng)) {
        if (!group.beside(choice)) continue;
        for (const auto& flaw : group.flaws) {
          CAPTURE(group.name);
          CAPTURE(flaw.name);
          CHECK(make(choice, flaw));
        }
        break;
      }
    }
  };
  try_all(build_domain(), invalid_builds(), [&](const auto& choice, const auto& flaw) {
    const TreeCase made = build_case(choice, rng);
    BuildCall call(made.batch, made.options), spoilt(made.batch, made.options);
    flaw.spoil(spoilt);
    return std::tie(call.trees.node_start, call.trees.parent, call.context_length) !=
               std::tie(spoilt.trees.node_start, spoilt.trees.parent, spoilt.context_length) ||
           call.args.mask_words != spoilt.args.mask_words ||
           call.args.num_trees != spoilt.args.num_trees ||
           call.args.abi_version != spoilt.args.abi_version ||
           call.args.device != spoilt.args.device ||
           call.args.num_threads != spoilt.args.num_threads;
  });
  try_all(generate_domain(), invalid_generates(), [&](const auto& choice, const auto& flaw) {
    const RequestCase made = generate_case(choice, rng);
    GenerateCall call(made.problem, made.options), spoilt(made.problem, made.options);
    flaw.spoil(spoilt);
    return std::tie(call.prompt_start, call.max_new) !=
               std::tie(spoilt.prompt_start, spoilt.max_new) ||
           call.args.emit_stride != spoilt.args.emit_stride ||
           call.args.num_requests != spoilt.args.num_requests ||
           call.args.vocab != spoilt.args.vocab || call.args.num_eos != spoilt.args.num_eos ||
           call.args.draft_budget != spoilt.args.draft_budget ||
           call.args.abi_version != spoilt.args.abi_version ||
           call.args.device != spoilt.args.device ||
           call.args.num_threads != spoilt.args.num_threads;
  });
}
