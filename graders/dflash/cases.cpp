// SPDX-License-Identifier: Apache-2.0
#include "cases.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>

#include "domain.h"
#include "graders/kit/inputs.h"
#include "oracle.h"
#include "rows.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;

constexpr float kLargest = std::numeric_limits<float>::max();
constexpr std::int64_t kMostOf64Bits = std::numeric_limits<std::int64_t>::max();

// Siblings of more nodes may be equal: it takes long to see that they are not.
constexpr std::int64_t kMostDifferentNodes = 300;

/// How the trees of a case are made, but for their size.
struct Manner {
  Shape shape = Shape::bush;
  Order order = Order::random;
  std::string right = "some";
  std::string tokens = "tempting";
};

Manner shape_of(const Assignment& choice) {
  Manner manner;
  if (choice.is("shape", "chain")) manner.shape = Shape::chain;
  if (choice.is("shape", "fork")) manner.shape = Shape::fork;
  if (choice.is("shape", "star")) manner.shape = Shape::star;
  if (choice.is("shape", "comb")) manner.shape = Shape::comb;
  if (choice.is("shape", "chain but one")) manner.shape = Shape::chain_but_one;
  if (choice.is("shape", "star but one")) manner.shape = Shape::star_but_one;
  if (choice.is("order", "breadth first")) manner.order = Order::breadth_first;
  if (choice.is("order", "depth first")) manner.order = Order::depth_first;
  return manner;
}

Manner manner_of(const Assignment& choice) {
  Manner manner = shape_of(choice);
  manner.right = choice["right"].name;
  manner.tokens = choice["tokens"].name;
  return manner;
}

std::int64_t right_nodes(const Manner& manner, std::int64_t nodes, Rng& rng) {
  std::int64_t count = rng.integer(0, std::min<std::int64_t>(nodes, 8));
  if (manner.right == "none") count = 0;
  if (manner.right == "one") count = 1;
  if (manner.right == "all but one") count = nodes - 1;
  if (manner.right == "all") count = nodes;
  const bool flat = manner.shape == Shape::star || manner.shape == Shape::star_but_one;
  return std::min(count, flat ? std::min<std::int64_t>(nodes, 1) : nodes);
}

/// Gives some of the nodes other tokens; only those without children, where others stay right.
class Retold {
 public:
  Retold(const Language& language, State root, Tree& tree, Rng& rng)
      : language_(language), tree_(tree), rng_(rng), states_{root} {}

  void tell(const std::string& tokens) {
    std::vector<bool> leaf(tree_.parent.size(), true);
    for (const std::int32_t above : tree_.parent)
      if (above >= 0) leaf[static_cast<std::size_t>(above)] = false;
    sibling_.assign(leaf.size() + 1, -1);
    for (std::size_t i = 0; i < leaf.size(); ++i) {
      const auto row = static_cast<std::size_t>(tree_.parent[i] + 1);
      std::int32_t& token = tree_.token[i];
      if (tokens == "0") token = 0;
      if (tokens == "the last") token = static_cast<std::int32_t>(language_.vocab()) - 1;
      if (tokens == "strangers") token = stranger(row);
      if (leaf[i] && rng_.chance(0.4)) token = of_leaf(tokens, row, token);
      sibling_[row] = token;
      states_.push_back(language_.extend(states_[row], token));
    }
  }

 private:
  std::int32_t stranger(std::size_t row) {
    return kit::one_of(rng_, strangers(language_, states_, row));
  }

  std::int32_t of_leaf(const std::string& tokens, std::size_t row, std::int32_t token) {
    if (tokens == "strangers too") return stranger(row);
    if (tokens == "ends too" && !language_.eos().empty()) return kit::one_of(rng_, language_.eos());
    return tokens == "equal among siblings" && sibling_[row] >= 0 ? sibling_[row] : token;
  }

  const Language& language_;
  Tree& tree_;
  Rng& rng_;
  std::vector<State> states_;
  std::vector<std::int32_t> sibling_;  // the token of each row's latest child
};

