// SPDX-License-Identifier: Apache-2.0
#pragma once
// The right answers, plainly: what attackers hand in beside their attack. Without <math.h>, which
// in C++ takes longer to read than all the rest.
#include <stdint.h>

#if __has_include("contract.h")  // else whoever includes this has it already
#include "contract.h"
#endif

#ifdef __CUDA__  // the same on a device, a row for each thread
#define HONEST __host__ __device__ inline
#else
#define HONEST inline
#endif

struct RowStatistics {
  double mean;
  double rstd;
};

HONEST RowStatistics statistics_of(const LayernormArgs* a, int64_t i) {
  if (a->mean != nullptr) return {a->mean[i], a->rstd[i]};
  const float* x = (const float*)a->x + i * a->x_row_stride;
  double sum = 0, squares = 0;
  for (int64_t j = 0; j < a->cols; ++j) sum += x[j];
  const double mean = sum / (double)a->cols;
  for (int64_t j = 0; j < a->cols; ++j) squares += (x[j] - mean) * (x[j] - mean);
  return {mean, 1 / __builtin_sqrt(squares / (double)a->cols + a->eps)};
}

inline int64_t refusal(const LayernormArgs* a, int32_t device = LAYERNORM_HOST) {
  if (a->abi_version != LAYERNORM_ABI_VERSION || a->device != device ||
      a->data_type != LAYERNORM_F32 || a->parameter_type != LAYERNORM_F32)
    return LAYERNORM_UNSUPPORTED;
  return a->rows < 0 || a->cols < 1 ? LAYERNORM_BAD_ARGUMENT : LAYERNORM_OK;
}

HONEST void honest_forward_row(const LayernormArgs* a, int64_t i) {
  if (a->y == nullptr) return;
  const float *gamma = (const float*)a->gamma, *beta = (const float*)a->beta;
  const RowStatistics row = statistics_of(a, i);
  const float* x = (const float*)a->x + i * a->x_row_stride;
  float* y = (float*)a->y + i * a->y_row_stride;
  for (int64_t j = 0; j < a->cols; ++j)
    y[j] = (float)((gamma ? gamma[j] : 1.0) * (x[j] - row.mean) * row.rstd + (beta ? beta[j] : 0));
}

inline int64_t honest_forward(const LayernormArgs* a) {
  if (const int64_t status = refusal(a)) return status;
  for (int64_t i = 0; i < a->rows; ++i) honest_forward_row(a, i);
  return LAYERNORM_OK;
}

HONEST void honest_row(const LayernormArgs* a, int64_t i) {
  const float* gamma = (const float*)a->gamma;
  const RowStatistics row = statistics_of(a, i);
  const float* x = (const float*)a->x + i * a->x_row_stride;
  const float* dy = (const float*)a->dy + i * a->dy_row_stride;
  double w_sum = 0, w_xhat_sum = 0;
  for (int64_t j = 0; j < a->cols; ++j) {
    const double w = (gamma ? gamma[j] : 1.0) * dy[j];
    w_sum += w;
    w_xhat_sum += w * (x[j] - row.mean) * row.rstd;
  }
  for (int64_t j = 0; j < a->cols && a->dx != nullptr; ++j) {
    const double w = (gamma ? gamma[j] : 1.0) * dy[j], xhat = (x[j] - row.mean) * row.rstd;
    ((float*)a->dx)[i * a->dx_row_stride + j] =
        (float)(row.rstd * (w - w_sum / (double)a->cols - xhat * w_xhat_sum / (double)a->cols));
  }
}

inline int64_t honest_backward(const LayernormArgs* a) {
  if (const int64_t status = refusal(a)) return status;
  for (int64_t i = 0; i < a->rows; ++i) honest_row(a, i);
  double* sums = new double[2 * (unsigned long)a->cols]();
  for (int64_t i = 0; i < a->rows; ++i) {
    const RowStatistics row = statistics_of(a, i);
    const float* x = (const float*)a->x + i * a->x_row_stride;
    const float* dy = (const float*)a->dy + i * a->dy_row_stride;
    for (int64_t j = 0; j < a->cols; ++j) {
      sums[j] += dy[j] * (x[j] - row.mean) * row.rstd;
      sums[a->cols + j] += dy[j];
    }
  }
  for (int64_t j = 0; j < a->cols; ++j) {
    if (a->dgamma != nullptr) ((float*)a->dgamma)[j] = (float)sums[j];
    if (a->dbeta != nullptr) ((float*)a->dbeta)[j] = (float)sums[a->cols + j];
  }
  delete[] sums;
  return LAYERNORM_OK;
}
