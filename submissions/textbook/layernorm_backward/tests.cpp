// Tests against the formulas of contract.h in double precision. They use nothing but the contract,
// so that they hold for every implementation of it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "contract.h"

namespace {

struct Case {
  int64_t rows;
  int64_t cols;
  int64_t gap = 0;  // elements between two rows
  double offset = 0;
  double spread = 1;
  double eps = 1e-5;
  bool scaled = true;  // with gamma and beta
  int threads = 2;
  bool given_statistics = false;
  double gradient = 1;  // size of dy
  double bias = 0;      // mean of dy
};

struct Arrays {
  std::vector<float> x, gamma, beta, dy, mean, rstd, y, dx, dgamma, dbeta;
  std::vector<unsigned char> saved;
};

struct Truth {
  std::vector<double> y, dx, dgamma, dbeta;
  std::vector<double> dx_size, dgamma_size, dbeta_size;  // what the sums add up in magnitude
  std::vector<double> condition;                         // by row: how far the mean is off zero
};

std::mt19937 generator(7);

float normal() {
  static std::normal_distribution<float> distribution;
  return distribution(generator);
}

constexpr float kGuard = 1234.5f;

Arrays make(const Case& c) {
  const auto elements = static_cast<size_t>(c.rows * (c.cols + c.gap)) + 1;
  Arrays a;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  a.x.assign(elements, nan);
  a.dy.assign(elements, nan);
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t j = 0; j < c.cols; ++j) {
      const auto at = static_cast<size_t>(i * (c.cols + c.gap) + j);
      a.x[at] = static_cast<float>(c.offset + c.spread * normal() * (1 + i % 3));
      a.dy[at] = static_cast<float>(c.bias + c.gradient * normal() * (i % 4 == 1 ? 8 : 1));
    }
  for (int64_t j = 0; c.scaled && j < c.cols; ++j) {
    a.gamma.push_back(j % 5 == 3 ? 0 : 1 + normal());
    a.beta.push_back(normal());
  }
  for (int64_t i = 0; c.given_statistics && i < c.rows; ++i) {
    a.mean.push_back(0.3f * normal());
    a.rstd.push_back(0.5f + 0.1f * static_cast<float>(i % 7));
  }
  a.y.assign(elements, kGuard);
  a.dx.assign(elements, kGuard);
  a.dgamma.assign(static_cast<size_t>(c.cols) + 1, kGuard);
  a.dbeta.assign(static_cast<size_t>(c.cols) + 1, kGuard);
  return a;
}

LayernormArgs arguments(const Case& c) {
  LayernormArgs args{};
  args.abi_version = LAYERNORM_ABI_VERSION;
  args.struct_size = sizeof args;
  args.num_threads = c.threads;
  args.min_align = 4;
  args.rows = c.rows;
  args.cols = c.cols;
  args.x_row_stride = args.y_row_stride = args.dy_row_stride = args.dx_row_stride = c.cols + c.gap;
  args.eps = c.eps;
  return args;
}

/// One training step; false when a function complains.
bool step(const Case& c, Arrays& a) {
  LayernormArgs args = arguments(c);
  args.saved_bytes = c.given_statistics ? 0 : layernorm_saved_bytes(&args);
  if (args.saved_bytes < 0) return false;
  a.saved.assign(static_cast<size_t>(args.saved_bytes) + 64, 0xA5);
  auto* saved = a.saved.data() + (64 - reinterpret_cast<uintptr_t>(a.saved.data()) % 64) % 64;
  if (!c.given_statistics) {
    args.x = a.x.data();
    args.gamma = c.scaled ? a.gamma.data() : nullptr;
    args.beta = c.scaled ? a.beta.data() : nullptr;
    args.y = a.y.data();
    args.saved_out = args.saved_bytes > 0 ? saved : nullptr;
    if (layernorm_forward(&args) != LAYERNORM_OK) return false;
  }
  LayernormArgs back = arguments(c);
  back.saved_bytes = args.saved_bytes;
  back.x = a.x.data();
  back.gamma = args.gamma = c.scaled ? a.gamma.data() : nullptr;
  back.dy = a.dy.data();
  back.saved_in = args.saved_bytes > 0 ? saved : nullptr;
  back.mean = c.given_statistics ? a.mean.data() : nullptr;
  back.rstd = c.given_statistics ? a.rstd.data() : nullptr;
  back.dx = a.dx.data();
  back.dgamma = a.dgamma.data();
  back.dbeta = a.dbeta.data();
  return layernorm_backward(&back) == LAYERNORM_OK;
}

