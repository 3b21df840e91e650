// uses: what the saved bytes mean is the solution's choice, and results may be nearer to the
// formulas than float32 sums are
// SPDX-License-Identifier: Apache-2.0
// Layer normalisation at the speed of memory: the backward pass reads each row of x and dy once
// from memory and once more from the cache, and writes dx around the cache. Every thread takes a
// range of rows and sums dgamma and dbeta of its own.
//
// Accuracy costs nothing here, so it is spent: the mean is kept as a pair of floats, whose second
// half is what the first one rounds off, and sums that are long move to float64 every so often.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "contract.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace {

constexpr int64_t kLanes = 16;
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));

// Columns after which a row's float sums move to float64, and rows after which a thread's do.
constexpr int64_t kColumnBlock = 4096;
constexpr int64_t kRowBlock = 64;

// dx beyond this would only push the inputs out of the cache.
constexpr int64_t kStreamBytes = int64_t{8} << 20;

Lanes load(const float* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

void store(float* to, Lanes lanes) {
  std::memcpy(to, &lanes, sizeof lanes);
}

template <bool stream>
void put(float* to, Lanes lanes) {
#if defined(__AVX512F__)
  if constexpr (stream) return _mm512_stream_ps(to, reinterpret_cast<__m512>(lanes));
#endif
  store(to, lanes);
}

float sum(Lanes lanes) {
  float total = 0;
  for (int64_t k = 0; k < kLanes; ++k) total += lanes[k];
  return total;
}

// What forward leaves for backward, per row: mean + carry is the mean to about 48 bits.
struct RowStats {
  float mean;
  float carry;
  float rstd;
};

struct Shape {
  int64_t rows;
  int64_t cols;
  int threads;
};

RowStats stats_of(const float* x, int64_t cols, double eps) {
  double total = 0;
#pragma omp simd reduction(+ : total)
  for (int64_t j = 0; j < cols; ++j) total += static_cast<double>(x[j]);
  const double mean = total / static_cast<double>(cols);
  const float high = static_cast<float>(mean);
  const float carry = static_cast<float>(mean - static_cast<double>(high));
  double squares = 0;
  for (int64_t begin = 0; begin < cols; begin += kColumnBlock) {
    const int64_t end = std::min(cols, begin + kColumnBlock);
    float block = 0;
#pragma omp simd reduction(+ : block)
    for (int64_t j = begin; j < end; ++j) {
      const float d = (x[j] - high) - carry;
      block += d * d;
    }
    squares += static_cast<double>(block);
  }
  const double variance = squares / static_cast<double>(cols);
  return {high, carry, static_cast<float>(1 / std::sqrt(variance + eps))};
}

void forward_row(const LayernormArgs& args, const RowStats& row, int64_t i) {
  const float* x = static_cast<const float*>(args.x) + i * args.x_row_stride;
  const float* gamma = static_cast<const float*>(args.gamma);
  const float* beta = static_cast<const float*>(args.beta);
  float* y = static_cast<float*>(args.y) + i * args.y_row_stride;
#pragma omp simd
  for (int64_t j = 0; j < args.cols; ++j) {
    const float xhat = ((x[j] - row.mean) - row.carry) * row.rstd;
    y[j] = (gamma ? gamma[j] : 1.0f) * xhat + (beta ? beta[j] : 0.0f);
  }
}

// One thread's share of dgamma and dbeta: floats for the latest rows, float64 behind them.
class ParameterSums {
 public:
  explicit ParameterSums(int64_t cols) : recent_(2 * cols), total_(2 * cols), cols_(cols) {}

  float* gamma() { return recent_.data(); }
  float* beta() { return recent_.data() + cols_; }
  double gamma_total(int64_t j) const { return total_[j]; }
  double beta_total(int64_t j) const { return total_[cols_ + j]; }

  void settle() {
    for (int64_t j = 0; j < 2 * cols_; ++j) total_[j] += static_cast<double>(recent_[j]);
    std::fill(recent_.begin(), recent_.end(), 0.0f);
  }

 private:
  std::vector<float> recent_;
  std::vector<double> total_;
  int64_t cols_;
};

// A row on its way through the two sweeps.
struct Row {
  const float* x;
  const float* dy;
  const float* gamma;
  int64_t cols;
  RowStats stats;

  template <class Number>
  Number xhat(Number value) const {
    return ((value - stats.mean) - stats.carry) * stats.rstd;
  }
};

// Means of w and of w * xhat over the row.
struct Projections {
  float w = 0;
  float w_xhat = 0;
};

Projections first_sweep(const Row& row, float* dgamma, float* dbeta) {
  double w_total = 0;
  double w_xhat_total = 0;
  for (int64_t begin = 0; begin < row.cols; begin += kColumnBlock) {
    const int64_t end = std::min(row.cols, begin + kColumnBlock);
    Lanes w_sum{};
    Lanes w_xhat_sum{};
    int64_t j = begin;
    for (; j + kLanes <= end; j += kLanes) {
      const Lanes dy = load(row.dy + j);
      const Lanes xhat = row.xhat(load(row.x + j));
      const Lanes w = dy * load(row.gamma + j);
      w_sum += w;
      w_xhat_sum += w * xhat;
      store(dgamma + j, load(dgamma + j) + dy * xhat);
      store(dbeta + j, load(dbeta + j) + dy);
    }
    float w_tail = 0;
    float w_xhat_tail = 0;
    for (; j < end; ++j) {
      const float xhat = row.xhat(row.x[j]);
      const float w = row.dy[j] * row.gamma[j];
      w_tail += w;
      w_xhat_tail += w * xhat;
      dgamma[j] += row.dy[j] * xhat;
      dbeta[j] += row.dy[j];
    }
    w_total += static_cast<double>(sum(w_sum) + w_tail);
    w_xhat_total += static_cast<double>(sum(w_xhat_sum) + w_xhat_tail);
  }
  const double cols = static_cast<double>(row.cols);
  return {static_cast<float>(w_total / cols), static_cast<float>(w_xhat_total / cols)};
}

template <bool stream>
void second_sweep(const Row& row, const Projections& mean, float* dx) {
  const auto one = [&](int64_t j) {
    const float xhat = row.xhat(row.x[j]);
    dx[j] = row.stats.rstd * ((row.dy[j] * row.gamma[j] - mean.w) - xhat * mean.w_xhat);
  };
  int64_t j = 0;
  if constexpr (stream)
    for (; j < row.cols && reinterpret_cast<uintptr_t>(dx + j) % sizeof(Lanes) != 0; ++j) one(j);
  for (; j + kLanes <= row.cols; j += kLanes) {
    const Lanes w = load(row.dy + j) * load(row.gamma + j);
    const Lanes xhat = row.xhat(load(row.x + j));
    put<stream>(dx + j, row.stats.rstd * ((w - mean.w) - xhat * mean.w_xhat));
  }
  for (; j < row.cols; ++j) one(j);
}

RowStats stats_for(const LayernormArgs& args, int64_t i) {
  if (args.mean) return {args.mean[i], 0.0f, args.rstd[i]};
  return static_cast<const RowStats*>(args.saved_in)[i];
}

void backward_rows(const LayernormArgs& args, const float* gamma, int64_t begin, int64_t end,
                   ParameterSums& sums) {
  float* dx = static_cast<float*>(args.dx);
  const bool stream = args.rows * args.cols * static_cast<int64_t>(sizeof(float)) >= kStreamBytes;
  for (int64_t i = begin; i < end; ++i) {
    const Row row{static_cast<const float*>(args.x) + i * args.x_row_stride,
                  static_cast<const float*>(args.dy) + i * args.dy_row_stride, gamma, args.cols,
                  stats_for(args, i)};
    const Projections mean = first_sweep(row, sums.gamma(), sums.beta());
    if (dx) {
      float* to = dx + i * args.dx_row_stride;
      stream ? second_sweep<true>(row, mean, to) : second_sweep<false>(row, mean, to);
    }
    if ((i - begin) % kRowBlock == kRowBlock - 1) sums.settle();
  }
  sums.settle();
#if defined(__AVX512F__)
  _mm_sfence();
#endif
}

// rows of thread t are [cut(t), cut(t + 1)).
int64_t cut(const Shape& shape, int64_t t) {
  const int64_t share = shape.rows / shape.threads;
  const int64_t rest = shape.rows % shape.threads;
  return t * share + std::min(t, rest);
}

Shape shape_of(const LayernormArgs& args) {
  constexpr int64_t kLeastWork = 16 * 1024;  // elements that are worth another thread
  const int64_t useful = std::max<int64_t>(1, args.rows * args.cols / kLeastWork);
  return {args.rows, args.cols,
          static_cast<int>(
              std::min({int64_t{args.num_threads}, args.rows + (args.rows == 0), useful}))};
}

bool bad_stride(const void* array, int64_t stride, int64_t cols) {
  return array != nullptr && stride < cols;
}

int64_t status_of(const LayernormArgs* args, bool backward) {
  if (!args) return LAYERNORM_BAD_ARGUMENT;
  if (args->abi_version != LAYERNORM_ABI_VERSION || args->device != LAYERNORM_HOST ||
      args->data_type != LAYERNORM_F32 || args->parameter_type != LAYERNORM_F32)
    return LAYERNORM_UNSUPPORTED;
  if (args->rows < 0 || args->cols < 1 || args->num_threads < 1 || !(args->eps >= 0))
    return LAYERNORM_BAD_ARGUMENT;
  if (bad_stride(args->x, args->x_row_stride, args->cols) ||
      bad_stride(args->y, args->y_row_stride, args->cols) ||
      bad_stride(args->dy, args->dy_row_stride, args->cols) ||
      bad_stride(args->dx, args->dx_row_stride, args->cols))
    return LAYERNORM_BAD_ARGUMENT;
  if (!args->mean != !args->rstd) return LAYERNORM_BAD_ARGUMENT;
  if (args->rows > 0 && (!args->x || (backward && !args->dy))) return LAYERNORM_BAD_ARGUMENT;
  if (args->rows > 0 && backward && !args->mean && !args->saved_in) return LAYERNORM_BAD_ARGUMENT;
  return LAYERNORM_OK;
}

}  // namespace

