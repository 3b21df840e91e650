// strategy: rows in any order with atomic adds to dgamma and dbeta; one thread when deterministic
// uses: without `deterministic` the bits of dgamma and dbeta may change from call to call
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cmath>

#include "common.h"

namespace {

struct Stats {
  float mean;
  float rstd;
};

Stats stats_of(const float* x, int64_t cols, double eps) {
  double mean = 0;
  for (int64_t j = 0; j < cols; ++j) mean += x[j];
  mean /= static_cast<double>(cols);
  double squares = 0;
  for (int64_t j = 0; j < cols; ++j) squares += (x[j] - mean) * (x[j] - mean);
  return {static_cast<float>(mean),
          static_cast<float>(1 / std::sqrt(squares / static_cast<double>(cols) + eps))};
}

// An atomic add costs no more than the sum of a column when nobody else adds to it.
void add(float* total, float value, bool alone) {
  if (!total) return;
  if (alone) {
    *total += value;
  } else {
    std::atomic_ref<float>(*total).fetch_add(value, std::memory_order_relaxed);
  }
}

}  // namespace

extern "C" int64_t layernorm_saved_bytes(const LayernormArgs* a) {
  return a->rows * 8;
}

extern "C" int64_t layernorm_forward(const LayernormArgs* args) {
  const LayernormArgs& a = *args;
  if (const int64_t status = refusal(*args, Pass::forward)) return status;
  const auto* gamma = static_cast<const float*>(a.gamma);
  const auto* beta = static_cast<const float*>(a.beta);
#pragma omp parallel for schedule(dynamic, 4) num_threads(a.num_threads)
  for (int64_t i = 0; i < a.rows; ++i) {
    const float* x = static_cast<const float*>(a.x) + i * a.x_row_stride;
    const Stats s = stats_of(x, a.cols, a.eps);
    if (a.saved_out) static_cast<Stats*>(a.saved_out)[i] = s;
    if (!a.y) continue;
    float* y = static_cast<float*>(a.y) + i * a.y_row_stride;
    for (int64_t j = 0; j < a.cols; ++j)
      y[j] = (x[j] - s.mean) * s.rstd * (gamma ? gamma[j] : 1.0f) + (beta ? beta[j] : 0.0f);
  }
  return 0;
}

extern "C" int64_t layernorm_backward(const LayernormArgs* args) {
  const LayernormArgs& a = *args;
  if (const int64_t status = refusal(*args, Pass::backward)) return status;
  const auto* gamma = static_cast<const float*>(a.gamma);
  auto* dgamma = static_cast<float*>(a.dgamma);
  auto* dbeta = static_cast<float*>(a.dbeta);
  for (int64_t j = 0; j < a.cols; ++j) {
    if (dgamma) dgamma[j] = 0;
    if (dbeta) dbeta[j] = 0;
  }
  const int threads = a.deterministic ? 1 : a.num_threads;
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads)
  for (int64_t i = 0; i < a.rows; ++i) {
    const Stats s = a.mean ? Stats{a.mean[i], a.rstd[i]} : static_cast<const Stats*>(a.saved_in)[i];
    const float* x = static_cast<const float*>(a.x) + i * a.x_row_stride;
    const float* dy = static_cast<const float*>(a.dy) + i * a.dy_row_stride;
    float ds = 0;
    float db = 0;
    for (int64_t j = 0; j < a.cols; ++j) {
      const float w = dy[j] * (gamma ? gamma[j] : 1.0f);
      const float xhat = (x[j] - s.mean) * s.rstd;
      ds += w * xhat;
      db += w;
      add(dgamma ? dgamma + j : nullptr, dy[j] * xhat, threads == 1);
      add(dbeta ? dbeta + j : nullptr, dy[j], threads == 1);
    }
    if (!a.dx) continue;
    float* dx = static_cast<float*>(a.dx) + i * a.dx_row_stride;
    const float scale = 1.0f / static_cast<float>(a.cols);
    const float slope = -ds * s.rstd * scale;
    const float level = -db * scale;
    for (int64_t j = 0; j < a.cols; ++j) {
      const float w = dy[j] * (gamma ? gamma[j] : 1.0f);
      dx[j] = s.rstd * (w + slope * (x[j] - s.mean) + level);
    }
  }
  return 0;
}
