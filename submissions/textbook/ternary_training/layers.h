#pragma once

// The layers of the model, each with its way back. Activations are [rows][features], the rows being
// all positions of all windows of a batch. Threads share the rows.
#include <cmath>
#include <vector>

#include "contract.h"
#include "half.h"

// A loop over vectors has several versions, and where arrays lie decides which of them runs. The
// compiler fuses products and sums in one as it likes; the same call has to give the same bytes.
#pragma GCC optimize("fp-contract=off")

using Floats = std::vector<float>;

/// c[n][m] += a * b, where a[i][k] lies at a[i * a_row + k * a_column] and b is [depth][m].
inline void multiply_add(const float* a, int64_t a_row, int64_t a_column, const float* b, float* c,
                         int64_t n, int64_t depth, int64_t m, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < n; i += 2) {
    const float* a0 = a + i * a_row;
    const float* a1 = i + 1 < n ? a0 + a_row : a0;
    float* c0 = c + i * m;
    float* c1 = c0 + m;
    const bool both = i + 1 < n;
    int64_t k = 0;
    for (; k + 4 <= depth && both; k += 4) {
      const float p0 = a0[k * a_column], p1 = a0[(k + 1) * a_column];
      const float p2 = a0[(k + 2) * a_column], p3 = a0[(k + 3) * a_column];
      const float q0 = a1[k * a_column], q1 = a1[(k + 1) * a_column];
      const float q2 = a1[(k + 2) * a_column], q3 = a1[(k + 3) * a_column];
      const float* b0 = b + k * m;
      for (int64_t j = 0; j < m; ++j) {
        const float r0 = b0[j], r1 = b0[m + j], r2 = b0[2 * m + j], r3 = b0[3 * m + j];
        c0[j] = std::fma(p0, r0, std::fma(p1, r1, std::fma(p2, r2, std::fma(p3, r3, c0[j]))));
        c1[j] = std::fma(q0, r0, std::fma(q1, r1, std::fma(q2, r2, std::fma(q3, r3, c1[j]))));
      }
    }
    for (; k < depth; ++k)
      for (int64_t j = 0; j < m; ++j) {
        c0[j] += a0[k * a_column] * b[k * m + j];
        if (both) c1[j] += a1[k * a_column] * b[k * m + j];
      }
  }
}

/// A matrix whose weights are ternary. Training changes the latent weights; quantise() follows.
struct TernaryLinear {
  int64_t rows = 0, columns = 0, group = 0;
  Floats latent, gradient;
  std::vector<uint8_t> codes;  // t + 1, one a byte
  std::vector<uint16_t> scales;
  Floats weight, transposed;

  TernaryLinear(int64_t r, int64_t c, int64_t g)
      : rows(r),
        columns(c),
        group(g),
        latent(static_cast<size_t>(r * c)),
        gradient(latent.size()),
        codes(latent.size()),
        scales(latent.size() / static_cast<size_t>(g)),
        weight(latent.size()),
        transposed(latent.size()) {}

  /// Absmean by groups. False when a scale is infinite.
  bool quantise() {
    for (size_t g = 0; g < scales.size(); ++g) {
      const float* w = &latent[g * static_cast<size_t>(group)];
      double sum = 0;
      for (int64_t i = 0; i < group; ++i) sum += std::abs(w[i]);
      const uint16_t scale = float_to_half(sum / static_cast<double>(group));
      if (scale == kInfiniteHalf) return false;
      const float threshold = half_to_float(scale) / 2;
      uint8_t* code = &codes[g * static_cast<size_t>(group)];
      for (int64_t i = 0; i < group; ++i)
        code[i] = scale == 0 || std::abs(w[i]) <= threshold ? 1 : w[i] > 0 ? 2 : 0;
      scales[g] = scale;
    }
    dequantise();
    return true;
  }

  /// Weights as floats, from codes and scales.
  void dequantise() {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) {
        const auto i = static_cast<size_t>(r * columns + c);
        const float scale = half_to_float(scales[i / static_cast<size_t>(group)]);
        weight[i] = scale * static_cast<float>(codes[i] - 1);
        transposed[static_cast<size_t>(c * rows + r)] = weight[i];
      }
  }

  Floats forward(const Floats& x, int threads) const {
    const int64_t n = static_cast<int64_t>(x.size()) / columns;
    Floats y(static_cast<size_t>(n * rows));
    multiply_add(x.data(), columns, 1, transposed.data(), y.data(), n, columns, rows, threads);
    return y;
  }

  /// Adds to `gradient` as if the quantiser were not there; returns the gradient of x.
  Floats backward(const Floats& x, const Floats& dy, int threads) {
    const int64_t n = static_cast<int64_t>(x.size()) / columns;
    multiply_add(dy.data(), 1, rows, x.data(), gradient.data(), rows, n, columns, threads);
    Floats dx(x.size());
    multiply_add(dy.data(), rows, 1, weight.data(), dx.data(), n, rows, columns, threads);
    return dx;
  }
};

inline void add_to(Floats& sum, const Floats& more) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
}

struct RmsNorm {
  Floats gain, gradient;

  explicit RmsNorm(int64_t width) : gain(static_cast<size_t>(width), 1.0f), gradient(gain.size()) {}

  float inverse_rms(const float* x) const {
    float squares = 0;
    for (size_t c = 0; c < gain.size(); ++c) squares += x[c] * x[c];
    return 1 / std::sqrt(squares / static_cast<float>(gain.size()) + TERNARY_NORM_EPSILON);
  }

