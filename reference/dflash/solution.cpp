// Greedy speculative decoding with draft trees: the reference that speed is compared with.
//
// Verification is bound by reading logits. Only rows on the accepted path are read, each once, by a
// vector maximum over blocks that remembers the block; the index is looked up in that block alone.
// Equal siblings are followed together, so that the longest path is found without reading more.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <omp.h>
#include <vector>

#include "contract.h"

namespace {

using I32s = std::vector<std::int32_t>;
using I64s = std::vector<std::int64_t>;

constexpr std::int64_t kMaxNodes = 65535;

// ---- The target's choice ----

typedef float Vector __attribute__((vector_size(64), aligned(4), may_alias));
constexpr std::int64_t kLanes = 16;
constexpr std::int64_t kBlock = 4096;

/// By reference, as vectors of this size are passed differently with and without AVX-512.
void raise(Vector& best, const float* logits) {
  const Vector next = *reinterpret_cast<const Vector*>(logits);
  best = best > next ? best : next;
}

/// Largest of `count` logits, which are at least one.
float largest(const float* x, std::int64_t count) {
  float best = x[0];
  std::int64_t i = 0;
  if (count >= 4 * kLanes) {
    Vector peaks[4];
    std::memcpy(peaks, x, sizeof peaks);
    for (i = 4 * kLanes; i + 4 * kLanes <= count; i += 4 * kLanes)
      for (std::int64_t k = 0; k < 4; ++k) raise(peaks[k], x + i + k * kLanes);
    for (Vector& peak : peaks) raise(peaks[0], reinterpret_cast<const float*>(&peak));
    for (std::int64_t lane = 0; lane < kLanes; ++lane) best = std::max(best, peaks[0][lane]);
  }
  for (; i < count; ++i) best = std::max(best, x[i]);
  return best;
}

struct Peak {
  float value;
  std::int64_t block;  // where the block begins
};

/// The first block of [from, to) that holds the largest logit.
Peak peak_of(const float* logits, std::int64_t from, std::int64_t to) {
  Peak peak{logits[from], from};
  for (std::int64_t at = from; at < to; at += kBlock) {
    const float value = largest(logits + at, std::min(kBlock, to - at));
    if (value > peak.value) peak = {value, at};
  }
  return peak;
}

std::int32_t index_of(const float* logits, const Peak& peak) {
  std::int64_t i = peak.block;
  while (logits[i] != peak.value) ++i;
  return static_cast<std::int32_t>(i);
}

std::int32_t choice(const float* logits, std::int64_t vocab) {
  return index_of(logits, peak_of(logits, 0, vocab));
}

/// The same with a row cut into one piece a thread.
std::int32_t choice_by_many(const float* logits, std::int64_t vocab, int threads) {
  const std::int64_t piece = (vocab / threads + kBlock) / kBlock * kBlock;
  std::vector<Peak> peaks(static_cast<std::size_t>(threads), Peak{logits[0], 0});
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int k = 0; k < threads; ++k)
    if (k * piece < vocab)
      peaks[static_cast<std::size_t>(k)] =
          peak_of(logits, k * piece, std::min(vocab, (k + 1) * piece));
  Peak best = peaks[0];
  for (const Peak& peak : peaks)
    if (peak.value > best.value) best = peak;
  return index_of(logits, best);
}

// ---- Trees ----

struct Tree {
  const std::int32_t* parent;
  const std::int32_t* token;
  std::int64_t nodes;
};

bool valid(const std::int32_t* parent, std::int64_t nodes) {
  if (nodes > kMaxNodes) return false;
  bool good = true;
  for (std::int64_t i = 0; i < nodes; ++i) good &= parent[i] >= -1 && parent[i] < i;
  return good;
}

bool valid(const std::int64_t* node_start, const std::int32_t* parent, std::int64_t trees,
           std::int64_t most_rows) {
  if (node_start[0] != 0) return false;
  for (std::int64_t t = 0; t < trees; ++t) {
    const std::int64_t nodes = node_start[t + 1] - node_start[t];
    if (nodes < 0 || nodes + 1 > most_rows || !valid(parent + node_start[t], nodes)) return false;
  }
  return true;
}

bool none_negative(const std::int64_t* values, std::int64_t count) {
  return std::all_of(values, values + count, [](std::int64_t value) { return value >= 0; });
}

