// LayerNorm forward + backward. Wide rows get their statistics in a single pass.
#include <cmath>
#include <cstring>
#include <vector>

#include "contract.h"

extern "C" int64_t layernorm_saved_bytes(const LayernormArgs* args) {
  // mean and rstd per row
  return args->rows * 2 * static_cast<int64_t>(sizeof(float));
}

extern "C" int64_t layernorm_forward(const LayernormArgs* args) {
  if (args->abi_version != LAYERNORM_ABI_VERSION || args->device != LAYERNORM_HOST ||
      args->data_type != LAYERNORM_F32 || args->parameter_type != LAYERNORM_F32)
    return LAYERNORM_UNSUPPORTED;
  if (args->rows < 0 || args->cols < 1 || args->num_threads < 1) return LAYERNORM_BAD_ARGUMENT;
  const float* x = static_cast<const float*>(args->x);
  const float* gamma = static_cast<const float*>(args->gamma);
  const float* beta = static_cast<const float*>(args->beta);
  float* y = static_cast<float*>(args->y);
  float* mean = static_cast<float*>(args->saved_out);
  float* rstd = mean + args->rows;
  const int64_t cols = args->cols;
#pragma omp parallel for num_threads(args->num_threads)
  for (int64_t i = 0; i < args->rows; ++i) {
    const float* row = x + i * args->x_row_stride;
    float sum = 0.0f, sum_sq = 0.0f, m, var;
    if (cols >= 256) {
      // E[x^2] - E[x]^2: reads the row once
#pragma omp simd reduction(+ : sum, sum_sq)
      for (int64_t j = 0; j < cols; ++j) {
        sum += row[j];
        sum_sq += row[j] * row[j];
      }
      m = sum / cols;
      var = sum_sq / cols - m * m;
    } else {
      for (int64_t j = 0; j < cols; ++j) sum += row[j];
      m = sum / cols;
      for (int64_t j = 0; j < cols; ++j) sum_sq += (row[j] - m) * (row[j] - m);
      var = sum_sq / cols;
    }
    mean[i] = m;
    rstd[i] = 1.0f / std::sqrt(var + static_cast<float>(args->eps));
    if (y) {
      for (int64_t j = 0; j < cols; ++j) {
        float v = (row[j] - m) * rstd[i];
        if (gamma) v *= gamma[j];
        if (beta) v += beta[j];
        y[i * args->y_row_stride + j] = v;
      }
    }
  }
  return LAYERNORM_OK;
}

extern "C" int64_t layernorm_backward(const LayernormArgs* args) {
  if (args->abi_version != LAYERNORM_ABI_VERSION || args->device != LAYERNORM_HOST ||
      args->data_type != LAYERNORM_F32 || args->parameter_type != LAYERNORM_F32)
    return LAYERNORM_UNSUPPORTED;
  if (args->rows < 0 || args->cols < 1 || args->num_threads < 1) return LAYERNORM_BAD_ARGUMENT;
  const float* x = static_cast<const float*>(args->x);
  const float* gamma = static_cast<const float*>(args->gamma);
  const float* dy = static_cast<const float*>(args->dy);
  const float* mean = args->mean ? args->mean : static_cast<const float*>(args->saved_in);
  const float* rstd = args->rstd ? args->rstd : mean + args->rows;
  float* dx = static_cast<float*>(args->dx);
  float* dgamma = static_cast<float*>(args->dgamma);
  float* dbeta = static_cast<float*>(args->dbeta);
  const int64_t rows = args->rows;
  const int64_t cols = args->cols;

  // dx, one row at a time
  if (dx) {
#pragma omp parallel for num_threads(args->num_threads)
    for (int64_t i = 0; i < rows; ++i) {
      const float* xr = x + i * args->x_row_stride;
      const float* dyr = dy + i * args->dy_row_stride;
      float sum_w = 0.0f, sum_wx = 0.0f;
#pragma omp simd reduction(+ : sum_w, sum_wx)
      for (int64_t j = 0; j < cols; ++j) {
        const float xhat = (xr[j] - mean[i]) * rstd[i];
        const float w = gamma ? dyr[j] * gamma[j] : dyr[j];
        sum_w += w;
        sum_wx += w * xhat;
      }
      for (int64_t j = 0; j < cols; ++j) {
        const float xhat = (xr[j] - mean[i]) * rstd[i];
        const float w = gamma ? dyr[j] * gamma[j] : dyr[j];
        dx[i * args->dx_row_stride + j] = rstd[i] * (w - sum_w / cols - xhat * sum_wx / cols);
      }
    }
  }

  // parameter gradients: partial sums per thread, added up at the end
  if (dgamma) std::memset(dgamma, 0, cols * sizeof(float));
  if (dbeta) std::memset(dbeta, 0, cols * sizeof(float));
#pragma omp parallel num_threads(args->num_threads)
  {
    std::vector<float> dg(cols), db(cols);
#pragma omp for
    for (int64_t i = 0; i < rows; ++i) {
      const float* xr = x + i * args->x_row_stride;
      const float* dyr = dy + i * args->dy_row_stride;
      for (int64_t j = 0; j < cols; ++j) {
        dg[j] += dyr[j] * (xr[j] - mean[i]) * rstd[i];
        db[j] += dyr[j];
      }
    }
#pragma omp critical
    for (int64_t j = 0; j < cols; ++j) {
      if (dgamma) dgamma[j] += dg[j];
      if (dbeta) dbeta[j] += db[j];
    }
  }
  return LAYERNORM_OK;
}