Tree tree_of(const Manner& manner, const Language& language, State root, std::int64_t nodes,
             Rng& rng) {
  if (nodes <= 0) return {};
  TreePlan plan;
  plan.nodes = nodes;
  plan.shape = manner.shape;
  plan.order = manner.order;
  plan.correct = right_nodes(manner, nodes, rng);
  plan.duplicates = manner.tokens == "equal among siblings" || nodes > kMostDifferentNodes;
  Tree tree = grow(language, root, plan, rng);
  if (manner.tokens != "tempting") Retold(language, root, tree, rng).tell(manner.tokens);
  return tree;
}

std::vector<std::int32_t> alphabet_of(const std::string& says, std::int64_t vocab) {
  const auto last = static_cast<std::int32_t>(vocab) - 1;
  if (says == "0") return {0};
  if (says == "the last") return {last};
  if (says == "0 and the last") return {0, last};
  std::vector<std::int32_t> around{last};
  for (const std::int32_t word : {8, 16, 32, 64, 128, 4096, 16'384})
    for (const std::int32_t token : {word - 1, word, word + 1})
      if (token < last) around.push_back(token);
  return around;
}

std::vector<std::int32_t> ends_of(const Assignment& choice, const Language& language, Rng& rng) {
  std::vector<std::int32_t> ends(static_cast<std::size_t>(choice.draw(rng, "EOS ids")));
  const auto vocab = static_cast<std::int32_t>(language.vocab());
  const std::int32_t again = random_token(language, rng);
  const auto stranger = [&] {
    const auto beyond = static_cast<std::int32_t>(rng.integer(0, 1 << 20));
    const double draw = rng.uniform();
    // Half of them are what is said, if they are cut to fewer bits.
    return draw < 0.5    ? kit::one_of(rng, strangers(language, {rng()}, 0))
           : draw < 0.75 ? vocab + beyond
                         : -1 - beyond;
  };
  const bool ascending = choice.is("EOS are", "ascending but for a quarter");
  const bool told = ascending || choice.is("EOS are", "tokens");
  for (std::int32_t& end : ends)
    end = told                                          ? random_token(language, rng)
          : choice.is("EOS are", "one again and again") ? again
                                                        : stranger();
  if (ends.empty()) return ends;
  if (ascending) put_lowest_last(ends);
  if (choice.is("EOS are", "strangers but the last")) ends.back() = again;
  if (choice.is("EOS are", "strangers but the first")) ends.front() = again;
  return ends;
}

std::shared_ptr<Language> language_of(const Assignment& choice, std::int64_t vocab, Rng& rng) {
  auto language = std::make_shared<Language>(vocab, rng);
  if (!choice.is("says", "anything")) language->speak(alphabet_of(choice["says"].name, vocab));
  const double often = choice.is("EOS come", "never")    ? 0
                       : choice.is("EOS come", "often")  ? 0.5
                       : choice.is("EOS come", "always") ? 1
                                                         : 0.15;
  language->end_with(ends_of(choice, *language, rng), often);
  return language;
}

WriteLogits logits_of(const Assignment& choice, std::shared_ptr<const Language> language,
                      Rng& rng) {
  // In the order of kRowKinds.
  static constexpr std::array kNames{
      "plain",  "forbidden",     "infinite",  "above all",           "opposite", "far down",
      "lowest", "a float apart", "subnormal", "zeros of both signs", "farthest"};
  static_assert(kNames.size() == kRowKinds.size());
  if (choice.is("logits", "usual")) return {};
  const std::string& name = choice["logits"].name;
  const auto known = std::ranges::find(kNames, name) - kNames.begin();
  return
      [language = std::move(language), seed = rng.seed(), known](State text, std::span<float> row) {
        Rng own(derive(seed, fmt::format("{:x}", text)));
        const RowKind kind = known < std::ssize(kNames) ? kRowKinds[static_cast<std::size_t>(known)]
                                                        : kit::one_of(own, kRowKinds);
        write_row(row, static_cast<std::size_t>(language->choice(text)), kind, own);
      };
}

CallOptions options_of(const Assignment& choice, Rng& rng) {
  CallOptions options;
  options.threads = static_cast<int>(choice.draw(rng, "threads"));
  options.null_when_empty = choice.is("pointers", "null where allowed");
  options.least_promised = choice.is("promised", "8");
  const std::string_view name = choice["alignment"].name;
  if (const auto placement = kit::placement_named(name))
    options.placement = *placement;
  else
    options.displaced = name;  // the domain lives longer
  return options;
}

/// Entry k of `count` is one of those that a class is about, by the name of the argument that says
/// which: "max_emit of the first".
bool is_meant(const std::string& which, std::int64_t k, std::int64_t count) {
  if (which == "the first") return k == 0;
  if (which == "the last") return k == count - 1;
  return which == "all" || k % 2 == 0;
}

std::vector<std::int64_t> sizes_of(const Assignment& choice, std::int64_t trees, Rng& rng) {
  std::vector<std::int64_t> sizes;
  const std::string& others = choice["other trees"].name;
  for (std::int64_t t = 0; t < trees; ++t) {
    const std::int64_t nodes = choice.draw(rng, "nodes");
    const bool full = others == "as large" || (others == "smaller" && t == 0) ||
                      (others == "empty by turns" && t % 2 == 0) ||
                      (others == "empty but the first" && t == 0) ||
                      (others == "empty but the last" && t == trees - 1);
    sizes.push_back(full ? nodes : others == "smaller" ? rng.integer(0, nodes) : 0);
  }
  if (others == "smaller") rng.shuffle(sizes);
  return sizes;
}

TreeCase case_of(const Assignment& choice, const kit::Domain& domain, const Manner& manner,
                 std::shared_ptr<const Language> language, Rng& rng) {
  TreeCase made{std::move(language), {}, options_of(choice, rng)};
  made.batch.language = made.language.get();
  for (const std::int64_t nodes : sizes_of(choice, trees_of(domain, choice, rng), rng)) {
    Draft draft = draft_after(*made.language, rng.integer(1, 5), rng);
    draft.tree = tree_of(manner, *made.language, draft.root, nodes, rng);
    draft.max_emit = draft.tree.rows() + rng.integer(0, 3);
    made.batch.drafts.push_back(std::move(draft));
  }
  return made;
}

std::int64_t max_emit_of(const Assignment& choice, const Language& language, const Draft& draft) {
  constexpr std::pair<const char*, std::int64_t> kNumbers[] = {{"0", 0},
                                                               {"1", 1},
                                                               {"2", 2},
                                                               {"2^16", 1LL << 16},
                                                               {"2^31", 1LL << 31},
                                                               {"2^32", 1LL << 32},
                                                               {"2^32 + 1", (1LL << 32) + 1},
                                                               {"largest", kMostOf64Bits}};
  const std::string& name = choice["max_emit"].name;
  for (const auto& [known, number] : kNumbers)
    if (name == known) return number;
  if (name == "beyond the tree") return draft.max_emit;
  const std::int64_t path = std::ssize(greedy(language, draft).path);
  return std::max<std::int64_t>(0, path + (name == "path - 1" ? -1 : name == "path + 1" ? 1 : 0));
}

Prompt prompt_of(const Assignment& choice, const Language& language, std::int64_t r,
                 std::int64_t requests, Rng& rng) {
  const bool long_one = is_meant(choice["prompt of"].name, r, requests);
  const bool many = is_meant(choice["max_new of"].name, r, requests);
  Prompt prompt =
      random_prompt(language, long_one ? choice.draw(rng, "prompt") : rng.integer(1, 9),
                    many ? choice.draw(rng, "max_new")
                         : std::min(choice.draw(rng, "others"), choice.draw(rng, "max_new")),
                    rng);
  if (choice.is("prompt ends", "with an end"))
    for (const std::int32_t end : language.eos())
      if (end >= 0 && end < language.vocab()) prompt.tokens.back() = end;
  return prompt;
}

std::int64_t nodes_of(const Assignment& choice, std::size_t r, std::int64_t budget, Rng& rng) {
  const std::string& name = choice["drafts"].name;
  if (name == "none") return 0;
  if (name == "the budget") return budget;
  if (name == "none for the first") return r == 0 ? 0 : budget;
  if (name == "one") return std::min<std::int64_t>(budget, 1);
  if (name == "a few") return std::min<std::int64_t>(budget, rng.integer(0, 4));
  if (name == "none or the budget") return rng.chance(0.5) ? 0 : budget;
  return rng.integer(0, budget);
}

/// Writes what is no tree behind the nodes of every answer.
void fill_behind_nodes(DflashDraft& ask, CallbackRequest& raw) {
  for (std::int64_t k = 0; k < ask.num_requests; ++k)
    for (std::int64_t i = raw.array<std::int64_t>(3)[static_cast<std::size_t>(k)]; i < ask.budget;
         ++i) {
      const auto at = static_cast<std::size_t>(k * ask.budget + i);
      raw.array<std::int32_t>(4)[at] = i % 2 == 0 ? -7 : 1 << 30;
      raw.array<std::int32_t>(5)[at] = -3;
    }
}

}  // namespace

TreeCase build_case(const Assignment& choice, Rng& rng) {
  const auto language = std::make_shared<Language>(rng.integer(11, 40), rng);
  TreeCase made = case_of(choice, build_domain(), shape_of(choice), language, rng);
  made.options.spare_words = choice.draw(rng, "spare words");
  const std::int64_t trees = std::ssize(made.batch.drafts);
  for (std::int64_t t = 0; t < trees; ++t)
    made.batch.drafts[static_cast<std::size_t>(t)].context_length =
        is_meant(choice["context of"].name, t, trees) ? choice.draw(rng, "context")
                                                      : rng.integer(0, 40);
  return made;
}

TreeCase verify_case(const Assignment& choice, Rng& rng) {
  const auto language = language_of(choice, choice.draw(rng, "vocab"), rng);
  TreeCase made = case_of(choice, verify_domain(), manner_of(choice), language, rng);
  made.batch.logits = logits_of(choice, language, rng);
  if (choice.is("spare floats", kFarApart))
    made.options.far = {"logits", kit::kFarStrides[3] + rng.integer(0, 99)};
  else
    made.options.stride_extra = choice.draw(rng, "spare floats");
  if (choice.is("between rows", "infinity")) made.options.between = kit::kInfinity;
  if (choice.is("between rows", "largest")) made.options.between = kLargest;
  const std::int64_t trees = std::ssize(made.batch.drafts);
  for (std::int64_t t = 0; t < trees; ++t)
    if (Draft& draft = made.batch.drafts[static_cast<std::size_t>(t)];
        is_meant(choice["max_emit of"].name, t, trees))
      draft.max_emit = max_emit_of(choice, *language, draft);
  return made;
}

void translate(const Assignment& choice, Rng& rng, TreeCase& made) {
  made.language = language_of(choice, made.language->vocab(), rng);
  made.batch.language = made.language.get();
  made.batch.logits = logits_of(choice, made.language, rng);
}

RequestCase generate_case(const Assignment& choice, Rng& rng) {
  RequestCase made;
  made.language = language_of(choice, choice.draw(rng, "vocab"), rng);
  made.options = options_of(choice, rng);
  if (choice.is("spare stride", kFarApart))
    made.options.far = {"emit", kit::kFarStrides[3] + rng.integer(0, 99)};
  else
    made.options.stride_extra = choice.draw(rng, "spare stride");
  Problem& problem = made.problem;
  problem.language = made.language.get();
  problem.logits = logits_of(choice, made.language, rng);
  problem.budget = choice.draw(rng, "budget");
  const std::int64_t requests = requests_of(choice, rng);
  for (std::int64_t r = 0; r < requests; ++r)
    problem.prompts.push_back(prompt_of(choice, *made.language, r, requests, rng));
  problem.drafter = [choice, language = made.language, seed = rng.seed(), budget = problem.budget](
                        std::size_t r, std::int64_t known, State text) {
    Rng own = draft_rng(seed, r, known);
    return tree_of(manner_of(choice), *language, text, nodes_of(choice, r, budget, own), own);
  };
  if (choice.is("behind nodes", "what is no tree")) problem.spoil_draft = fill_behind_nodes;
  return made;
}

bool one_path(const Assignment& choice) {
  return choice.is("tokens", "tempting") || choice.is("tokens", "strangers too");
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