template <class Args>
std::int64_t refused(const Args& args, std::int64_t count) {
  if (args.abi_version != DFLASH_ABI_VERSION || args.device != DFLASH_HOST)
    return DFLASH_UNSUPPORTED;
  return args.num_threads < 1 || count < 0 ? DFLASH_BAD_ARGUMENT : DFLASH_OK;
}

template <std::int64_t kWords>
void build_rows(const std::int32_t* parent, std::int64_t nodes, std::int64_t words,
                std::int64_t context_length, std::uint64_t* mask, std::int64_t* position) {
  if (kWords > 0) words = kWords;  // a constant, so that rows are copied without a call
  std::memset(mask, 0, static_cast<std::size_t>(words) * sizeof *mask);
  mask[0] = 1;
  position[0] = context_length;
  for (std::int64_t row = 1; row <= nodes; ++row) {
    const std::int64_t above = parent[row - 1] + 1;
    std::memcpy(mask + row * words, mask + above * words,
                static_cast<std::size_t>(words) * sizeof *mask);
    mask[row * words + row / 64] |= std::uint64_t{1} << (row % 64);
    position[row] = position[above] + 1;
  }
}

void build_tree(const std::int32_t* parent, std::int64_t nodes, std::int64_t words,
                std::int64_t context_length, std::uint64_t* mask, std::int64_t* position) {
  const auto build = words == 1   ? build_rows<1>
                     : words == 2 ? build_rows<2>
                     : words == 4 ? build_rows<4>
                                  : build_rows<0>;
  build(parent, nodes, words, context_length, mask, position);
}

// ---- Verification ----

struct Ends {
  const std::int32_t* token;
  std::int64_t count;
  bool hold(std::int32_t word) const {
    return std::find(token, token + count, word) != token + count;
  }
};

/// Verifies one tree after another with the same scratch memory.
class Verifier {
 public:
  std::int64_t num_emit = 0;
  std::int64_t num_path = 0;

  /// `choose(row)` is the target's choice after that row of the tree.
  template <class Choose>
  void walk(const Tree& tree, const Ends& ends, std::int64_t max_emit, const Choose& choose,
            std::int32_t* emit, std::int32_t* path) {
    link(tree);
    num_emit = num_path = 0;
    front_.assign(1, -1);
    std::int32_t tip = -1;
    while (num_emit < max_emit) {
      const std::int32_t wanted = choose(front_[0] + 1);
      emit[num_emit++] = wanted;
      advance(tree, wanted);
      if (front_.empty()) break;
      tip = front_[0];
      ++num_path;
      if (ends.hold(wanted)) break;
    }
    for (std::int64_t i = num_path; i-- > 0; tip = tree.parent[tip]) path[i] = tip;
  }

 private:
  /// Lists of children, by first child and next sibling, in order.
  void link(const Tree& tree) {
    first_.assign(static_cast<std::size_t>(tree.nodes) + 1, -1);
    next_.resize(static_cast<std::size_t>(tree.nodes));
    for (std::int64_t i = tree.nodes; i-- > 0;) {
      next_[i] = first_[tree.parent[i] + 1];
      first_[tree.parent[i] + 1] = static_cast<std::int32_t>(i);
    }
  }

  /// Nodes of `front_` spell the same text; so do their children that carry `wanted`.
  void advance(const Tree& tree, std::int32_t wanted) {
    ahead_.clear();
    for (const std::int32_t node : front_)
      for (std::int32_t child = first_[node + 1]; child >= 0; child = next_[child])
        if (tree.token[child] == wanted) ahead_.push_back(child);
    front_.swap(ahead_);
  }

  I32s first_, next_, front_, ahead_;
};

// Logits below which threads cost more than they bring.
constexpr std::int64_t kWorthThreads = std::int64_t{1} << 17;

void verify_all(const DflashVerifyArgs& args) {
  const int trees = static_cast<int>(std::min<std::int64_t>(args.num_trees, 1 << 16));
  const bool split = trees < args.num_threads && args.vocab >= kWorthThreads / 2;
  const bool alone = split || args.vocab * args.num_trees < kWorthThreads;
  const int team = alone ? 1 : std::min(args.num_threads, trees);
#pragma omp parallel num_threads(team) if (team > 1)
  {
    Verifier verifier;
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t t = 0; t < args.num_trees; ++t) {
      const std::int64_t first = args.node_start[t];
      const std::int64_t row = first + t;
      const auto choose = [&](std::int64_t i) {
        const float* logits = args.logits + (row + i) * args.logits_stride;
        return split ? choice_by_many(logits, args.vocab, args.num_threads)
                     : choice(logits, args.vocab);
      };
      verifier.walk({args.parent + first, args.token + first, args.node_start[t + 1] - first},
                    {args.eos, args.num_eos}, args.max_emit[t], choose, args.emit + row,
                    args.path + row);
      args.num_emit[t] = verifier.num_emit;
      args.num_path[t] = verifier.num_path;
    }
  }
}

