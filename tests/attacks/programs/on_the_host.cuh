// SPDX-License-Identifier: Apache-2.0
#pragma once
// The right answers computed on the host from arrays of the device. How they are brought there and
// back is the attack.
#include <vector>

#include "honest.h"

using Copy = void (*)(void* to, const void* from, size_t bytes);

inline void copy_out(void* to, const void* from, size_t bytes) {
  cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
}
inline void copy_in(void* to, const void* from, size_t bytes) {
  cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
}

inline int64_t answer_on_the_host(const LayernormArgs* a, Copy bring, Copy send) {
  if (const int64_t status = refusal(a, LAYERNORM_CUDA)) return status;
  LayernormArgs here = *a;
  here.device = LAYERNORM_HOST;
  here.dx_row_stride = a->cols;
  std::vector<std::vector<float>> arrays;
  const auto brought = [&](const void* from, int64_t count) -> float* {
    if (from == nullptr) return nullptr;
    arrays.emplace_back((size_t)(count > 0 ? count : 0));
    if (count > 0) bring(arrays.back().data(), from, (size_t)count * sizeof(float));
    return arrays.back().data();
  };
  here.x = brought(a->x, (a->rows - 1) * a->x_row_stride + a->cols);
  here.dy = brought(a->dy, (a->rows - 1) * a->dy_row_stride + a->cols);
  here.gamma = brought(a->gamma, a->cols);
  here.mean = brought(a->mean, a->rows);
  here.rstd = brought(a->rstd, a->rows);
  std::vector<float> dx((size_t)(a->rows * a->cols)), dgamma((size_t)a->cols), dbeta = dgamma;
  if (a->dx != nullptr) here.dx = dx.data();
  here.dgamma = dgamma.data();
  here.dbeta = dbeta.data();
  if (const int64_t status = honest_backward(&here)) return status;
  const size_t row = (size_t)a->cols * sizeof(float);
  for (int64_t i = 0; i < a->rows && a->dx != nullptr; ++i)
    send((float*)a->dx + i * a->dx_row_stride, dx.data() + i * a->cols, row);
  if (a->dgamma != nullptr) send(a->dgamma, dgamma.data(), row);
  if (a->dbeta != nullptr) send(a->dbeta, dbeta.data(), row);
  return LAYERNORM_OK;
}