Truth truth(const Case& c, const Arrays& a) {
  Truth t;
  const auto cols = static_cast<size_t>(c.cols);
  t.y.assign(a.x.size(), 0);
  t.dx = t.dx_size = t.y;
  t.dgamma.assign(cols, 0);
  t.dbeta = t.dgamma_size = t.dbeta_size = t.dgamma;
  std::vector<double> w(cols), xhat(cols);
  for (int64_t i = 0; i < c.rows; ++i) {
    const auto start = static_cast<size_t>(i * (c.cols + c.gap));
    double mean = 0, variance = 0;
    for (size_t j = 0; j < cols; ++j) mean += a.x[start + j];
    mean /= static_cast<double>(c.cols);
    for (size_t j = 0; j < cols; ++j) variance += std::pow(a.x[start + j] - mean, 2);
    double rstd = 1 / std::sqrt(variance / static_cast<double>(c.cols) + c.eps);
    if (c.given_statistics) {
      mean = a.mean[static_cast<size_t>(i)];
      rstd = a.rstd[static_cast<size_t>(i)];
    }
    double sum_w = 0, sum_wx = 0, size_w = 0, size_wx = 0;
    for (size_t j = 0; j < cols; ++j) {
      xhat[j] = (a.x[start + j] - mean) * rstd;
      w[j] = (c.scaled ? a.gamma[j] : 1.0) * a.dy[start + j];
      sum_w += w[j];
      sum_wx += w[j] * xhat[j];
      size_w += std::abs(w[j]);
      size_wx += std::abs(w[j] * xhat[j]);
      t.dgamma[j] += a.dy[start + j] * xhat[j];
      t.dbeta[j] += a.dy[start + j];
      t.dgamma_size[j] += std::abs(a.dy[start + j]) * (std::abs(xhat[j]) + std::abs(mean) * rstd);
      t.dbeta_size[j] += std::abs(a.dy[start + j]);
    }
    const auto n = static_cast<double>(c.cols);
    t.condition.push_back(1 + std::abs(mean) * rstd);
    for (size_t j = 0; j < cols; ++j) {
      t.y[start + j] = (c.scaled ? a.gamma[j] : 1.0) * xhat[j] + (c.scaled ? a.beta[j] : 0.0);
      t.dx[start + j] = rstd * (w[j] - sum_w / n - xhat[j] * sum_wx / n);
      t.dx_size[start + j] = rstd * (std::abs(w[j]) + size_w / n + std::abs(xhat[j]) * size_wx / n);
    }
  }
  return t;
}

// Some twenty roundings of float32 on what is added up.
constexpr double kAllowed = 64.0 / (1 << 24);

bool near(float got, double want, double size) {
  return std::abs(got - want) <= kAllowed * size + 1e-30;
}

bool rows_hold(const Case& c, const Arrays& a, const Truth& t) {
  const int64_t stride = c.cols + c.gap;
  for (int64_t i = 0; i < c.rows; ++i) {
    const double condition = t.condition[static_cast<size_t>(i)];
    for (int64_t j = 0; j < stride; ++j) {
      const auto at = static_cast<size_t>(i * stride + j);
      if (j >= c.cols) {
        if (a.dx[at] != kGuard || a.y[at] != kGuard) return false;
        continue;
      }
      if (!near(a.dx[at], t.dx[at], t.dx_size[at] * condition)) return false;
      const double y_size =
          std::abs(t.y[at]) + (c.scaled ? std::abs(a.gamma[static_cast<size_t>(j)]) +
                                              std::abs(a.beta[static_cast<size_t>(j)])
                                        : 1);
      if (!c.given_statistics && !near(a.y[at], t.y[at], y_size * condition)) return false;
    }
  }
  return a.dx.back() == kGuard && a.y.back() == kGuard;
}

bool sums_hold(const Case& c, const Arrays& a, const Truth& t) {
  const double condition =
      t.condition.empty() ? 1 : *std::max_element(t.condition.begin(), t.condition.end());
  for (size_t j = 0; j < static_cast<size_t>(c.cols); ++j)
    if (!near(a.dgamma[j], t.dgamma[j], t.dgamma_size[j] * std::min(condition, 4.0)) ||
        !near(a.dbeta[j], t.dbeta[j], t.dbeta_size[j]))
      return false;
  return a.dgamma.back() == kGuard && a.dbeta.back() == kGuard;
}

bool holds(const Case& c) {
  Arrays a = make(c);
  if (!step(c, a)) return false;
  const Truth t = truth(c, a);
  return rows_hold(c, a, t) && sums_hold(c, a, t);
}

