// Layer normalisation as a textbook has it: statistics in two passes, one block of rows per thread,
// one partial sum of dgamma and dbeta per thread.
#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

#include "contract.h"

namespace {

struct Saved {
  float mean;
  float rstd;
};

int64_t validate(const LayernormArgs& args) {
  if (args.abi_version != LAYERNORM_ABI_VERSION || args.device != LAYERNORM_HOST)
    return LAYERNORM_UNSUPPORTED;
  if (args.data_type != LAYERNORM_F32 || args.parameter_type != LAYERNORM_F32)
    return LAYERNORM_UNSUPPORTED;
  if (args.rows < 0 || args.cols < 1 || args.num_threads < 1) return LAYERNORM_BAD_ARGUMENT;
  if (std::isnan(args.eps) || args.eps < 0) return LAYERNORM_BAD_ARGUMENT;
  if (args.x && args.x_row_stride < args.cols) return LAYERNORM_BAD_ARGUMENT;
  if (args.y && args.y_row_stride < args.cols) return LAYERNORM_BAD_ARGUMENT;
  if (args.dy && args.dy_row_stride < args.cols) return LAYERNORM_BAD_ARGUMENT;
  if (args.dx && args.dx_row_stride < args.cols) return LAYERNORM_BAD_ARGUMENT;
  if (args.rows > 0 && !args.x) return LAYERNORM_BAD_ARGUMENT;
  if ((args.mean == nullptr) != (args.rstd == nullptr)) return LAYERNORM_BAD_ARGUMENT;
  return LAYERNORM_OK;
}

Saved statistics(const float* x, int64_t cols, double eps) {
  float sum = 0;
  for (int64_t j = 0; j < cols; ++j) sum += x[j];
  const float mean = sum / static_cast<float>(cols);
  float squares = 0;
  for (int64_t j = 0; j < cols; ++j) {
    const float centred = x[j] - mean;
    squares += centred * centred;
  }
  const double variance = squares / static_cast<float>(cols);
  return {mean, static_cast<float>(1 / std::sqrt(variance + eps))};  // eps may be below any float
}

void forward_rows(const LayernormArgs& args, int64_t begin, int64_t end) {
  const auto* gamma = static_cast<const float*>(args.gamma);
  const auto* beta = static_cast<const float*>(args.beta);
  for (int64_t i = begin; i < end; ++i) {
    const float* x = static_cast<const float*>(args.x) + i * args.x_row_stride;
    const Saved row = statistics(x, args.cols, args.eps);
    if (args.saved_out) static_cast<Saved*>(args.saved_out)[i] = row;
    if (!args.y) continue;
    float* y = static_cast<float*>(args.y) + i * args.y_row_stride;
    for (int64_t j = 0; j < args.cols; ++j) {
      const float xhat = (x[j] - row.mean) * row.rstd;
      y[j] = (gamma ? gamma[j] : 1.0f) * xhat + (beta ? beta[j] : 0.0f);
    }
  }
}

void backward_rows(const LayernormArgs& args, int64_t begin, int64_t end, float* dgamma,
                   float* dbeta) {
  const auto* gamma = static_cast<const float*>(args.gamma);
  for (int64_t i = begin; i < end; ++i) {
    const float* x = static_cast<const float*>(args.x) + i * args.x_row_stride;
    const float* dy = static_cast<const float*>(args.dy) + i * args.dy_row_stride;
    const Saved row =
        args.mean ? Saved{args.mean[i], args.rstd[i]} : static_cast<const Saved*>(args.saved_in)[i];
    float sum_w = 0;
    float sum_w_xhat = 0;
    for (int64_t j = 0; j < args.cols; ++j) {
      const float xhat = (x[j] - row.mean) * row.rstd;
      const float w = (gamma ? gamma[j] : 1.0f) * dy[j];
      sum_w += w;
      sum_w_xhat += w * xhat;
      dgamma[j] += dy[j] * xhat;
      dbeta[j] += dy[j];
    }
    if (!args.dx) continue;
    float* dx = static_cast<float*>(args.dx) + i * args.dx_row_stride;
    const float mean_w = sum_w / static_cast<float>(args.cols);
    const float mean_w_xhat = sum_w_xhat / static_cast<float>(args.cols);
    for (int64_t j = 0; j < args.cols; ++j) {
      const float xhat = (x[j] - row.mean) * row.rstd;
      const float w = (gamma ? gamma[j] : 1.0f) * dy[j];
      dx[j] = row.rstd * (w - mean_w - xhat * mean_w_xhat);
    }
  }
}

int threads_for(const LayernormArgs& args) {
  return static_cast<int>(std::min<int64_t>(args.num_threads, std::max<int64_t>(1, args.rows)));
}

}  // namespace

extern "C" int64_t layernorm_saved_bytes(const LayernormArgs* args) {
  return args->rows * static_cast<int64_t>(sizeof(Saved));
}

extern "C" int64_t layernorm_forward(const LayernormArgs* args) {
  if (const int64_t status = validate(*args); status != LAYERNORM_OK) return status;
  const int threads = threads_for(*args);
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([args, t, threads] {
      forward_rows(*args, args->rows * t / threads, args->rows * (t + 1) / threads);
    });
  for (auto& thread : pool) thread.join();
  return LAYERNORM_OK;
}

extern "C" int64_t layernorm_backward(const LayernormArgs* args) {
  if (const int64_t status = validate(*args); status != LAYERNORM_OK) return status;
  if (args->rows > 0 && !args->dy) return LAYERNORM_BAD_ARGUMENT;
  const int threads = threads_for(*args);
  const int64_t cols = args->cols;
  std::vector<std::vector<float>> sums(threads, std::vector<float>(2 * cols, 0.0f));
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([args, t, threads, cols, &sums] {
      backward_rows(*args, args->rows * t / threads, args->rows * (t + 1) / threads, sums[t].data(),
                    sums[t].data() + cols);
    });
  for (auto& thread : pool) thread.join();
  for (int64_t j = 0; j < cols; ++j) {
    float dgamma = 0;
    float dbeta = 0;
    for (const auto& part : sums) {
      dgamma += part[j];
      dbeta += part[cols + j];
    }
    if (args->dgamma) static_cast<float*>(args->dgamma)[j] = dgamma;
    if (args->dbeta) static_cast<float*>(args->dbeta)[j] = dbeta;
  }
  return LAYERNORM_OK;
}
