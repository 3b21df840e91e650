#include "problem.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

void set_strides(Tensor& tensor, Layout layout, Rng& rng) {
  const bool gapped = layout == Layout::gapped;
  if (layout == Layout::rows_first || layout == Layout::packed) {
    const std::int64_t others = layout == Layout::packed ? rng.integer(1, 2 * tensor.dim + 3) : 0;
    tensor.head_stride = tensor.dim;
    tensor.row_stride = tensor.heads * tensor.dim + others;
    tensor.batch_stride = tensor.rows * tensor.row_stride;
    return;
  }
  const bool one_head = layout == Layout::shared_heads;
  tensor.row_stride = tensor.dim + (gapped ? rng.integer(1, 9) : 0);
  const std::int64_t head = tensor.rows * tensor.row_stride + (gapped ? rng.integer(0, 11) : 0);
  const std::int64_t all = (one_head ? 1 : tensor.heads) * head;
  tensor.head_stride = one_head ? 0 : head;
  tensor.batch_stride =
      layout == Layout::shared_batch ? 0 : all + (gapped ? rng.integer(0, 13) : 0);
}

/// Outputs cannot share memory: a shared layout is an ordinary one for them.
Layout output_layout(Layout layout) {
  return layout == Layout::shared_heads || layout == Layout::shared_batch ? Layout::heads_first
                                                                          : layout;
}

}  // namespace

Tensor::Tensor(std::int64_t batch_, std::int64_t heads_, std::int64_t rows_, std::int64_t dim_,
               Layout layout, Rng& rng)
    : batch(batch_), heads(heads_), rows(rows_), dim(dim_) {
  set_strides(*this, layout, rng);
  if (batch == 0 || heads == 0 || rows == 0) return;
  const std::int64_t count =
      (batch - 1) * batch_stride + (heads - 1) * head_stride + (rows - 1) * row_stride + dim;
  data.assign(static_cast<std::size_t>(count), std::numeric_limits<float>::quiet_NaN());
}

void for_each_row(
    Tensor& tensor,
    const std::function<void(float*, std::int64_t, std::int64_t, std::int64_t)>& fill) {
  for (std::int64_t b = 0; b < tensor.batch; ++b)
    for (std::int64_t h = 0; h < tensor.heads; ++h)
      for (std::int64_t n = 0; n < tensor.rows; ++n) fill(tensor.row(b, h, n), b, h, n);
}

Problem::Problem(const Sizes& s, Rng& rng, Layout layout)
    : sizes(s),
      scale(1 / std::sqrt(static_cast<float>(s.dim))),
      q(s.batch, s.q_heads, s.q_len, s.dim, output_layout(layout), rng),
      k(s.batch, s.kv_heads, s.k_len, s.dim, layout, rng),
      v(s.batch, s.kv_heads, s.k_len, s.value_dim, layout, rng),
      o(s.batch, s.q_heads, s.q_len, s.value_dim, output_layout(layout), rng) {}

kit::AttentionProblem Problem::oracle_view() const {
  kit::AttentionProblem view;
  view.batch = sizes.batch;
  view.q_heads = sizes.q_heads;
  view.kv_heads = sizes.kv_heads;
  view.q_len = sizes.q_len;
  view.k_len = sizes.k_len;
  view.dim = sizes.dim;
  view.value_dim = sizes.value_dim;
  view.q = q.view();
  view.k = k.view();
  view.v = v.view();
  view.scale = scale;
  view.softcap = softcap;
  view.causal = causal;
  view.window_left = window_left;
  view.window_right = window_right;
  view.kv_start = kv_start;
  view.kv_len = kv_len;
  return view;
}

std::string Problem::describe() const {
  std::string text = fmt::format(
      "batch {}, {} query heads on {} key heads, {} queries x {} keys, dim {} and {}, scale {}, {}",
      sizes.batch, sizes.q_heads, sizes.kv_heads, sizes.q_len, sizes.k_len, sizes.dim,
      sizes.value_dim, scale, causal ? "causal" : "not causal");
  if (window_left >= 0 || window_right >= 0)
    text += fmt::format(", window ({}, {})", window_left, window_right);
  if (softcap > 0) text += fmt::format(", softcap {}", softcap);
  for (std::size_t b = 0; b < std::max(kv_start.size(), kv_len.size()); ++b)
    text += fmt::format(
        ", entry {} has keys from {}, length {}", b, kv_start.empty() ? 0 : kv_start[b],
        kv_len.empty() ? sizes.k_len - (kv_start.empty() ? 0 : kv_start[b]) : kv_len[b]);
  return text + fmt::format(", {} thread{}", threads, threads == 1 ? "" : "s");
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
