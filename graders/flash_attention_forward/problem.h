#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graders/kit/attention.h"
#include "harness/core/rng.h"
#include "harness/worker/call.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// How the rows of a tensor lie in memory.
enum class Layout {
  heads_first,   // [batch][head][row][dim]
  rows_first,    // [batch][row][head][dim]
  packed,        // rows_first, cut out of a wider projection
  gapped,        // heads_first with odd gaps between rows, heads and batch entries
  shared_heads,  // one head that all heads read: head stride 0
  shared_batch,  // one batch entry that all read: batch stride 0
};

/// Four-dimensional floats; memory ends with the last element. Gaps hold NaN.
struct Tensor {
  Tensor() = default;
  Tensor(std::int64_t batch, std::int64_t heads, std::int64_t rows, std::int64_t dim, Layout layout,
         Rng& rng);

  float* row(std::int64_t b, std::int64_t h, std::int64_t n) {
    return data.data() + b * batch_stride + h * head_stride + n * row_stride;
  }
  const float* row(std::int64_t b, std::int64_t h, std::int64_t n) const {
    return data.data() + b * batch_stride + h * head_stride + n * row_stride;
  }
  kit::RowsView view() const { return {data.data(), batch_stride, head_stride, row_stride}; }

  std::int64_t batch = 0, heads = 0, rows = 0, dim = 0;
  std::int64_t batch_stride = 0, head_stride = 0, row_stride = 0;
  std::vector<float> data;
};

/// Sets every row: fill(row, batch, head, index).
void for_each_row(
    Tensor& tensor,
    const std::function<void(float*, std::int64_t, std::int64_t, std::int64_t)>& fill);

struct Sizes {
  std::int64_t batch = 1;
  std::int64_t q_heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t q_len = 1;
  std::int64_t k_len = 1;
  std::int64_t dim = 64;
  std::int64_t value_dim = 64;
};

/// Everything that one call is given. Numbers are NaN until a generator fills them in.
struct Problem {
  Problem(const Sizes& sizes, Rng& rng, Layout layout = Layout::heads_first);

  Sizes sizes;
  bool causal = false;
  std::int64_t window_left = -1;
  std::int64_t window_right = -1;
  float scale;  // 1 / sqrt(dim) unless changed before the numbers are drawn
  float softcap = 0;
  std::vector<std::int32_t> kv_start;  // empty: null in the call
  std::vector<std::int32_t> kv_len;
  Tensor q, k, v;
  Tensor o;  // strides only, its data is what the call must not touch: gaps
  int threads = 2;
  Placement placement;
  bool want_lse = true;

  kit::AttentionProblem oracle_view() const;
  std::string describe() const;  // one line for evidence
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
