// strategy: walk down the parent array, one lazy argmax a level
#include <algorithm>
#include <cstdint>
#include <vector>

#include "contract.h"

namespace {

template <class T>
using List = std::vector<T>;

bool valid_tree(const std::int32_t* parent, std::int64_t nodes) {
  for (std::int64_t i = 0; i < nodes; ++i)
    if (parent[i] < -1 || parent[i] >= i) return false;
  return nodes >= 0 && nodes <= 65535;
}

bool valid_trees(const std::int64_t* start, const std::int32_t* parent, std::int64_t trees) {
  if (start[0] != 0) return false;
  for (std::int64_t t = 0; t < trees; ++t)
    if (start[t + 1] < start[t] || !valid_tree(parent + start[t], start[t + 1] - start[t]))
      return false;
  return true;
}

bool is_end(const std::int32_t* eos, std::int64_t num_eos, std::int32_t token) {
  return std::find(eos, eos + num_eos, token) != eos + num_eos;
}

struct Tree {
  std::int64_t nodes;
  const std::int32_t* parent;
  const std::int32_t* token;
  const float* logits;  // row 0 is the root's, row i + 1 that of node i
  std::int64_t vocab;
  std::int64_t stride;

  /// The target's choice after a row: the lowest id among the largest logits.
  std::int32_t choice(std::int64_t row) const {
    const float* logit = logits + row * stride;
    std::int32_t best = 0;
    for (std::int32_t j = 1; j < vocab; ++j)
      if (logit[j] > logit[best]) best = j;
    return best;
  }
};

struct Decision {
  List<std::int32_t> emit;
  List<std::int32_t> path;
};

void build_tree(const std::int32_t* parent, std::int64_t nodes, std::int64_t words,
                std::int64_t context_length, std::uint64_t* mask, std::int64_t* position) {
  for (std::int64_t row = 0; row <= nodes; ++row) {
    const std::int64_t above = row == 0 ? -1 : parent[row - 1] + 1;
    for (std::int64_t word = 0; word < words; ++word)
      mask[row * words + word] = above < 0 ? 0 : mask[above * words + word];
    mask[row * words + row / 64] |= std::uint64_t{1} << (row % 64);
    position[row] = above < 0 ? context_length : position[above] + 1;
  }
}

/// From the root to the first child that carries the choice, as long as there is one.
Decision decide(const Tree& tree, const std::int32_t* eos, std::int64_t num_eos,
                std::int64_t max_emit) {
  Decision decision;
  std::int32_t current = -1;
  while (static_cast<std::int64_t>(decision.emit.size()) < max_emit) {
    const std::int32_t wanted = tree.choice(current + 1);
    std::int32_t next = -1;
    for (std::int32_t i = 0; i < tree.nodes && next < 0; ++i)
      if (tree.parent[i] == current && tree.token[i] == wanted) next = i;
    decision.emit.push_back(wanted);
    if (next < 0) break;
    decision.path.push_back(next);
    if (is_end(eos, num_eos, wanted)) break;
    current = next;
  }
  return decision;
}

struct Request {
  List<std::int32_t> context;  // prompt and emitted tokens; the last one is the next root
  std::int64_t emitted = 0;
  std::int64_t rounds = 0;
  std::int64_t accepted = 0;
};

struct Draft {
  List<std::int32_t> parent;
  List<std::int32_t> token;
};

std::int64_t ask_drafts(const DflashGenerateArgs& a, const List<std::int64_t>& running,
                        const List<Request>& requests, List<Draft>& drafts) {
  List<std::int32_t> context;
  List<std::int64_t> lengths;
  for (const std::int64_t r : running) {
    const List<std::int32_t>& known = requests[r].context;
    context.insert(context.end(), known.begin(), known.end());
    lengths.push_back(known.size());
  }
  List<std::int64_t> nodes(running.size());
  List<std::int32_t> parent(running.size() * a.draft_budget);
  List<std::int32_t> token(running.size() * a.draft_budget);
  DflashDraft ask{};
  ask.num_requests = running.size();
  ask.num_tokens = context.size();
  ask.budget = a.draft_budget;
  ask.request = running.data();
  ask.context_length = lengths.data();
  ask.context = context.data();
  ask.num_nodes = nodes.data();
  ask.parent = parent.data();
  ask.token = token.data();
  if (const std::int64_t code = a.draft(a.model, &ask)) return code;
  for (std::size_t k = 0; k < running.size(); ++k) {
    const std::int32_t* first = parent.data() + k * a.draft_budget;
    if (nodes[k] > a.draft_budget || !valid_tree(first, nodes[k])) return DFLASH_BAD_ARGUMENT;
    const std::int32_t* word = token.data() + k * a.draft_budget;
    drafts.push_back({{first, first + nodes[k]}, {word, word + nodes[k]}});
  }
  return 0;
}

std::int64_t read_trees(const DflashGenerateArgs& a, const List<std::int64_t>& running,
                        const List<Request>& requests, const List<Draft>& drafts,
                        List<float>& logits) {
  List<std::int64_t> lengths, counts;
  List<std::int32_t> token;
  std::int64_t widest = 0;
  for (std::size_t k = 0; k < running.size(); ++k) {
    const Request& request = requests[running[k]];
    lengths.push_back(request.context.size() - 1);
    counts.push_back(drafts[k].token.size() + 1);
    token.push_back(request.context.back());
    token.insert(token.end(), drafts[k].token.begin(), drafts[k].token.end());
    widest = std::max(widest, counts.back());
  }
  const std::int64_t words = (widest + 63) / 64;
  List<std::uint64_t> mask(token.size() * words);
  List<std::int64_t> position(token.size());
  std::int64_t row = 0;
  for (std::size_t k = 0; k < running.size(); ++k) {
    build_tree(drafts[k].parent.data(), drafts[k].parent.size(), words, lengths[k],
               mask.data() + row * words, position.data() + row);
    row += counts[k];
  }
  logits.resize(token.size() * a.vocab);
  DflashForward pass{};
  pass.num_requests = running.size();
  pass.num_rows = token.size();
  pass.mask_words = words;
  pass.vocab = a.vocab;
  pass.request = running.data();
  pass.context_length = lengths.data();
  pass.row_count = counts.data();
  pass.token = token.data();
  pass.position = position.data();
  pass.mask = mask.data();
  pass.logits = logits.data();
  return a.forward(a.model, &pass);
}

std::int64_t keep_paths(const DflashGenerateArgs& a, const List<std::int64_t>& running,
                        const List<Decision>& decisions) {
  List<std::int64_t> counts, slots;
  for (const Decision& decision : decisions) {
    counts.push_back(decision.path.size() + 1);
    slots.push_back(0);
    for (const std::int32_t node : decision.path) slots.push_back(node + 1);
  }
  DflashKeep keep{};
  keep.num_requests = running.size();
  keep.num_slots = slots.size();
  keep.request = running.data();
  keep.keep_count = counts.data();
  keep.slot = slots.data();
  return a.keep(a.model, &keep);
}

std::int64_t generate(const DflashGenerateArgs& a) {
  List<Request> requests(a.num_requests);
  List<std::int64_t> running;
  for (std::int64_t r = 0; r < a.num_requests; ++r) {
    requests[r].context.assign(a.prompt + a.prompt_start[r], a.prompt + a.prompt_start[r + 1]);
    if (a.max_new[r] > 0) running.push_back(r);
  }
  while (!running.empty()) {
    List<Draft> drafts;
    List<float> logits;
    if (const std::int64_t code = ask_drafts(a, running, requests, drafts)) return code;
    if (const std::int64_t code = read_trees(a, running, requests, drafts, logits)) return code;
    List<std::int64_t> going_on;
    List<Decision> decisions;
    std::int64_t row = 0;
    for (std::size_t k = 0; k < running.size(); ++k) {
      const std::int64_t r = running[k];
      Request& request = requests[r];
      const Draft& draft = drafts[k];
      const Tree tree{static_cast<std::int64_t>(draft.token.size()),
                      draft.parent.data(),
                      draft.token.data(),
                      logits.data() + row * a.vocab,
                      a.vocab,
                      a.vocab};
      Decision decision = decide(tree, a.eos, a.num_eos, a.max_new[r] - request.emitted);
      row += tree.nodes + 1;
      for (const std::int32_t token : decision.emit) {
        a.emit[r * a.emit_stride + request.emitted++] = token;
        request.context.push_back(token);
      }
      request.accepted += decision.path.size();
      ++request.rounds;
      const bool ended = is_end(a.eos, a.num_eos, decision.emit.back());
      if (ended || request.emitted == a.max_new[r]) continue;
      going_on.push_back(r);
      decisions.push_back(std::move(decision));
    }
    running = std::move(going_on);
    if (running.empty()) break;
    if (const std::int64_t code = keep_paths(a, running, decisions)) return code;
  }
  for (std::int64_t r = 0; r < a.num_requests; ++r) {
    a.num_emit[r] = requests[r].emitted;
    a.rounds[r] = requests[r].rounds;
    a.accepted[r] = requests[r].accepted;
  }
  return DFLASH_OK;
}

}  // namespace