extern "C" int64_t layernorm_saved_bytes(const LayernormArgs* args) {
  if (args->rows < 0 || args->cols < 1) return LAYERNORM_BAD_ARGUMENT;
  return args->rows * static_cast<int64_t>(sizeof(RowStats));
}

extern "C" int64_t layernorm_forward(const LayernormArgs* args) {
  if (const int64_t status = status_of(args, false); status != LAYERNORM_OK) return status;
  auto* saved = static_cast<RowStats*>(args->saved_out);
  const Shape shape = shape_of(*args);
#pragma omp parallel for schedule(static) num_threads(shape.threads)
  for (int64_t i = 0; i < shape.rows; ++i) {
    const float* x = static_cast<const float*>(args->x) + i * args->x_row_stride;
    const RowStats row = stats_of(x, shape.cols, args->eps);
    if (saved) saved[i] = row;
    if (args->y) forward_row(*args, row, i);
  }
  return LAYERNORM_OK;
}

extern "C" int64_t layernorm_backward(const LayernormArgs* args) {
  if (const int64_t status = status_of(args, true); status != LAYERNORM_OK) return status;
  const Shape shape = shape_of(*args);
  std::vector<float> ones;
  const float* gamma = static_cast<const float*>(args->gamma);
  if (!gamma) {
    ones.assign(static_cast<size_t>(shape.cols), 1.0f);
    gamma = ones.data();
  }
  std::vector<std::unique_ptr<ParameterSums>> sums(static_cast<size_t>(shape.threads));
#pragma omp parallel for schedule(static, 1) num_threads(shape.threads)
  for (int t = 0; t < shape.threads; ++t) {
    sums[t] = std::make_unique<ParameterSums>(shape.cols);
    backward_rows(*args, gamma, cut(shape, t), cut(shape, t + 1), *sums[t]);
  }
  auto* dgamma = static_cast<float*>(args->dgamma);
  auto* dbeta = static_cast<float*>(args->dbeta);
  for (int64_t j = 0; j < shape.cols; ++j) {
    double gamma_sum = 0;
    double beta_sum = 0;
    for (const auto& part : sums) {
      gamma_sum += part->gamma_total(j);
      beta_sum += part->beta_total(j);
    }
    if (dgamma) dgamma[j] = static_cast<float>(gamma_sum);
    if (dbeta) dbeta[j] = static_cast<float>(beta_sum);
  }
  return LAYERNORM_OK;
}
