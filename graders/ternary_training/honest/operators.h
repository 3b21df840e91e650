// SPDX-License-Identifier: Apache-2.0
#pragma once

// ternary_quantize, ternary_linear_gradient and ternary_forward for variants that differ in how
// they train.
#include "packed.h"
#include "tape.h"

namespace common {

/// The canonical quantiser; false when a scale is infinite.
inline bool quantise(const float* w, int64_t count, int64_t group, PackedMatrix& to) {
  to.trits.assign(static_cast<size_t>(count), 0);
  to.scales.clear();
  for (int64_t start = 0; start < count; start += group) {
    double sum = 0;
    for (int64_t i = start; i < start + group; ++i) sum += std::fabs(static_cast<double>(w[i]));
    const uint16_t scale = nearest_half(sum / static_cast<double>(group));
    if (scale == kHalfInfinity) return false;
    to.scales.push_back(scale);
    if (scale == 0) continue;
    const auto threshold = static_cast<float>(value_of_half(scale) / 2);
    for (int64_t i = start; i < start + group; ++i)
      to.trits[static_cast<size_t>(i)] =
          static_cast<int8_t>((w[i] > threshold) - (w[i] < -threshold));
  }
  return true;
}

inline void unfold(const PackedMatrix& packed, int64_t group, Floats& to) {
  for (size_t i = 0; i < to.size(); ++i) {
    const double scale = value_of_half(packed.scales[i / static_cast<size_t>(group)]);
    to[i] = static_cast<float>(scale) * static_cast<float>(packed.trits[i]);
  }
}

template <class Args>
int64_t judge_matrix(const Args& a) {
  if (unsupported(a)) return TERNARY_UNSUPPORTED;
  if (a.num_threads < 1 || a.rows < 1 || bad_group(a.group, a.columns)) return TERNARY_BAD_ARGUMENT;
  return TERNARY_OK;
}

}  // namespace common

extern "C" int64_t ternary_quantize(const TernaryQuantizeArgs* args) {
  using namespace common;
  if (const int64_t status = judge_matrix(*args); status != TERNARY_OK) return status;
  PackedMatrix packed;
  if (!quantise(args->weight, args->rows * args->columns, args->group, packed))
    return TERNARY_BAD_ARGUMENT;
  pack_codes(packed.trits, args->codes);
  std::copy(packed.scales.begin(), packed.scales.end(), args->scales);
  return TERNARY_OK;
}

extern "C" int64_t ternary_linear_gradient(const TernaryLinearGradientArgs* args) {
  using namespace common;
  if (const int64_t status = judge_matrix(*args); status != TERNARY_OK) return status;
  if (args->count < 1) return TERNARY_BAD_ARGUMENT;
  PackedMatrix packed;
  Weights w({args->rows, args->columns});
  if (!quantise(args->weight, args->rows * args->columns, args->group, packed))
    return TERNARY_BAD_ARGUMENT;
  unfold(packed, args->group, w.value);
  Tape tape(args->count);
  Node x;
  x.value.assign(args->x, args->x + args->count * args->columns);
  x.gradient.resize(x.value.size());
  Node& y = tape.linear(w, x);
  std::copy_n(args->output_gradient, y.gradient.size(), y.gradient.data());
  tape.run_back();
  std::copy(y.value.begin(), y.value.end(), args->y);
  std::copy(x.gradient.begin(), x.gradient.end(), args->input_gradient);
  std::copy(w.gradient.begin(), w.gradient.end(), args->weight_gradient);
  return TERNARY_OK;
}

extern "C" int64_t ternary_forward(const TernaryForwardArgs* args) {
  using namespace common;
  if (unsupported(*args)) return TERNARY_UNSUPPORTED;
  if (args->num_threads < 1) return TERNARY_BAD_ARGUMENT;
  auto read = unpack(args->checkpoint, args->checkpoint_bytes);
  if (!read || args->num_tokens < 1 || args->num_tokens > read->model.context ||
      bad_tokens(args->token, args->num_tokens, read->model.vocab))
    return TERNARY_BAD_ARGUMENT;
  std::vector<Weights> weights;
  for (const Size& size : sizes_of(read->model)) {
    weights.emplace_back(size);
    unfold(read->matrices[weights.size() - 1], read->model.group, weights.back().value);
  }
  Floats unused(read->gains.size());
  Tape tape(args->num_tokens);
  const Node& logits = logits_of(tape, read->model, weights, read->gains, unused, args->token);
  std::copy(logits.value.begin(), logits.value.end(), args->logits);
  return TERNARY_OK;
}
