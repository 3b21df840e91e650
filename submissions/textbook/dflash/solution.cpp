// Greedy speculative decoding with draft trees, the textbook way: walk from the root to the child
// that carries the target's choice.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "contract.h"

namespace {

constexpr std::int64_t kMaxNodes = 65535;

/// Bounds of tree t inside the concatenated arrays.
struct Span {
  std::int64_t first_node;
  std::int64_t nodes;
  std::int64_t first_row;
};

Span span_of(const std::int64_t* node_start, std::int64_t t) {
  return {node_start[t], node_start[t + 1] - node_start[t], node_start[t] + t};
}

bool ascending(const std::int64_t* start, std::int64_t count, std::int64_t least) {
  if (start[0] != 0) return false;
  for (std::int64_t i = 0; i < count; ++i)
    if (start[i + 1] - start[i] < least) return false;
  return true;
}

bool valid_parents(const std::int32_t* parent, std::int64_t nodes) {
  for (std::int64_t i = 0; i < nodes; ++i)
    if (parent[i] < -1 || parent[i] >= i) return false;
  return true;
}

bool valid_trees(const std::int64_t* node_start, const std::int32_t* parent, std::int64_t trees) {
  if (!ascending(node_start, trees, 0)) return false;
  for (std::int64_t t = 0; t < trees; ++t) {
    const Span tree = span_of(node_start, t);
    if (tree.nodes > kMaxNodes || !valid_parents(parent + tree.first_node, tree.nodes))
      return false;
  }
  return true;
}

bool none_negative(const std::int64_t* values, std::int64_t count) {
  return std::all_of(values, values + count, [](std::int64_t value) { return value >= 0; });
}

template <class Args>
bool supported(const Args& args) {
  return args.abi_version == DFLASH_ABI_VERSION && args.device == DFLASH_HOST;
}

void build_tree(const std::int32_t* parent, std::int64_t nodes, std::int64_t words,
                std::int64_t context_length, std::uint64_t* mask, std::int64_t* position) {
  std::fill_n(mask, words, 0);
  mask[0] = 1;
  position[0] = context_length;
  for (std::int64_t i = 0; i < nodes; ++i) {
    const std::int64_t row = i + 1;
    const std::int64_t above = parent[i] + 1;  // the root is row 0
    std::copy_n(mask + above * words, words, mask + row * words);
    mask[row * words + row / 64] |= std::uint64_t{1} << (row % 64);
    position[row] = position[above] + 1;
  }
}

/// The lowest id among the largest logits.
std::int32_t choice(const float* logits, std::int64_t vocab) {
  return static_cast<std::int32_t>(std::max_element(logits, logits + vocab) - logits);
}

struct Decision {
  std::vector<std::int32_t> emit;
  std::vector<std::int32_t> path;
};

Decision walk(const DflashVerifyArgs& args, std::int64_t t) {
  const Span tree = span_of(args.node_start, t);
  const std::int32_t* parent = args.parent + tree.first_node;
  const std::int32_t* token = args.token + tree.first_node;
  Decision decision;
  std::int32_t current = -1;
  while (static_cast<std::int64_t>(decision.emit.size()) < args.max_emit[t]) {
    const float* logits = args.logits + (tree.first_row + current + 1) * args.logits_stride;
    const std::int32_t wanted = choice(logits, args.vocab);
    decision.emit.push_back(wanted);
    std::int32_t child = current + 1;
    while (child < tree.nodes && !(parent[child] == current && token[child] == wanted)) ++child;
    if (child >= tree.nodes) break;  // no node carries it: the bonus
    decision.path.push_back(child);
    if (std::find(args.eos, args.eos + args.num_eos, wanted) != args.eos + args.num_eos) break;
    current = child;
  }
  return decision;
}

/// One request on its way: everything known of it, and what is reported at the end.
struct Request {
  std::vector<std::int32_t> context;
  std::int64_t emitted = 0;
  std::int64_t rounds = 0;
  std::int64_t accepted = 0;
  bool running = true;
};

/// The trees of one round, concatenated as the contract wants them.
struct Trees {
  std::vector<std::int64_t> node_start{0};
  std::vector<std::int32_t> parent;
  std::vector<std::int32_t> token;
};

/// Sends one round after another. Every step returns 0 or what dflash_generate has to return.
class Generation {
 public:
  explicit Generation(const DflashGenerateArgs& args)
      : args_(args), requests_(static_cast<std::size_t>(args.num_requests)) {
    for (std::int64_t r = 0; r < args.num_requests; ++r) {
      requests_[r].context.assign(args.prompt + args.prompt_start[r],
                                  args.prompt + args.prompt_start[r + 1]);
      requests_[r].running = args.max_new[r] > 0;
    }
  }

