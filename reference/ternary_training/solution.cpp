// uses: ternary_train may train in any way, and held_out_nll is an estimate of the solution's own
// SPDX-License-Identifier: Apache-2.0
// Training, quantiser, linear layer and forward pass on host threads: all matrix products run
// through one kernel that keeps a tile of the result in registers.
//
// solution.cpp judges arguments. trainer.cpp trains: batches of the corpus, forward and backward by
// windows, one thread a window, then Adam on latent weights and the quantiser. units.cpp has the
// other three functions.
#include <algorithm>

#include "checkpoint.h"
#include "contract.h"
#include "trainer.h"
#include "units.h"

namespace ternary {
namespace {

template <class Args>
bool is_supported(const Args& args) {
  return args.abi_version == TERNARY_ABI_VERSION && args.device == TERNARY_HOST;
}

bool are_documents(const TernaryTrainArgs& a) {
  if (a.num_documents < 1 || a.document_start[0] != 0) return false;
  for (std::int64_t d = 0; d < a.num_documents; ++d)
    if (a.document_start[d + 1] < a.document_start[d]) return false;
  return a.document_start[a.num_documents] == a.num_tokens;
}

bool are_tokens(const std::uint16_t* token, std::int64_t count, std::int64_t vocab) {
  unsigned largest = 0;
  for (std::int64_t i = 0; i < count; ++i) largest = std::max<unsigned>(largest, token[i]);
  return largest < vocab;
}

std::int64_t judge(const TernaryTrainArgs& a) {
  if (!is_supported(a)) return TERNARY_UNSUPPORTED;
  if (a.num_threads < 1 || !is_legal(a.model)) return TERNARY_BAD_ARGUMENT;
  if (a.num_tokens < a.model.context + 1 || !are_documents(a)) return TERNARY_BAD_ARGUMENT;
  if (!are_tokens(a.token, a.num_tokens, a.model.vocab)) return TERNARY_BAD_ARGUMENT;
  if (!(a.max_seconds >= 0) && a.max_tokens < 0) return TERNARY_BAD_ARGUMENT;
  return TERNARY_OK;
}

bool is_legal_matrix(std::int64_t rows, std::int64_t columns, std::int64_t group, int threads) {
  return threads >= 1 && rows >= 1 && is_legal_group(group, columns);
}

}  // namespace
}  // namespace ternary

extern "C" int64_t ternary_train(const TernaryTrainArgs* args) {
  const std::int64_t status = ternary::judge(*args);
  if (status != TERNARY_OK) return status;
  const std::int64_t bytes = ternary::checkpoint_length(args->model);
  // The largest stands for all lengths beyond it as well, which no room is enough for.
  if (bytes > args->checkpoint_capacity || bytes == INT64_MAX) {
    *args->checkpoint_bytes = bytes;
    return TERNARY_NO_SPACE;
  }
  const ternary::Outcome outcome = ternary::train(*args);
  *args->checkpoint_bytes = bytes;
  *args->train_nll = outcome.train_nll;
  *args->held_out_nll = outcome.held_out_nll;
  *args->tokens_seen = outcome.tokens_seen;
  return TERNARY_OK;
}

extern "C" int64_t ternary_quantize(const TernaryQuantizeArgs* args) {
  if (!ternary::is_supported(*args)) return TERNARY_UNSUPPORTED;
  if (!ternary::is_legal_matrix(args->rows, args->columns, args->group, args->num_threads))
    return TERNARY_BAD_ARGUMENT;
  return ternary::quantise(*args) ? TERNARY_OK : TERNARY_BAD_ARGUMENT;
}

extern "C" int64_t ternary_linear_gradient(const TernaryLinearGradientArgs* args) {
  if (!ternary::is_supported(*args)) return TERNARY_UNSUPPORTED;
  if (!ternary::is_legal_matrix(args->rows, args->columns, args->group, args->num_threads) ||
      args->count < 1)
    return TERNARY_BAD_ARGUMENT;
  return ternary::differentiate(*args) ? TERNARY_OK : TERNARY_BAD_ARGUMENT;
}

extern "C" int64_t ternary_forward(const TernaryForwardArgs* args) {
  if (!ternary::is_supported(*args)) return TERNARY_UNSUPPORTED;
  const auto sizes = ternary::sizes_of(args->checkpoint, args->checkpoint_bytes);
  if (!sizes || args->num_threads < 1 || args->num_tokens < 1 ||
      args->num_tokens > sizes->context ||
      !ternary::are_tokens(args->token, args->num_tokens, sizes->vocab))
    return TERNARY_BAD_ARGUMENT;
  ternary::infer(*args, *sizes);
  return TERNARY_OK;
}