// ---- Generation ----

/// All running requests, round after round. Steps return 0 or what dflash_generate has to return.
class Generation {
 public:
  explicit Generation(const DflashGenerateArgs& args)
      : args_(args), context_(static_cast<std::size_t>(args.num_requests)) {
    for (std::int64_t r = 0; r < args.num_requests; ++r) {
      context_[r].assign(args.prompt + args.prompt_start[r],
                         args.prompt + args.prompt_start[r + 1]);
      args.num_emit[r] = args.rounds[r] = args.accepted[r] = 0;
      if (args.max_new[r] > 0) running_.push_back(r);
    }
  }

  std::int64_t run() {
    while (!running_.empty()) {
      std::int64_t code = draft();
      if (code == 0) code = forward();
      if (code == 0) code = verify();
      if (code != 0) return code;
    }
    return DFLASH_OK;
  }

 private:
  std::int64_t draft() {
    joined_.clear();
    lengths_.clear();
    for (const std::int64_t r : running_) {
      joined_.insert(joined_.end(), context_[r].begin(), context_[r].end());
      lengths_.push_back(static_cast<std::int64_t>(context_[r].size()));
    }
    nodes_.assign(running_.size(), 0);
    parent_.resize(running_.size() * static_cast<std::size_t>(args_.draft_budget));
    token_.resize(parent_.size());
    DflashDraft ask{};
    ask.num_requests = static_cast<std::int64_t>(running_.size());
    ask.num_tokens = static_cast<std::int64_t>(joined_.size());
    ask.budget = args_.draft_budget;
    ask.request = running_.data();
    ask.context_length = lengths_.data();
    ask.context = joined_.data();
    ask.num_nodes = nodes_.data();
    ask.parent = parent_.data();
    ask.token = token_.data();
    if (const std::int64_t code = args_.draft(args_.model, &ask)) return code;
    for (std::size_t k = 0; k < running_.size(); ++k)
      if (nodes_[k] < 0 || nodes_[k] > args_.draft_budget ||
          !valid(parent_.data() + k * args_.draft_budget, nodes_[k]))
        return DFLASH_BAD_ARGUMENT;
    return 0;
  }

  Tree tree(std::size_t k) const {
    return {parent_.data() + k * args_.draft_budget, token_.data() + k * args_.draft_budget,
            nodes_[k]};
  }

  std::int64_t forward() {
    const std::int64_t most = *std::max_element(nodes_.begin(), nodes_.end()) + 1;
    const std::int64_t words = (most + 63) / 64;
    rows_.clear();
    row_token_.clear();
    for (std::size_t k = 0; k < running_.size(); ++k) {
      --lengths_[k];  // what is committed: all but the root
      rows_.push_back(nodes_[k] + 1);
      row_token_.push_back(context_[running_[k]].back());
      row_token_.insert(row_token_.end(), tree(k).token, tree(k).token + nodes_[k]);
    }
    mask_.resize(row_token_.size() * static_cast<std::size_t>(words));
    position_.resize(row_token_.size());
    logits_.resize(row_token_.size() * static_cast<std::size_t>(args_.vocab));
    for (std::size_t k = 0, row = 0; k < running_.size(); row += rows_[k++])
      build_tree(tree(k).parent, nodes_[k], words, lengths_[k], mask_.data() + row * words,
                 position_.data() + row);
    DflashForward pass{};
    pass.num_requests = static_cast<std::int64_t>(running_.size());
    pass.num_rows = static_cast<std::int64_t>(row_token_.size());
    pass.mask_words = words;
    pass.vocab = args_.vocab;
    pass.request = running_.data();
    pass.context_length = lengths_.data();
    pass.row_count = rows_.data();
    pass.token = row_token_.data();
    pass.position = position_.data();
    pass.mask = mask_.data();
    pass.logits = logits_.data();
    return args_.forward(args_.model, &pass);
  }

