// strategy: two kernels: dx by rows, then dgamma and dbeta by columns, a group of columns per
// thread
// uses: sums may be taken in any order, so that results differ within ACCURACY
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "common.h"

namespace {

struct Pair {
  float mean, rstd;
};

struct View {
  explicit View(const LayernormArgs& args) : a(args) {}
  const LayernormArgs& a;

  float x(int64_t i, int64_t j) const {
    return static_cast<const float*>(a.x)[i * a.x_row_stride + j];
  }
  float dy(int64_t i, int64_t j) const {
    return static_cast<const float*>(a.dy)[i * a.dy_row_stride + j];
  }
  float gamma(int64_t j) const { return a.gamma ? static_cast<const float*>(a.gamma)[j] : 1.0f; }
  float beta(int64_t j) const { return a.beta ? static_cast<const float*>(a.beta)[j] : 0.0f; }
  float w(int64_t i, int64_t j) const { return gamma(j) * dy(i, j); }
  Pair pair(int64_t i) const {
    if (a.mean) return {a.mean[i], a.rstd[i]};
    return static_cast<const Pair*>(a.saved_in)[i];
  }
};

// Four interleaved sums, as a vector unit would keep them.
template <class Term>
float sum4(int64_t count, const Term& term) {
  float s[4] = {};
  for (int64_t j = 0; j < count; ++j) s[j % 4] += term(j);
  return (s[0] + s[1]) + (s[2] + s[3]);
}

}  // namespace

extern "C" int64_t layernorm_saved_bytes(const LayernormArgs* args) {
  return args->rows * static_cast<int64_t>(sizeof(Pair));
}

extern "C" int64_t layernorm_forward(const LayernormArgs* args) {
  if (const int64_t status = refusal(*args, Pass::forward)) return status;
  const View v(*args);
  const auto n = static_cast<float>(args->cols);
#pragma omp parallel for num_threads(args->num_threads)
  for (int64_t i = 0; i < args->rows; ++i) {
    const float mean = sum4(args->cols, [&](int64_t j) { return v.x(i, j); }) / n;
    const double variance = sum4(args->cols,
                                 [&](int64_t j) {
                                   const float d = v.x(i, j) - mean;
                                   return d * d;
                                 }) /
                            n;
    const auto rstd = static_cast<float>(1 / std::sqrt(variance + args->eps));
    static_cast<Pair*>(args->saved_out)[i] = {mean, rstd};
    if (!args->y) continue;
    float* y = static_cast<float*>(args->y) + i * args->y_row_stride;
    for (int64_t j = 0; j < args->cols; ++j)
      y[j] = std::fma(v.gamma(j), (v.x(i, j) - mean) * rstd, v.beta(j));
  }
  return LAYERNORM_OK;
}

extern "C" int64_t layernorm_backward(const LayernormArgs* args) {
  if (const int64_t status = refusal(*args, Pass::backward)) return status;
  const View v(*args);
  const int64_t rows = args->rows;
  const int64_t cols = args->cols;
  const auto n = static_cast<float>(cols);
  if (args->dx) {
#pragma omp parallel for num_threads(args->num_threads)
    for (int64_t i = 0; i < rows; ++i) {
      const Pair p = v.pair(i);
      const auto xhat = [&](int64_t j) { return (v.x(i, j) - p.mean) * p.rstd; };
      const float a = sum4(cols, [&](int64_t j) { return v.w(i, j); }) / n;
      const float b = sum4(cols, [&](int64_t j) { return v.w(i, j) * xhat(j); }) / n;
      float* dx = static_cast<float*>(args->dx) + i * args->dx_row_stride;
      for (int64_t j = 0; j < cols; ++j) dx[j] = p.rstd * (v.w(i, j) - (a + xhat(j) * b));
    }
  }
  constexpr int64_t kGroup = 16;
#pragma omp parallel for num_threads(args->num_threads)
  for (int64_t begin = 0; begin < cols; begin += kGroup) {
    const int64_t width = begin + kGroup < cols ? kGroup : cols - begin;
    float dgamma[kGroup] = {};
    float dbeta[kGroup] = {};
    for (int64_t i = 0; i < rows; ++i) {
      const Pair p = v.pair(i);
      for (int64_t k = 0; k < width; ++k) {
        dgamma[k] += v.dy(i, begin + k) * ((v.x(i, begin + k) - p.mean) * p.rstd);
        dbeta[k] += v.dy(i, begin + k);
      }
    }
    for (int64_t k = 0; k < width; ++k) {
      if (args->dgamma) static_cast<float*>(args->dgamma)[begin + k] = dgamma[k];
      if (args->dbeta) static_cast<float*>(args->dbeta)[begin + k] = dbeta[k];
    }
  }
  return LAYERNORM_OK;
}
