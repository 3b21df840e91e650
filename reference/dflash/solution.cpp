// uses: where siblings carry the same token either may be followed, here the one that leads
// furthest down; rows of logits that are not on the way need not be read
// SPDX-License-Identifier: Apache-2.0
// Greedy speculative decoding with draft trees: the reference that speed is compared with.
//
// Verification is bound by reading logits. Only rows on the accepted path are read, each once.
#include <algorithm>
#include <cstdint>

#include "choice.h"
#include "contract.h"
#include "generation.h"
#include "tree.h"
#include "verifier.h"

namespace {

template <class Args>
std::int64_t refused(const Args& args, std::int64_t count) {
  if (args.abi_version != DFLASH_ABI_VERSION || args.device != DFLASH_HOST)
    return DFLASH_UNSUPPORTED;
  return args.num_threads < 1 || count < 0 ? DFLASH_BAD_ARGUMENT : DFLASH_OK;
}

// Logits below which threads cost more than they bring.
constexpr std::int64_t kWorthThreads = std::int64_t{1} << 17;

/// `choose(logits)` is the target's choice after a row of logits.
template <class Choose>
void verify_tree(const DflashVerifyArgs& args, std::int64_t t, Verifier& verifier,
                 const Choose& choose) {
  const std::int64_t first = args.node_start[t];
  const std::int64_t row = first + t;
  verifier.walk(
      {args.parent + first, args.token + first, args.node_start[t + 1] - first},
      {args.eos, args.num_eos}, args.max_emit[t],
      [&](std::int64_t i) { return choose(args.logits + (row + i) * args.logits_stride); },
      args.emit + row, args.path + row);
  args.num_emit[t] = verifier.num_emit;
  args.num_path[t] = verifier.num_path;
}

/// A few trees over a large vocabulary: all threads share each row.
void verify_by_rows(const DflashVerifyArgs& args) {
  RowTeam(args.vocab, args.num_threads).run([&](const auto& choose) {
    Verifier verifier;
    for (std::int64_t t = 0; t < args.num_trees; ++t) verify_tree(args, t, verifier, choose);
  });
}

void verify_all(const DflashVerifyArgs& args) {
  const int trees = static_cast<int>(std::min<std::int64_t>(args.num_trees, 1 << 16));
  if (trees < args.num_threads && args.vocab >= kWorthThreads / 2) return verify_by_rows(args);
  const bool alone = args.vocab * args.num_trees < kWorthThreads;
  const int team = alone ? 1 : std::min(args.num_threads, trees);
#pragma omp parallel num_threads(team) if (team > 1)
  {
    Verifier verifier;
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t t = 0; t < args.num_trees; ++t)
      verify_tree(args, t, verifier,
                  [&](const float* logits) { return choice(logits, args.vocab); });
  }
}

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