  std::int64_t verify() {
    going_on_.clear();
    counts_.clear();
    slots_.clear();
    const Ends ends{args_.eos, args_.num_eos};
    for (std::size_t k = 0, row = 0; k < running_.size(); row += rows_[k++]) {
      const std::int64_t r = running_[k];
      const auto choose = [&](std::int64_t i) {
        return choice(logits_.data() + (row + i) * args_.vocab, args_.vocab);
      };
      emit_.resize(static_cast<std::size_t>(rows_[k]));
      path_.resize(static_cast<std::size_t>(rows_[k]));
      verifier_.walk(tree(k), ends, args_.max_new[r] - args_.num_emit[r], choose, emit_.data(),
                     path_.data());
      emit_.resize(static_cast<std::size_t>(verifier_.num_emit));
      path_.resize(static_cast<std::size_t>(verifier_.num_path));
      if (!take(r, ends)) continue;
      going_on_.push_back(r);
      counts_.push_back(verifier_.num_path + 1);
      slots_.push_back(0);
      for (const std::int32_t node : path_) slots_.push_back(node + 1);
    }
    running_ = going_on_;
    if (running_.empty()) return 0;
    DflashKeep keep{};
    keep.num_requests = static_cast<std::int64_t>(going_on_.size());
    keep.num_slots = static_cast<std::int64_t>(slots_.size());
    keep.request = going_on_.data();
    keep.keep_count = counts_.data();
    keep.slot = slots_.data();
    return args_.keep(args_.model, &keep);
  }

  /// Gives request r what was emitted; false when it has ended.
  bool take(std::int64_t r, const Ends& ends) {
    std::copy(emit_.begin(), emit_.end(), args_.emit + r * args_.emit_stride + args_.num_emit[r]);
    context_[r].insert(context_[r].end(), emit_.begin(), emit_.end());
    args_.num_emit[r] += verifier_.num_emit;
    args_.accepted[r] += verifier_.num_path;
    ++args_.rounds[r];
    return args_.num_emit[r] < args_.max_new[r] && !ends.hold(emit_.back());
  }

  const DflashGenerateArgs& args_;
  Verifier verifier_;
  std::vector<I32s> context_;
  I64s running_, going_on_, lengths_, nodes_, rows_, position_, counts_, slots_;
  I32s joined_, parent_, token_, row_token_, emit_, path_;
  std::vector<std::uint64_t> mask_;
  std::vector<float> logits_;
};

bool valid_requests(const DflashGenerateArgs& args) {
  if (args.vocab < 1 || args.num_eos < 0 || args.draft_budget < 0 || args.prompt_start[0] != 0)
    return false;
  for (std::int64_t r = 0; r < args.num_requests; ++r)
    if (args.prompt_start[r + 1] <= args.prompt_start[r] || args.max_new[r] < 0 ||
        args.max_new[r] > args.emit_stride)
      return false;
  return true;
}

}  // namespace

std::int64_t dflash_build(const DflashBuildArgs* args) {
  if (const std::int64_t code = refused(*args, args->num_trees)) return code;
  if (args->mask_words < 0 || !none_negative(args->context_length, args->num_trees) ||
      !valid(args->node_start, args->parent, args->num_trees, 64 * args->mask_words))
    return DFLASH_BAD_ARGUMENT;
  const int team = static_cast<int>(
      std::clamp<std::int64_t>(args->node_start[args->num_trees] / 4096, 1, args->num_threads));
#pragma omp parallel for num_threads(team) if (team > 1) schedule(static)
  for (std::int64_t t = 0; t < args->num_trees; ++t) {
    const std::int64_t first = args->node_start[t];
    build_tree(args->parent + first, args->node_start[t + 1] - first, args->mask_words,
               args->context_length[t], args->mask + (first + t) * args->mask_words,
               args->position + first + t);
  }
  return DFLASH_OK;
}

std::int64_t dflash_verify(const DflashVerifyArgs* args) {
  if (const std::int64_t code = refused(*args, args->num_trees)) return code;
  if (args->vocab < 1 || args->num_eos < 0 || args->logits_stride < args->vocab ||
      !none_negative(args->max_emit, args->num_trees) ||
      !valid(args->node_start, args->parent, args->num_trees, kMaxNodes + 1))
    return DFLASH_BAD_ARGUMENT;
  verify_all(*args);
  return DFLASH_OK;
}

std::int64_t dflash_generate(const DflashGenerateArgs* args) {
  if (const std::int64_t code = refused(*args, args->num_requests)) return code;
  if (!valid_requests(*args)) return DFLASH_BAD_ARGUMENT;
  return Generation(*args).run();
}