bool same_bits_twice(const Case& c) {
  Arrays first = make(c);
  Arrays second = first;
  if (!step(c, first) || !step(c, second)) return false;
  return first.dx == second.dx;
}

/// A row of dy that is not a number spoils its own row of dx only.
bool nan_stays(const Case& c) {
  Arrays a = make(c);
  a.dy[0] = std::numeric_limits<float>::quiet_NaN();
  if (!step(c, a)) return false;
  for (size_t at = static_cast<size_t>(c.cols); at + 1 < a.dx.size(); ++at)
    if (std::isnan(a.dx[at])) return false;
  return true;
}

bool wanted_alone(const Case& c) {
  Arrays a = make(c), b = a;
  Case given = c;
  given.given_statistics = true;
  a.mean.assign(static_cast<size_t>(c.rows), 0.25f);
  a.rstd.assign(static_cast<size_t>(c.rows), 2.0f);
  LayernormArgs args = arguments(given);
  args.x = a.x.data();
  args.gamma = a.gamma.data();
  args.dy = a.dy.data();
  args.mean = a.mean.data();
  args.rstd = a.rstd.data();
  args.dbeta = a.dbeta.data();
  if (layernorm_backward(&args) != LAYERNORM_OK) return false;
  const Truth t = truth(given, a);
  for (size_t j = 0; j < static_cast<size_t>(c.cols); ++j)
    if (!near(a.dbeta[j], t.dbeta[j], t.dbeta_size[j])) return false;
  args.dbeta = nullptr;
  args.dx = b.dx.data();
  return layernorm_backward(&args) == LAYERNORM_OK && near(b.dx[0], t.dx[0], t.dx_size[0] * 2);
}

bool refuses() {
  const Case c{4, 8};
  Arrays a = make(c);
  const auto status = [&](auto change) {
    LayernormArgs args = arguments(c);
    args.x = a.x.data();
    args.dy = a.dy.data();
    const std::vector<float> ones(4, 1.0f);
    args.mean = args.rstd = ones.data();
    args.dx = a.dx.data();
    change(args);
    return layernorm_backward(&args);
  };
  return status([](LayernormArgs& args) { args.cols = 0; }) == LAYERNORM_BAD_ARGUMENT &&
         status([](LayernormArgs& args) { args.rows = -1; }) == LAYERNORM_BAD_ARGUMENT &&
         status([](LayernormArgs& args) { args.dy_row_stride = 7; }) == LAYERNORM_BAD_ARGUMENT &&
         status([](LayernormArgs& args) { args.num_threads = 0; }) == LAYERNORM_BAD_ARGUMENT &&
         status([](LayernormArgs& args) { args.eps = -1; }) == LAYERNORM_BAD_ARGUMENT &&
         status([](LayernormArgs& args) { args.x = nullptr; }) == LAYERNORM_BAD_ARGUMENT &&
         status([](LayernormArgs& args) { args.rstd = nullptr; }) == LAYERNORM_BAD_ARGUMENT &&
         status([](LayernormArgs& args) { args.abi_version = 99; }) == LAYERNORM_UNSUPPORTED &&
         status([](LayernormArgs& args) { args.device = 7; }) == LAYERNORM_UNSUPPORTED &&
         a.dx[0] == kGuard;
}

}  // namespace

extern "C" int self_test(void) {
  Case near_constant{6, 40, 0, 3, 1e-4};
  Case given{9, 33, 2};
  given.given_statistics = true;
  Case far{7, 300, 1, 50};
  Case biased{60'000, 3};
  biased.bias = 1;
  Case plain{31, 65, 3};
  plain.scaled = false;
  Case one_thread{19, 130, 5};
  one_thread.threads = 1;
  Case crowd{10, 17, 1};
  crowd.threads = 7;
  Case loud{6, 24, 0, 0, 1e4, 1e-5, true, 2, false, 1e6};
  Case wide_eps{12, 20, 0, 0, 0.1, 0.5};
  const Case cases[] = {{1, 1},         {5, 1, 2},     {4, 2},        {0, 9}, {1, 257},
                        {37, 64},       {64, 1000, 7}, near_constant, given,  far,
                        plain,          one_thread,    crowd,         loud,   wide_eps,
                        {70'000, 2, 1}, biased};
  int number = 0;
  for (const Case& c : cases) {
    ++number;
    if (!holds(c)) return number;
  }
  if (!same_bits_twice({500, 96})) return 101;
  if (!nan_stays({8, 32})) return 102;
  if (!wanted_alone({8, 32})) return 103;
  return refuses() ? 0 : 104;
}
