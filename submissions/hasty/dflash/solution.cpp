// DFlash verification: accept draft nodes that match the target, then add the bonus token.
#include <vector>

#include "contract.h"

static int32_t argmax(const float* row, int64_t vocab) {
  int32_t best = 0;
  for (int64_t j = 1; j < vocab; j++)
    if (row[j] > row[best]) best = (int32_t)j;
  return best;
}

static bool is_eos(const int32_t* eos, int64_t n, int32_t tok) {
  for (int64_t i = 0; i < n; i++)
    if (eos[i] == tok) return true;
  return false;
}

static void build(int64_t n, const int32_t* parent, int64_t words, int64_t ctx, uint64_t* mask,
                  int64_t* pos) {
  for (int64_t i = 0; i < (n + 1) * words; i++) mask[i] = 0;
  for (int64_t row = 0; row <= n; row++) {
    int64_t depth = 0;
    int64_t slot = row;
    while (slot > 0) {
      mask[row * words + slot / 64] |= 1ULL << (slot % 64);
      slot = parent[slot - 1] + 1;
      depth++;
    }
    mask[row * words] |= 1;
    pos[row] = ctx + depth;
  }
}

struct Result {
  std::vector<int32_t> emit, path;
};

// Node i was predicted by the logits in row i, so compare it with argmax(row i).
static Result verify(int64_t n, const int32_t* parent, const int32_t* token, const float* logits,
                     int64_t vocab, int64_t stride, const int32_t* eos, int64_t num_eos,
                     int64_t max_emit) {
  Result res;
  if (max_emit == 0) return res;
  int32_t last = -1;
  for (int64_t i = 0; i < n; i++) {
    if (parent[i] != last) continue;
    int32_t pred = argmax(logits + i * stride, vocab);
    if (token[i] != pred) continue;
    res.emit.push_back(token[i]);
    res.path.push_back((int32_t)i);
    last = (int32_t)i;
    if (is_eos(eos, num_eos, token[i]) || (int64_t)res.emit.size() == max_emit) return res;
  }
  // Bonus token from the row after the accepted ones.
  res.emit.push_back(argmax(logits + (int64_t)res.path.size() * stride, vocab));
  return res;
}

static bool valid_tree(int64_t n, const int32_t* parent) {
  for (int64_t i = 0; i < n; i++)
    if (parent[i] < -1 || parent[i] >= i) return false;
  return true;
}

int64_t dflash_build(const DflashBuildArgs* a) {
  if (a->abi_version != DFLASH_ABI_VERSION || a->device != DFLASH_HOST) return DFLASH_UNSUPPORTED;
  if (a->num_trees < 0 || a->num_threads < 1) return DFLASH_BAD_ARGUMENT;
  for (int64_t t = 0; t < a->num_trees; t++) {
    int64_t first = a->node_start[t], n = a->node_start[t + 1] - first;
    if (!valid_tree(n, a->parent + first)) return DFLASH_BAD_ARGUMENT;
    build(n, a->parent + first, a->mask_words, a->context_length[t],
          a->mask + (first + t) * a->mask_words, a->position + first + t);
  }
  return DFLASH_OK;
}

int64_t dflash_verify(const DflashVerifyArgs* a) {
  if (a->abi_version != DFLASH_ABI_VERSION || a->device != DFLASH_HOST) return DFLASH_UNSUPPORTED;
  if (a->num_trees < 0 || a->num_threads < 1 || a->vocab < 1) return DFLASH_BAD_ARGUMENT;
  for (int64_t t = 0; t < a->num_trees; t++) {
    int64_t first = a->node_start[t], n = a->node_start[t + 1] - first, row = first + t;
    if (!valid_tree(n, a->parent + first)) return DFLASH_BAD_ARGUMENT;
    Result res = verify(n, a->parent + first, a->token + first, a->logits + row * a->logits_stride,
                        a->vocab, a->logits_stride, a->eos, a->num_eos, a->max_emit[t]);
    for (size_t i = 0; i < res.emit.size(); i++) a->emit[row + (int64_t)i] = res.emit[i];
    for (size_t i = 0; i < res.path.size(); i++) a->path[row + (int64_t)i] = res.path[i];
    a->num_emit[t] = (int64_t)res.emit.size();
    a->num_path[t] = (int64_t)res.path.size();
  }
  return DFLASH_OK;
}

// One request at a time.
static int64_t generate_one(const DflashGenerateArgs* a, int64_t r) {
  std::vector<int32_t> ctx(a->prompt + a->prompt_start[r], a->prompt + a->prompt_start[r + 1]);
  int32_t* out = a->emit + r * a->emit_stride;
  int64_t emitted = 0, rounds = 0, accepted = 0;
  bool done = a->max_new[r] == 0;
  while (!done) {
    int64_t len = (int64_t)ctx.size(), n = 0;
    std::vector<int32_t> parent(a->draft_budget), token(a->draft_budget);
    DflashDraft d = {1,          len, a->draft_budget, &r,          &len,
                     ctx.data(), &n,  parent.data(),   token.data()};
    if (int64_t rc = a->draft(a->model, &d)) return rc;

    int64_t rows = n + 1, words = (rows + 63) / 64, kv = len - 1;
    std::vector<int32_t> toks(1, ctx.back());
    toks.insert(toks.end(), token.begin(), token.begin() + n);
    std::vector<uint64_t> mask(rows * words);
    std::vector<int64_t> pos(rows);
    build(n, parent.data(), words, kv, mask.data(), pos.data());
    std::vector<float> logits(rows * a->vocab);
    DflashForward f = {1,     rows,        words,      a->vocab,    &r,           &kv,
                       &rows, toks.data(), pos.data(), mask.data(), logits.data()};
    if (int64_t rc = a->forward(a->model, &f)) return rc;

    Result res = verify(n, parent.data(), token.data(), logits.data(), a->vocab, a->vocab, a->eos,
                        a->num_eos, a->max_new[r] - emitted);
    for (int32_t tok : res.emit) {
      out[emitted++] = tok;
      ctx.push_back(tok);
    }
    rounds++;
    accepted += (int64_t)res.path.size();
    done = emitted >= a->max_new[r] || is_eos(a->eos, a->num_eos, ctx.back());

    // Keep the root and the accepted tokens.
    std::vector<int64_t> slots;
    for (size_t i = 0; i <= res.path.size(); i++) slots.push_back((int64_t)i);
    int64_t count = (int64_t)slots.size();
    DflashKeep k = {1, count, &r, &count, slots.data()};
    if (int64_t rc = a->keep(a->model, &k)) return rc;
  }
  a->num_emit[r] = emitted;
  a->rounds[r] = rounds;
  a->accepted[r] = accepted;
  return DFLASH_OK;
}

int64_t dflash_generate(const DflashGenerateArgs* a) {
  if (a->abi_version != DFLASH_ABI_VERSION || a->device != DFLASH_HOST) return DFLASH_UNSUPPORTED;
  if (a->num_requests < 0 || a->num_threads < 1 || a->vocab < 1) return DFLASH_BAD_ARGUMENT;
  for (int64_t r = 0; r < a->num_requests; r++)
    if (int64_t rc = generate_one(a, r)) return rc;
  return DFLASH_OK;
}
