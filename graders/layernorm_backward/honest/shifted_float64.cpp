// strategy: one pass over x shifted by its first element, float64 accumulators, OpenMP
// uses: what the saved bytes mean is the solution's choice, and results may be nearer to the
// formulas than float32 sums are
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <omp.h>
#include <vector>

#include "common.h"

namespace {

struct Saved {
  double mean;
  double rstd;
};

Saved one_pass(const float* x, int64_t cols, double eps) {
  const double shift = x[0];
  double sum = 0;
  double squares = 0;
  for (int64_t j = 0; j < cols; ++j) {
    const double d = x[j] - shift;
    sum += d;
    squares += d * d;
  }
  const double mean = sum / static_cast<double>(cols);
  const double variance = std::fmax(0.0, squares / static_cast<double>(cols) - mean * mean);
  return {shift + mean, 1 / std::sqrt(variance + eps)};
}

const float* row(const void* base, int64_t stride, int64_t i) {
  return static_cast<const float*>(base) + stride * i;
}

}  // namespace

extern "C" int64_t layernorm_saved_bytes(const LayernormArgs* args) {
  return args->rows * static_cast<int64_t>(sizeof(Saved));
}

extern "C" int64_t layernorm_forward(const LayernormArgs* args) {
  const LayernormArgs& a = *args;
  if (const int64_t status = refusal(a, Pass::forward)) return status;
  const auto* gamma = static_cast<const float*>(a.gamma);
  const auto* beta = static_cast<const float*>(a.beta);
#pragma omp parallel for num_threads(a.num_threads)
  for (int64_t i = 0; i < a.rows; ++i) {
    const float* x = row(a.x, a.x_row_stride, i);
    const Saved stats = one_pass(x, a.cols, a.eps);
    static_cast<Saved*>(a.saved_out)[i] = stats;
    if (!a.y) continue;
    float* y = static_cast<float*>(a.y) + i * a.y_row_stride;
    for (int64_t j = 0; j < a.cols; ++j) {
      const double xhat = (x[j] - stats.mean) * stats.rstd;
      y[j] = static_cast<float>((gamma ? gamma[j] : 1.0) * xhat + (beta ? beta[j] : 0.0));
    }
  }
  return 0;
}

extern "C" int64_t layernorm_backward(const LayernormArgs* args) {
  const LayernormArgs& a = *args;
  if (const int64_t status = refusal(a, Pass::backward)) return status;
  const auto* gamma = static_cast<const float*>(a.gamma);
  const int threads = a.num_threads;
  std::vector<std::vector<double>> sums(threads);
#pragma omp parallel num_threads(threads)
  {
    auto& mine = sums[omp_get_thread_num()];
    mine.assign(2 * a.cols, 0.0);
#pragma omp for schedule(static)
    for (int64_t i = 0; i < a.rows; ++i) {
      const Saved stats =
          a.mean ? Saved{a.mean[i], a.rstd[i]} : static_cast<const Saved*>(a.saved_in)[i];
      const float* x = row(a.x, a.x_row_stride, i);
      const float* dy = row(a.dy, a.dy_row_stride, i);
      double w_sum = 0;
      double wx_sum = 0;
      for (int64_t j = 0; j < a.cols; ++j) {
        const double xhat = (x[j] - stats.mean) * stats.rstd;
        const double w = (gamma ? gamma[j] : 1.0) * dy[j];
        w_sum += w;
        wx_sum += w * xhat;
        mine[j] += dy[j] * xhat;
        mine[a.cols + j] += dy[j];
      }
      if (!a.dx) continue;
      float* dx = static_cast<float*>(a.dx) + i * a.dx_row_stride;
      for (int64_t j = 0; j < a.cols; ++j) {
        const double xhat = (x[j] - stats.mean) * stats.rstd;
        const double w = (gamma ? gamma[j] : 1.0) * dy[j];
        dx[j] = static_cast<float>(stats.rstd *
                                   (w - (w_sum + xhat * wx_sum) / static_cast<double>(a.cols)));
      }
    }
  }
  for (int64_t j = 0; j < a.cols; ++j) {
    double dgamma = 0;
    double dbeta = 0;
    for (const auto& part : sums) {
      if (part.empty()) continue;  // a thread that was not granted
      dgamma += part[j];
      dbeta += part[a.cols + j];
    }
    if (a.dgamma) static_cast<float*>(a.dgamma)[j] = static_cast<float>(dgamma);
    if (a.dbeta) static_cast<float*>(a.dbeta)[j] = static_cast<float>(dbeta);
  }
  return 0;
}