  std::int64_t run() {
    while (find_running()) {
      Trees trees;
      if (const std::int64_t code = draft(trees)) return code;
      std::vector<float> logits;
      if (const std::int64_t code = forward(trees, logits)) return code;
      if (const std::int64_t code = decide(trees, logits)) return code;
    }
    for (std::int64_t r = 0; r < args_.num_requests; ++r) report(r);
    return DFLASH_OK;
  }

 private:
  bool find_running() {
    running_.clear();
    for (std::int64_t r = 0; r < args_.num_requests; ++r)
      if (requests_[r].running) running_.push_back(r);
    return !running_.empty();
  }

  std::int64_t draft(Trees& trees) {
    std::vector<std::int32_t> context;
    std::vector<std::int64_t> lengths;
    for (const std::int64_t r : running_) {
      const auto& known = requests_[r].context;
      context.insert(context.end(), known.begin(), known.end());
      lengths.push_back(static_cast<std::int64_t>(known.size()));
    }
    const std::size_t room = running_.size() * static_cast<std::size_t>(args_.draft_budget);
    std::vector<std::int64_t> nodes(running_.size());
    std::vector<std::int32_t> parent(room);
    std::vector<std::int32_t> token(room);
    DflashDraft ask{};
    ask.num_requests = static_cast<std::int64_t>(running_.size());
    ask.num_tokens = static_cast<std::int64_t>(context.size());
    ask.budget = args_.draft_budget;
    ask.request = running_.data();
    ask.context_length = lengths.data();
    ask.context = context.data();
    ask.num_nodes = nodes.data();
    ask.parent = parent.data();
    ask.token = token.data();
    if (const std::int64_t code = args_.draft(args_.model, &ask)) return code;
    for (std::size_t k = 0; k < running_.size(); ++k) {
      const auto at = static_cast<std::ptrdiff_t>(k) * args_.draft_budget;
      if (nodes[k] < 0 || nodes[k] > args_.draft_budget ||
          !valid_parents(parent.data() + at, nodes[k]))
        return DFLASH_BAD_ARGUMENT;
      trees.parent.insert(trees.parent.end(), parent.data() + at, parent.data() + at + nodes[k]);
      trees.token.insert(trees.token.end(), token.data() + at, token.data() + at + nodes[k]);
      trees.node_start.push_back(static_cast<std::int64_t>(trees.token.size()));
    }
    return 0;
  }

  std::int64_t forward(const Trees& trees, std::vector<float>& logits) {
    std::vector<std::int64_t> lengths;
    std::vector<std::int64_t> rows;
    std::vector<std::int32_t> token;
    std::int64_t most_rows = 1;
    for (std::size_t k = 0; k < running_.size(); ++k) {
      const auto& known = requests_[running_[k]].context;
      const Span tree = span_of(trees.node_start.data(), static_cast<std::int64_t>(k));
      lengths.push_back(static_cast<std::int64_t>(known.size()) - 1);
      rows.push_back(tree.nodes + 1);
      most_rows = std::max(most_rows, tree.nodes + 1);
      token.push_back(known.back());
      token.insert(token.end(), trees.token.begin() + tree.first_node,
                   trees.token.begin() + tree.first_node + tree.nodes);
    }
    const std::int64_t words = (most_rows + 63) / 64;
    std::vector<std::uint64_t> mask(token.size() * static_cast<std::size_t>(words));
    std::vector<std::int64_t> position(token.size());
    for (std::size_t k = 0; k < running_.size(); ++k) {
      const Span tree = span_of(trees.node_start.data(), static_cast<std::int64_t>(k));
      build_tree(trees.parent.data() + tree.first_node, tree.nodes, words, lengths[k],
                 mask.data() + tree.first_row * words, position.data() + tree.first_row);
    }
    logits.resize(token.size() * static_cast<std::size_t>(args_.vocab));
    DflashForward pass{};
    pass.num_requests = static_cast<std::int64_t>(running_.size());
    pass.num_rows = static_cast<std::int64_t>(token.size());
    pass.mask_words = words;
    pass.vocab = args_.vocab;
    pass.request = running_.data();
    pass.context_length = lengths.data();
    pass.row_count = rows.data();
    pass.token = token.data();
    pass.position = position.data();
    pass.mask = mask.data();
    pass.logits = logits.data();
    return args_.forward(args_.model, &pass);
  }

