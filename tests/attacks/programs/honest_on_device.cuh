// SPDX-License-Identifier: Apache-2.0
#pragma once
// The right answers from kernels, plainly: what attackers hand in beside their attack.
#include "honest.h"

inline cudaStream_t stream_of(const LayernormArgs* a) {
  return (cudaStream_t)a->stream;
}

inline unsigned blocks_for(int64_t threads) {
  return (unsigned)((threads + 63) / 64);
}

__device__ inline int64_t thread_number() {
  return blockIdx.x * 64LL + threadIdx.x;
}

__global__ void honest_forward_rows(LayernormArgs a) {
  if (thread_number() < a.rows) honest_forward_row(&a, thread_number());
}

__global__ void honest_rows(LayernormArgs a, RowStatistics* rows) {
  const int64_t i = thread_number();
  if (i >= a.rows) return;
  rows[i] = statistics_of(&a, i);
  honest_row(&a, i);
}

__global__ void honest_columns(LayernormArgs a, const RowStatistics* rows) {
  const int64_t j = thread_number();
  if (j >= a.cols) return;
  double dgamma = 0, dbeta = 0;
  for (int64_t i = 0; i < a.rows; ++i) {
    const double dy = ((const float*)a.dy)[i * a.dy_row_stride + j];
    dgamma += dy * (((const float*)a.x)[i * a.x_row_stride + j] - rows[i].mean) * rows[i].rstd;
    dbeta += dy;
  }
  if (a.dgamma != nullptr) ((float*)a.dgamma)[j] = (float)dgamma;
  if (a.dbeta != nullptr) ((float*)a.dbeta)[j] = (float)dbeta;
}

inline int64_t honest_forward_on_device(const LayernormArgs* a) {
  if (const int64_t status = refusal(a, LAYERNORM_CUDA)) return status;
  if (a->rows > 0) honest_forward_rows<<<blocks_for(a->rows), 64, 0, stream_of(a)>>>(*a);
  return cudaGetLastError();
}

inline int64_t honest_backward_on_device(const LayernormArgs* a) {
  if (const int64_t status = refusal(a, LAYERNORM_CUDA)) return status;
  RowStatistics* rows = nullptr;
  cudaMallocAsync(&rows, ((size_t)a->rows + 1) * sizeof *rows, stream_of(a));
  if (a->rows > 0) honest_rows<<<blocks_for(a->rows), 64, 0, stream_of(a)>>>(*a, rows);
  honest_columns<<<blocks_for(a->cols), 64, 0, stream_of(a)>>>(*a, rows);
  cudaFreeAsync(rows, stream_of(a));
  return cudaGetLastError();
}
