// strategy: Welford's running mean and variance, one thread, one long float32 chain per sum
// uses: fewer threads than num_threads may be used; results may be off by what ACCURACY allows to
// long sums
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "common.h"

namespace {

struct Row {
  float mean = 0;
  float rstd = 0;
};

Row welford(const float* x, int64_t cols, double eps) {
  float mean = 0;
  float m2 = 0;
  for (int64_t j = 0; j < cols; ++j) {
    const float delta = x[j] - mean;
    mean += delta / static_cast<float>(j + 1);
    m2 += delta * (x[j] - mean);
  }
  const double variance = m2 / static_cast<float>(cols);
  return {mean, static_cast<float>(1 / std::sqrt(variance + eps))};
}

}  // namespace

extern "C" int64_t layernorm_saved_bytes(const LayernormArgs* a) {
  return 2 * static_cast<int64_t>(sizeof(float)) * a->rows;
}

extern "C" int64_t layernorm_forward(const LayernormArgs* a) {
  if (const int64_t status = refusal(*a, Pass::forward)) return status;
  auto* saved = static_cast<float*>(a->saved_out);
  const auto* gamma = static_cast<const float*>(a->gamma);
  const auto* beta = static_cast<const float*>(a->beta);
  for (int64_t i = 0; i < a->rows; ++i) {
    const float* x = static_cast<const float*>(a->x) + i * a->x_row_stride;
    const Row row = welford(x, a->cols, a->eps);
    saved[i] = row.mean;
    saved[a->rows + i] = row.rstd;
    if (!a->y) continue;
    float* y = static_cast<float*>(a->y) + i * a->y_row_stride;
    for (int64_t j = 0; j < a->cols; ++j) {
      y[j] = (x[j] - row.mean) * row.rstd;
      if (gamma) y[j] *= gamma[j];
      if (beta) y[j] += beta[j];
    }
  }
  return LAYERNORM_OK;
}

extern "C" int64_t layernorm_backward(const LayernormArgs* a) {
  if (const int64_t status = refusal(*a, Pass::backward)) return status;
  const float* means = a->mean ? a->mean : static_cast<const float*>(a->saved_in);
  const float* rstds = a->rstd ? a->rstd : means + a->rows;
  const auto* gamma = static_cast<const float*>(a->gamma);
  auto* dgamma = static_cast<float*>(a->dgamma);
  auto* dbeta = static_cast<float*>(a->dbeta);
  for (int64_t j = 0; j < a->cols; ++j) {
    if (dgamma) dgamma[j] = 0;
    if (dbeta) dbeta[j] = 0;
  }
  for (int64_t i = 0; i < a->rows; ++i) {
    const float* x = static_cast<const float*>(a->x) + i * a->x_row_stride;
    const float* dy = static_cast<const float*>(a->dy) + i * a->dy_row_stride;
    float sum_w = 0;
    float sum_wx = 0;
    for (int64_t j = 0; j < a->cols; ++j) {
      const float xhat = (x[j] - means[i]) * rstds[i];
      const float w = dy[j] * (gamma ? gamma[j] : 1.0f);
      sum_w += w;
      sum_wx += w * xhat;
      if (dgamma) dgamma[j] += dy[j] * xhat;
      if (dbeta) dbeta[j] += dy[j];
    }
    if (!a->dx) continue;
    float* dx = static_cast<float*>(a->dx) + i * a->dx_row_stride;
    const float n = static_cast<float>(a->cols);
    for (int64_t j = 0; j < a->cols; ++j) {
      const float xhat = (x[j] - means[i]) * rstds[i];
      const float w = dy[j] * (gamma ? gamma[j] : 1.0f);
      dx[j] = rstds[i] / n * (n * w - sum_w - xhat * sum_wx);
    }
  }
  return LAYERNORM_OK;
}