  /// Emits what the trees earned, and keeps the slots of requests that go on.
  std::int64_t decide(const Trees& trees, const std::vector<float>& logits) {
    std::vector<std::int64_t> left;
    for (const std::int64_t r : running_) left.push_back(args_.max_new[r] - requests_[r].emitted);
    DflashVerifyArgs verify{};
    verify.vocab = args_.vocab;
    verify.num_eos = args_.num_eos;
    verify.logits_stride = args_.vocab;
    verify.node_start = trees.node_start.data();
    verify.parent = trees.parent.data();
    verify.token = trees.token.data();
    verify.eos = args_.eos;
    verify.max_emit = left.data();
    verify.logits = logits.data();

    std::vector<std::int64_t> going_on;
    std::vector<std::int64_t> counts;
    std::vector<std::int64_t> slots;
    for (std::size_t k = 0; k < running_.size(); ++k) {
      const Decision decision = walk(verify, static_cast<std::int64_t>(k));
      if (!take(running_[k], decision)) continue;
      going_on.push_back(running_[k]);
      counts.push_back(static_cast<std::int64_t>(decision.path.size()) + 1);
      slots.push_back(0);
      for (const std::int32_t node : decision.path) slots.push_back(node + 1);
    }
    if (going_on.empty()) return 0;
    DflashKeep keep{};
    keep.num_requests = static_cast<std::int64_t>(going_on.size());
    keep.num_slots = static_cast<std::int64_t>(slots.size());
    keep.request = going_on.data();
    keep.keep_count = counts.data();
    keep.slot = slots.data();
    return args_.keep(args_.model, &keep);
  }

  /// Adds a decision to its request; false when the request has ended.
  bool take(std::int64_t r, const Decision& decision) {
    Request& request = requests_[r];
    std::copy(decision.emit.begin(), decision.emit.end(),
              args_.emit + r * args_.emit_stride + request.emitted);
    request.context.insert(request.context.end(), decision.emit.begin(), decision.emit.end());
    request.emitted += static_cast<std::int64_t>(decision.emit.size());
    request.accepted += static_cast<std::int64_t>(decision.path.size());
    ++request.rounds;
    const std::int32_t* last_eos = args_.eos + args_.num_eos;
    const bool ended = std::find(args_.eos, last_eos, decision.emit.back()) != last_eos;
    request.running = !ended && request.emitted < args_.max_new[r];
    return request.running;
  }

  void report(std::int64_t r) const {
    args_.num_emit[r] = requests_[r].emitted;
    args_.rounds[r] = requests_[r].rounds;
    args_.accepted[r] = requests_[r].accepted;
  }

  const DflashGenerateArgs& args_;
  std::vector<Request> requests_;
  std::vector<std::int64_t> running_;
};

}  // namespace

std::int64_t dflash_build(const DflashBuildArgs* args) {
  if (!supported(*args)) return DFLASH_UNSUPPORTED;
  if (args->num_threads < 1 || args->num_trees < 0 || args->mask_words < 0)
    return DFLASH_BAD_ARGUMENT;
  if (!valid_trees(args->node_start, args->parent, args->num_trees)) return DFLASH_BAD_ARGUMENT;
  if (!none_negative(args->context_length, args->num_trees)) return DFLASH_BAD_ARGUMENT;
  for (std::int64_t t = 0; t < args->num_trees; ++t)
    if (span_of(args->node_start, t).nodes + 1 > 64 * args->mask_words) return DFLASH_BAD_ARGUMENT;
  for (std::int64_t t = 0; t < args->num_trees; ++t) {
    const Span tree = span_of(args->node_start, t);
    build_tree(args->parent + tree.first_node, tree.nodes, args->mask_words,
               args->context_length[t], args->mask + tree.first_row * args->mask_words,
               args->position + tree.first_row);
  }
  return DFLASH_OK;
}

std::int64_t dflash_verify(const DflashVerifyArgs* args) {
  if (!supported(*args)) return DFLASH_UNSUPPORTED;
  if (args->num_threads < 1 || args->num_trees < 0 || args->vocab < 1 || args->num_eos < 0 ||
      args->logits_stride < args->vocab)
    return DFLASH_BAD_ARGUMENT;
  if (!valid_trees(args->node_start, args->parent, args->num_trees)) return DFLASH_BAD_ARGUMENT;
  if (!none_negative(args->max_emit, args->num_trees)) return DFLASH_BAD_ARGUMENT;
  for (std::int64_t t = 0; t < args->num_trees; ++t) {
    const Decision decision = walk(*args, t);
    const std::int64_t row = span_of(args->node_start, t).first_row;
    std::copy(decision.emit.begin(), decision.emit.end(), args->emit + row);
    std::copy(decision.path.begin(), decision.path.end(), args->path + row);
    args->num_emit[t] = static_cast<std::int64_t>(decision.emit.size());
    args->num_path[t] = static_cast<std::int64_t>(decision.path.size());
  }
  return DFLASH_OK;
}

std::int64_t dflash_generate(const DflashGenerateArgs* args) {
  if (!supported(*args)) return DFLASH_UNSUPPORTED;
  if (args->num_threads < 1 || args->num_requests < 0 || args->vocab < 1 || args->num_eos < 0 ||
      args->draft_budget < 0)
    return DFLASH_BAD_ARGUMENT;
  if (!ascending(args->prompt_start, args->num_requests, 1)) return DFLASH_BAD_ARGUMENT;
  for (std::int64_t r = 0; r < args->num_requests; ++r)
    if (args->max_new[r] < 0 || args->max_new[r] > args->emit_stride) return DFLASH_BAD_ARGUMENT;
  return Generation(*args).run();
}