std::int64_t dflash_build(const DflashBuildArgs* args) {
  const DflashBuildArgs& a = *args;
  if (a.abi_version != DFLASH_ABI_VERSION || a.device != DFLASH_HOST) return DFLASH_UNSUPPORTED;
  if (a.num_threads < 1 || a.num_trees < 0 || a.mask_words < 0) return DFLASH_BAD_ARGUMENT;
  if (!valid_trees(a.node_start, a.parent, a.num_trees)) return DFLASH_BAD_ARGUMENT;
  for (std::int64_t t = 0; t < a.num_trees; ++t)
    if (a.context_length[t] < 0 || a.node_start[t + 1] - a.node_start[t] + 1 > 64 * a.mask_words)
      return DFLASH_BAD_ARGUMENT;
  for (std::int64_t t = 0; t < a.num_trees; ++t) {
    const std::int64_t node = a.node_start[t];
    build_tree(a.parent + node, a.node_start[t + 1] - node, a.mask_words, a.context_length[t],
               a.mask + (node + t) * a.mask_words, a.position + node + t);
  }
  return DFLASH_OK;
}

std::int64_t dflash_verify(const DflashVerifyArgs* args) {
  const DflashVerifyArgs& a = *args;
  if (a.abi_version != DFLASH_ABI_VERSION || a.device != DFLASH_HOST) return DFLASH_UNSUPPORTED;
  if (a.num_threads < 1 || a.num_trees < 0 || a.vocab < 1 || a.num_eos < 0)
    return DFLASH_BAD_ARGUMENT;
  if (a.logits_stride < a.vocab) return DFLASH_BAD_ARGUMENT;
  if (!valid_trees(a.node_start, a.parent, a.num_trees)) return DFLASH_BAD_ARGUMENT;
  for (std::int64_t t = 0; t < a.num_trees; ++t)
    if (a.max_emit[t] < 0) return DFLASH_BAD_ARGUMENT;
  for (std::int64_t t = 0; t < a.num_trees; ++t) {
    const std::int64_t node = a.node_start[t];
    const Tree tree{a.node_start[t + 1] - node,
                    a.parent + node,
                    a.token + node,
                    a.logits + (node + t) * a.logits_stride,
                    a.vocab,
                    a.logits_stride};
    const Decision decision = decide(tree, a.eos, a.num_eos, a.max_emit[t]);
    std::copy(decision.emit.begin(), decision.emit.end(), a.emit + node + t);
    std::copy(decision.path.begin(), decision.path.end(), a.path + node + t);
    a.num_emit[t] = static_cast<std::int64_t>(decision.emit.size());
    a.num_path[t] = static_cast<std::int64_t>(decision.path.size());
  }
  return DFLASH_OK;
}

std::int64_t dflash_generate(const DflashGenerateArgs* args) {
  const DflashGenerateArgs& a = *args;
  if (a.abi_version != DFLASH_ABI_VERSION || a.device != DFLASH_HOST) return DFLASH_UNSUPPORTED;
  if (a.num_threads < 1 || a.num_requests < 0 || a.vocab < 1 || a.num_eos < 0 || a.draft_budget < 0)
    return DFLASH_BAD_ARGUMENT;
  if (a.prompt_start[0] != 0) return DFLASH_BAD_ARGUMENT;
  for (std::int64_t r = 0; r < a.num_requests; ++r)
    if (a.prompt_start[r + 1] <= a.prompt_start[r] || a.max_new[r] < 0 ||
        a.max_new[r] > a.emit_stride)
      return DFLASH_BAD_ARGUMENT;
  return generate(a);
}