  Floats forward(const Floats& x) const {
    Floats y(x.size());
    for (size_t at = 0; at < x.size(); at += gain.size()) {
      const float inverse = inverse_rms(&x[at]);
      for (size_t c = 0; c < gain.size(); ++c) y[at + c] = x[at + c] * inverse * gain[c];
    }
    return y;
  }

  Floats backward(const Floats& x, const Floats& dy) {
    Floats dx(x.size());
    for (size_t at = 0; at < x.size(); at += gain.size()) {
      const float inverse = inverse_rms(&x[at]);
      float dot = 0;
      for (size_t c = 0; c < gain.size(); ++c) {
        gradient[c] += dy[at + c] * x[at + c] * inverse;
        dot += dy[at + c] * gain[c] * x[at + c];
      }
      const float shrink = dot * inverse * inverse * inverse / static_cast<float>(gain.size());
      for (size_t c = 0; c < gain.size(); ++c)
        dx[at + c] = dy[at + c] * gain[c] * inverse - x[at + c] * shrink;
    }
    return dx;
  }
};

/// Rotates every head of every row; inverse: back.
inline void apply_rope(Floats& x, int64_t window, int64_t heads, int64_t size, bool inverse) {
  const int64_t half = size / 2;
  Floats cosine(static_cast<size_t>(window * half)), sine(cosine.size());
  for (int64_t p = 0; p < window; ++p)
    for (int64_t i = 0; i < half; ++i) {
      const double frequency = std::pow(double{TERNARY_ROPE_BASE},
                                        -2.0 * static_cast<double>(i) / static_cast<double>(size));
      const double angle = static_cast<double>(p) * frequency;
      cosine[static_cast<size_t>(p * half + i)] = static_cast<float>(std::cos(angle));
      sine[static_cast<size_t>(p * half + i)] =
          static_cast<float>(inverse ? -std::sin(angle) : std::sin(angle));
    }
  const int64_t rows = static_cast<int64_t>(x.size()) / (heads * size);
  for (int64_t row = 0; row < rows; ++row) {
    const float* c = &cosine[static_cast<size_t>(row % window * half)];
    const float* s = &sine[static_cast<size_t>(row % window * half)];
    for (int64_t h = 0; h < heads; ++h) {
      float* first = &x[static_cast<size_t>((row * heads + h) * size)];
      float* second = first + half;
      for (int64_t i = 0; i < half; ++i) {
        const float a = first[i], b = second[i];
        first[i] = a * c[i] - b * s[i];
        second[i] = b * c[i] + a * s[i];
      }
    }
  }
}

/// Causal attention of all heads of all windows.
struct Attention {
  int64_t window, heads, size;
  int threads;
  Floats weights;  // [window of the batch][head][query][key]

  Floats forward(const Floats& q, const Floats& k, const Floats& v) {
    const int64_t windows = static_cast<int64_t>(q.size()) / (window * heads * size);
    weights.assign(static_cast<size_t>(windows * heads * window * window), 0);
    Floats out(q.size());
    const float scale = 1 / std::sqrt(static_cast<float>(size));
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t part = 0; part < windows * heads; ++part)
      for (int64_t i = 0; i < window; ++i) {
        float* p = &weights[static_cast<size_t>((part * window + i) * window)];
        const float* query = &q[at(part, i)];
        float largest = -HUGE_VALF;
        for (int64_t j = 0; j <= i; ++j) {
          const float* key = &k[at(part, j)];
          for (int64_t d = 0; d < size; ++d) p[j] += query[d] * key[d];
          p[j] *= scale;
          largest = std::max(largest, p[j]);
        }
        float sum = 0;
        for (int64_t j = 0; j <= i; ++j) sum += p[j] = std::exp(p[j] - largest);
        float* to = &out[at(part, i)];
        for (int64_t j = 0; j <= i; ++j) {
          p[j] /= sum;
          const float* value = &v[at(part, j)];
          for (int64_t d = 0; d < size; ++d) to[d] += p[j] * value[d];
        }
      }
    return out;
  }

  /// After forward; adds to dq, dk and dv.
  void backward(const Floats& q, const Floats& k, const Floats& v, const Floats& out,
                const Floats& d_out, Floats& dq, Floats& dk, Floats& dv) const {
    const int64_t windows = static_cast<int64_t>(q.size()) / (window * heads * size);
    const float scale = 1 / std::sqrt(static_cast<float>(size));
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t part = 0; part < windows * heads; ++part)
      for (int64_t i = 0; i < window; ++i) {
        const float* p = &weights[static_cast<size_t>((part * window + i) * window)];
        const size_t query = at(part, i);
        float mean = 0;
        for (int64_t d = 0; d < size; ++d)
          mean += d_out[query + static_cast<size_t>(d)] * out[query + static_cast<size_t>(d)];
        for (int64_t j = 0; j <= i; ++j) {
          const size_t key = at(part, j);
          float dp = 0;
          for (int64_t d = 0; d < size; ++d)
            dp += d_out[query + static_cast<size_t>(d)] * v[key + static_cast<size_t>(d)];
          const float ds = p[j] * (dp - mean) * scale;
          const float* g = &d_out[query];
          const float* from_q = &q[query];
          const float* from_k = &k[key];
          float *to_q = &dq[query], *to_k = &dk[key], *to_v = &dv[key];
          for (int64_t d = 0; d < size; ++d) {
            to_v[d] += p[j] * g[d];
            to_q[d] += ds * from_k[d];
            to_k[d] += ds * from_q[d];
          }
        }
      }
  }

 private:
  size_t at(int64_t part, int64_t position) const {
    return static_cast<size_t>(((part / heads * window + position) * heads + part % heads) * size);
  }
};
