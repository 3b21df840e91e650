// strategy: two passes for the statistics in float32, std::thread over blocks of rows, partial sums
// uses: sums may be taken in any order, so that results differ within ACCURACY and with num_threads
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include "common.h"

namespace {

struct Stats {
  float mean;
  float rstd;
};

const float* row_of(const void* base, int64_t stride, int64_t i) {
  return static_cast<const float*>(base) + i * stride;
}

Stats statistics(const float* x, int64_t cols, double eps) {
  float sum = 0;
  for (int64_t j = 0; j < cols; ++j) sum += x[j];
  const float mean = sum / static_cast<float>(cols);
  float squares = 0;
  for (int64_t j = 0; j < cols; ++j) squares += (x[j] - mean) * (x[j] - mean);
  const double variance = squares / static_cast<float>(cols);
  return {mean, static_cast<float>(1 / std::sqrt(variance + eps))};
}

// Calls work(part, begin, end) for `parts` blocks that together are all rows, each on a thread.
void for_row_blocks(int64_t rows, int parts,
                    const std::function<void(int, int64_t, int64_t)>& work) {
  std::vector<std::thread> threads;
  for (int part = 1; part < parts; ++part)
    threads.emplace_back(work, part, rows * part / parts, rows * (part + 1) / parts);
  work(0, 0, rows / parts);
  for (auto& thread : threads) thread.join();
}

int parts_for(const LayernormArgs& args) {
  return static_cast<int>(std::clamp<int64_t>(args.rows, 1, args.num_threads));
}

void forward_row(const LayernormArgs& args, int64_t i, Stats stats) {
  const float* x = row_of(args.x, args.x_row_stride, i);
  const auto* gamma = static_cast<const float*>(args.gamma);
  const auto* beta = static_cast<const float*>(args.beta);
  float* y = static_cast<float*>(args.y) + i * args.y_row_stride;
  for (int64_t j = 0; j < args.cols; ++j) {
    const float xhat = (x[j] - stats.mean) * stats.rstd;
    y[j] = xhat * (gamma ? gamma[j] : 1.0f) + (beta ? beta[j] : 0.0f);
  }
}

Stats stats_of_row(const LayernormArgs& args, int64_t i) {
  if (args.mean) return {args.mean[i], args.rstd[i]};
  return static_cast<const Stats*>(args.saved_in)[i];
}

void backward_row(const LayernormArgs& args, int64_t i, float* dgamma, float* dbeta) {
  const Stats stats = stats_of_row(args, i);
  const float* x = row_of(args.x, args.x_row_stride, i);
  const float* dy = row_of(args.dy, args.dy_row_stride, i);
  const auto* gamma = static_cast<const float*>(args.gamma);
  const auto xhat = [&](int64_t j) { return (x[j] - stats.mean) * stats.rstd; };
  const auto w = [&](int64_t j) { return gamma ? gamma[j] * dy[j] : dy[j]; };

  float w_sum = 0;
  float w_xhat_sum = 0;
  for (int64_t j = 0; j < args.cols; ++j) {
    w_sum += w(j);
    w_xhat_sum += w(j) * xhat(j);
    dgamma[j] += dy[j] * xhat(j);
    dbeta[j] += dy[j];
  }
  if (!args.dx) return;
  float* dx = static_cast<float*>(args.dx) + i * args.dx_row_stride;
  const float w_mean = w_sum / static_cast<float>(args.cols);
  const float w_xhat_mean = w_xhat_sum / static_cast<float>(args.cols);
  for (int64_t j = 0; j < args.cols; ++j)
    dx[j] = stats.rstd * (w(j) - w_mean - xhat(j) * w_xhat_mean);
}

void add_up(const std::vector<std::vector<float>>& parts, int64_t cols, void* to) {
  if (!to) return;
  auto* total = static_cast<float*>(to);
  for (int64_t j = 0; j < cols; ++j) {
    float sum = 0;
    for (const auto& part : parts) sum += part[j];
    total[j] = sum;
  }
}

}  // namespace

extern "C" int64_t layernorm_saved_bytes(const LayernormArgs* args) {
  return args->rows * static_cast<int64_t>(sizeof(Stats));
}

extern "C" int64_t layernorm_forward(const LayernormArgs* args) {
  if (const int64_t status = refusal(*args, Pass::forward)) return status;
  auto* saved = static_cast<Stats*>(args->saved_out);
  for_row_blocks(args->rows, parts_for(*args), [&](int, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Stats stats = statistics(row_of(args->x, args->x_row_stride, i), args->cols, args->eps);
      if (saved) saved[i] = stats;
      if (args->y) forward_row(*args, i, stats);
    }
  });
  return LAYERNORM_OK;
}

extern "C" int64_t layernorm_backward(const LayernormArgs* args) {
  if (const int64_t status = refusal(*args, Pass::backward)) return status;
  const int parts = parts_for(*args);
  std::vector<std::vector<float>> dgamma(parts, std::vector<float>(args->cols));
  std::vector<std::vector<float>> dbeta(parts, std::vector<float>(args->cols));
  for_row_blocks(args->rows, parts, [&](int part, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      backward_row(*args, i, dgamma[part].data(), dbeta[part].data());
  });
  add_up(dgamma, args->cols, args->dgamma);
  add_up(dbeta, args->cols, args->dbeta);
  return LAYERNORM_OK;
}
