// strategy: nothing saved; backward computes the statistics again, with pairwise float32 sums
// uses: saved_bytes may be 0: everything may be computed again in the backward pass
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

#include "common.h"

namespace {

struct Stats {
  float mean;
  float rstd;
};

template <class Term>
float pairwise(int64_t begin, int64_t end, const Term& term) {
  if (end - begin <= 32) {
    float sum = 0;
    for (int64_t j = begin; j < end; ++j) sum += term(j);
    return sum;
  }
  const int64_t middle = begin + (end - begin) / 2;
  return pairwise(begin, middle, term) + pairwise(middle, end, term);
}

Stats statistics(const float* x, int64_t cols, double eps) {
  const auto n = static_cast<float>(cols);
  const float mean = pairwise(0, cols, [&](int64_t j) { return x[j]; }) / n;
  const float variance =
      pairwise(0, cols, [&](int64_t j) { return (x[j] - mean) * (x[j] - mean); }) / n;
  return {mean, static_cast<float>(1 / std::sqrt(variance + eps))};
}

void forward_row(const LayernormArgs& a, int64_t i) {
  const float* x = static_cast<const float*>(a.x) + i * a.x_row_stride;
  const Stats s = statistics(x, a.cols, a.eps);
  float* y = static_cast<float*>(a.y) + i * a.y_row_stride;
  const auto* gamma = static_cast<const float*>(a.gamma);
  const auto* beta = static_cast<const float*>(a.beta);
  for (int64_t j = 0; j < a.cols; ++j)
    y[j] = (gamma ? gamma[j] : 1.0f) * ((x[j] - s.mean) * s.rstd) + (beta ? beta[j] : 0.0f);
}

void backward_row(const LayernormArgs& a, int64_t i, std::vector<float>& sums) {
  const float* x = static_cast<const float*>(a.x) + i * a.x_row_stride;
  const float* dy = static_cast<const float*>(a.dy) + i * a.dy_row_stride;
  const auto* gamma = static_cast<const float*>(a.gamma);
  const Stats s = a.mean ? Stats{a.mean[i], a.rstd[i]} : statistics(x, a.cols, a.eps);
  const auto xhat = [&](int64_t j) { return (x[j] - s.mean) * s.rstd; };
  const auto w = [&](int64_t j) { return (gamma ? gamma[j] : 1.0f) * dy[j]; };
  for (int64_t j = 0; j < a.cols; ++j) {
    sums[j] += dy[j] * xhat(j);
    sums[a.cols + j] += dy[j];
  }
  if (!a.dx) return;
  const auto n = static_cast<float>(a.cols);
  const float mean_w = pairwise(0, a.cols, w) / n;
  const float mean_wx = pairwise(0, a.cols, [&](int64_t j) { return w(j) * xhat(j); }) / n;
  float* dx = static_cast<float*>(a.dx) + i * a.dx_row_stride;
  for (int64_t j = 0; j < a.cols; ++j) dx[j] = ((w(j) - mean_w) - xhat(j) * mean_wx) * s.rstd;
}

// Rows are dealt out like cards: thread t takes t, t + n, t + 2n ...
template <class Work>
void deal_rows(const LayernormArgs& a, int threads, const Work& work) {
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([&a, &work, t, threads] {
      for (int64_t i = t; i < a.rows; i += threads) work(t, i);
    });
  for (auto& thread : pool) thread.join();
}

int threads_for(const LayernormArgs& a) {
  return static_cast<int>(std::min<int64_t>(a.num_threads, a.rows / 8 + 1));
}

}  // namespace

extern "C" int64_t layernorm_saved_bytes(const LayernormArgs*) {
  return 0;
}

extern "C" int64_t layernorm_forward(const LayernormArgs* args) {
  if (const int64_t status = refusal(*args, Pass::forward)) return status;
  if (args->y)
    deal_rows(*args, threads_for(*args), [args](int, int64_t i) { forward_row(*args, i); });
  return LAYERNORM_OK;
}

extern "C" int64_t layernorm_backward(const LayernormArgs* args) {
  if (const int64_t status = refusal(*args, Pass::backward)) return status;
  const int threads = threads_for(*args);
  std::vector<std::vector<float>> sums(threads, std::vector<float>(2 * args->cols));
  deal_rows(*args, threads, [&](int t, int64_t i) { backward_row(*args, i, sums[t]); });
  for (int64_t j = 0; j < args->cols; ++j) {
    float dgamma = 0;
    float dbeta = 0;
    for (const auto& part : sums) {
      dgamma += part[j];
      dbeta += part[args->cols + j];
    }
    if (args->dgamma) static_cast<float*>(args->dgamma)[j] = dgamma;
    if (args->dbeta) static_cast<float*>(args->dbeta)[j] = dbeta;
  }
  return LAYERNORM_OK;
}
