#pragma once

// The model: one flat array of parameters, forward and backward of one window.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "contract.h"

using std::vector;

inline uint16_t to_half(float f) {
  if (f >= 65520.0f) return 0x7c00;
  if (f < 6.1e-5f) return (uint16_t)std::nearbyint(f * 16777216.0f);
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  bits += 0xfff + ((bits >> 13) & 1);
  return (uint16_t)((bits >> 13) - (112 << 10));
}

inline float from_half(uint16_t h) {
  int e = h >> 10;
  return e ? std::ldexp(1024.0f + (h & 1023), e - 25) : std::ldexp((float)(h & 1023), -24);
}

// absmean; q gets the ternary weights as floats
inline bool quantize(const float* w, int64_t n, int64_t group, float* q, uint16_t* scales) {
  for (int64_t g = 0; g < n / group; g++) {
    double sum = 0;
    for (int64_t i = 0; i < group; i++) sum += std::fabs(w[g * group + i]);
    scales[g] = to_half((float)(sum / group));
    if (scales[g] == 0x7c00) return false;
    float s = from_half(scales[g]);
    for (int64_t i = g * group; i < (g + 1) * group; i++)
      q[i] = std::fabs(w[i]) > s / 2 ? (w[i] > 0 ? s : -s) : 0;
  }
  return true;
}

inline void pack(const float* q, int64_t n, uint8_t* codes) {
  std::fill_n(codes, n / 4, 0);
  for (int64_t i = 0; i < n; i++) codes[i / 4] |= (q[i] > 0 ? 2 : q[i] < 0 ? 0 : 1) << (i % 4 * 2);
}

inline bool check_group(int64_t rows, int64_t cols, int64_t group) {
  return group >= 4 && group % 4 == 0 && rows * cols % group == 0;
}

// y[n][R] = x[n][C] W^T
inline void matmul(const float* W, const float* x, float* y, int64_t n, int64_t R, int64_t C,
                   int threads) {
#pragma omp parallel for num_threads(threads)
  for (int64_t i = 0; i < n; i++)
    for (int64_t r = 0; r < R; r++) {
      float s = 0;
#pragma omp simd reduction(+ : s)
      for (int64_t c = 0; c < C; c++) s += W[r * C + c] * x[i * C + c];
      y[i * R + r] = s;
    }
}

inline void matmul_backward(const float* W, const float* x, const float* dy, float* dx, float* dW,
                            int64_t n, int64_t R, int64_t C, int threads) {
#pragma omp parallel for num_threads(threads)
  for (int64_t i = 0; i < n; i++)
    for (int64_t r = 0; r < R; r++)
      for (int64_t c = 0; c < C; c++) dx[i * C + c] += dy[i * R + r] * W[r * C + c];
#pragma omp parallel for num_threads(threads)
  for (int64_t r = 0; r < R; r++)
    for (int64_t i = 0; i < n; i++)
      for (int64_t c = 0; c < C; c++) dW[r * C + c] += dy[i * R + r] * x[i * C + c];
}

inline void rmsnorm(const float* x, const float* g, float* y, int64_t n, int64_t d) {
  for (int64_t i = 0; i < n; i++) {
    float ss = 0;
    for (int64_t c = 0; c < d; c++) ss += x[i * d + c] * x[i * d + c];
    float inv = 1 / std::sqrt(ss / d + TERNARY_NORM_EPSILON);
    for (int64_t c = 0; c < d; c++) y[i * d + c] = x[i * d + c] * inv * g[c];
  }
}

inline void rmsnorm_backward(const float* x, const float* g, const float* dy, float* dx, float* dg,
                             int64_t n, int64_t d) {
  for (int64_t i = 0; i < n; i++) {
    float ss = 0, dot = 0;
    for (int64_t c = 0; c < d; c++) {
      ss += x[i * d + c] * x[i * d + c];
      dot += dy[i * d + c] * g[c] * x[i * d + c];
    }
    float inv = 1 / std::sqrt(ss / d + TERNARY_NORM_EPSILON);
    for (int64_t c = 0; c < d; c++) {
      dg[c] += dy[i * d + c] * x[i * d + c] * inv;
      dx[i * d + c] += inv * (dy[i * d + c] * g[c] - x[i * d + c] * inv * inv * dot / d);
    }
  }
}

inline void rope(float* x, int64_t n, int64_t heads, int64_t hd, float sign) {
  for (int64_t p = 0; p < n; p++)
    for (int64_t i = 0; i < hd / 2; i++) {
      float a = p * std::pow(TERNARY_ROPE_BASE, -2.0f * i / hd);
      float c = std::cos(a), s = sign * std::sin(a);
      for (int64_t h = 0; h < heads; h++) {
        float* v = x + (p * heads + h) * hd + i;
        float u = v[0], w = v[hd / 2];
        v[0] = u * c - w * s;
        v[hd / 2] = w * c + u * s;
      }
    }
}

struct Acts {
  vector<float> x, n1, q, k, v, att, o, y, n2, g, u, a;
};

struct Net {
  TernaryModel m;
  int threads;
  vector<int64_t> start;  // of every matrix in the order of the checkpoint, then the gains
  vector<std::pair<int64_t, int64_t>> shape;
  vector<float> w, q, grad, m1, m2;  // latent weights, what the model computes with, ...
  vector<uint16_t> scales;
  vector<Acts> acts;
  vector<float> xf, nf;

  Net(const TernaryModel& model, int t) : m(model), threads(t) {
    shape.push_back({m.vocab, m.width});
    for (int64_t l = 0; l < m.layers; l++) {
      for (int i = 0; i < 4; i++) shape.push_back({m.width, m.width});
      for (int i = 0; i < 2; i++) shape.push_back({m.hidden, m.width});
      shape.push_back({m.width, m.hidden});
    }
    shape.push_back({m.vocab, m.width});
    int64_t total = 0;
    for (auto [r, c] : shape) {
      start.push_back(total);
      total += r * c;
    }
    start.push_back(total);
    total += (2 * m.layers + 1) * m.width;
    for (auto* v : {&w, &q, &grad, &m1, &m2}) v->assign(total, 0.0f);
    std::fill(w.begin() + start.back(), w.end(), 1.0f);
  }

  int64_t weights() const { return start.back(); }
  float* gain(vector<float>& of, int64_t i) { return of.data() + start.back() + i * m.width; }

  // The embedding and the head stay in full precision while training, as in BitNet.
  void refresh() {
    q = w;
    scales.resize(weights() / m.group);
    for (size_t i = 1; i + 1 < shape.size(); i++)
      quantize(&w[start[i]], shape[i].first * shape[i].second, m.group, &q[start[i]],
               scales.data());
  }

  vector<float> forward(const uint16_t* tok, int64_t n) {
    int64_t d = m.width, f = m.hidden, hd = d / m.heads;
    acts.assign(m.layers, {});
    vector<float> x(n * d);
    for (int64_t i = 0; i < n; i++) std::copy_n(&q[tok[i] * d], d, &x[i * d]);
    for (int64_t l = 0; l < m.layers; l++) {
      Acts& a = acts[l];
      const int64_t* s = &start[1 + 7 * l];
      a.x = x;
      for (auto* v : {&a.n1, &a.q, &a.k, &a.v, &a.o, &a.n2}) v->resize(n * d);
      for (auto* v : {&a.g, &a.u, &a.a}) v->resize(n * f);
      rmsnorm(x.data(), gain(q, 2 * l), a.n1.data(), n, d);
      matmul(&q[s[0]], a.n1.data(), a.q.data(), n, d, d, threads);
      matmul(&q[s[1]], a.n1.data(), a.k.data(), n, d, d, threads);
      matmul(&q[s[2]], a.n1.data(), a.v.data(), n, d, d, threads);
      rope(a.q.data(), n, m.heads, hd, 1);
      rope(a.k.data(), n, m.heads, hd, 1);
      a.att.assign(m.heads * n * n, 0.0f);
      for (int64_t h = 0; h < m.heads; h++)
        for (int64_t i = 0; i < n; i++) {
          float* p = &a.att[(h * n + i) * n];
          float sum = 0, top = -1e30f;
          for (int64_t j = 0; j <= i; j++) {
            for (int64_t c = h * hd; c < (h + 1) * hd; c++) p[j] += a.q[i * d + c] * a.k[j * d + c];
            p[j] /= std::sqrt((float)hd);
            top = std::max(top, p[j]);
          }
          for (int64_t j = 0; j <= i; j++) sum += p[j] = std::exp(p[j] - top);
          for (int64_t j = 0; j <= i; j++) {
            p[j] /= sum;
            for (int64_t c = h * hd; c < (h + 1) * hd; c++) a.o[i * d + c] += p[j] * a.v[j * d + c];
          }
        }
      a.y.resize(n * d);
      matmul(&q[s[3]], a.o.data(), a.y.data(), n, d, d, threads);
      for (int64_t i = 0; i < n * d; i++) a.y[i] += x[i];
      rmsnorm(a.y.data(), gain(q, 2 * l + 1), a.n2.data(), n, d);
      matmul(&q[s[4]], a.n2.data(), a.g.data(), n, f, d, threads);
      matmul(&q[s[5]], a.n2.data(), a.u.data(), n, f, d, threads);
      for (int64_t i = 0; i < n * f; i++) a.a[i] = a.g[i] / (1 + std::exp(-a.g[i])) * a.u[i];
      matmul(&q[s[6]], a.a.data(), x.data(), n, d, f, threads);
      for (int64_t i = 0; i < n * d; i++) x[i] += a.y[i];
    }
    xf = x;
    nf.resize(n * d);
    rmsnorm(xf.data(), gain(q, 2 * m.layers), nf.data(), n, d);
    vector<float> logits(n * m.vocab);
    matmul(&q[start[shape.size() - 1]], nf.data(), logits.data(), n, m.vocab, d, threads);
    return logits;
  }

  void backward(const uint16_t* tok, int64_t n, const vector<float>& dlogits) {
    int64_t d = m.width, f = m.hidden, hd = d / m.heads;
    size_t head = start[shape.size() - 1];
    vector<float> dn(n * d), dx(n * d);
    matmul_backward(&q[head], nf.data(), dlogits.data(), dn.data(), &grad[head], n, m.vocab, d,
                    threads);
    rmsnorm_backward(xf.data(), gain(q, 2 * m.layers), dn.data(), dx.data(),
                     gain(grad, 2 * m.layers), n, d);
    for (int64_t l = m.layers - 1; l >= 0; l--) {
      Acts& a = acts[l];
      const int64_t* s = &start[1 + 7 * l];
      vector<float> da(n * f), du(n * f), dq(n * d), dk(n * d), dv(n * d), d_o(n * d);
      matmul_backward(&q[s[6]], a.a.data(), dx.data(), da.data(), &grad[s[6]], n, d, f, threads);
      for (int64_t i = 0; i < n * f; i++) {
        float sig = 1 / (1 + std::exp(-a.g[i]));
        du[i] = da[i] * a.g[i] * sig;
        da[i] *= a.u[i] * sig * (1 + a.g[i] * (1 - sig));
      }
      std::fill(dn.begin(), dn.end(), 0.0f);
      matmul_backward(&q[s[4]], a.n2.data(), da.data(), dn.data(), &grad[s[4]], n, f, d, threads);
      matmul_backward(&q[s[5]], a.n2.data(), du.data(), dn.data(), &grad[s[5]], n, f, d, threads);
      rmsnorm_backward(a.y.data(), gain(q, 2 * l + 1), dn.data(), dx.data(), gain(grad, 2 * l + 1),
                       n, d);
      matmul_backward(&q[s[3]], a.o.data(), dx.data(), d_o.data(), &grad[s[3]], n, d, d, threads);
      for (int64_t h = 0; h < m.heads; h++)
        for (int64_t i = 0; i < n; i++) {
          const float* p = &a.att[(h * n + i) * n];
          vector<float> dp(i + 1);
          float sum = 0;
          for (int64_t j = 0; j <= i; j++) {
            for (int64_t c = h * hd; c < (h + 1) * hd; c++) {
              dp[j] += d_o[i * d + c] * a.v[j * d + c];
              dv[j * d + c] += p[j] * d_o[i * d + c];
            }
            sum += p[j] * dp[j];
          }
          for (int64_t j = 0; j <= i; j++) {
            float ds = p[j] * (dp[j] - sum) / std::sqrt((float)hd);
            for (int64_t c = h * hd; c < (h + 1) * hd; c++) {
              dq[i * d + c] += ds * a.k[j * d + c];
              dk[j * d + c] += ds * a.q[i * d + c];
            }
          }
        }
      rope(dq.data(), n, m.heads, hd, -1);
      rope(dk.data(), n, m.heads, hd, -1);
      std::fill(dn.begin(), dn.end(), 0.0f);
      matmul_backward(&q[s[0]], a.n1.data(), dq.data(), dn.data(), &grad[s[0]], n, d, d, threads);
      matmul_backward(&q[s[1]], a.n1.data(), dk.data(), dn.data(), &grad[s[1]], n, d, d, threads);
      matmul_backward(&q[s[2]], a.n1.data(), dv.data(), dn.data(), &grad[s[2]], n, d, d, threads);
      rmsnorm_backward(a.x.data(), gain(q, 2 * l), dn.data(), dx.data(), gain(grad, 2 * l), n, d);
    }
    for (int64_t i = 0; i < n; i++)
      for (int64_t c = 0; c < d; c++) grad[tok[i] * d + c] += dx[i * d + c];
  }

  // mean loss; dlogits in place
  double loss(vector<float>& logits, const uint16_t* target, int64_t n) {
    double total = 0;
    for (int64_t i = 0; i < n; i++) {
      float* p = &logits[i * m.vocab];
      float top = *std::max_element(p, p + m.vocab), sum = 0;
      for (int64_t v = 0; v < m.vocab; v++) sum += p[v] = std::exp(p[v] - top);
      for (int64_t v = 0; v < m.vocab; v++) p[v] /= sum;
      total -= std::log(p[target[i]] + 1e-30);
      p[target[i]] -= 1;
      for (int64_t v = 0; v < m.vocab; v++) p[v] /= n;
    }
    return total / n;
  }

  double evaluate(const uint16_t* text, int64_t n) {
    double total = 0;
    for (int64_t i = 0; i < n - 1; i += m.context) {
      int64_t len = std::min(m.context, n - 1 - i);
      vector<float> logits = forward(text + i, len);
      total += loss(logits, text + i + 1, len) * len;
    }
    return total / (n - 1);
  }

  void adam(double lr, int64_t step) {
    double c1 = 1 - std::pow(0.9, step), c2 = 1 - std::pow(0.999, step);
    for (size_t i = 0; i < w.size(); i++) {
      m1[i] = 0.9f * m1[i] + 0.1f * grad[i];
      m2[i] = 0.999f * m2[i] + 0.001f * grad[i] * grad[i];
      w[i] -= lr * (m1[i] / c1) / (std::sqrt(m2[i] / c2) + 1e-8);
    }
  }

  int64_t save(uint8_t* out) {
    uint8_t* p = out;
    std::memcpy(p, "TRN1", 4);
    uint32_t head[] = {(uint32_t)m.vocab, (uint32_t)m.width,  (uint32_t)m.layers,
                       (uint32_t)m.heads, (uint32_t)m.hidden, (uint32_t)m.context,
                       (uint32_t)m.group};
    std::memcpy(p + 4, head, 28);
    p += 32;
    for (size_t i = 0; i < shape.size(); i++) {
      int64_t n = shape[i].first * shape[i].second;
      quantize(&w[start[i]], n, m.group, &q[start[i]], scales.data());
      pack(&q[start[i]], n, p);
      std::memcpy(p + n / 4, scales.data(), n / m.group * 2);
      p += n / 4 + n / m.group * 2;
    }
    std::memcpy(p, gain(w, 0), (w.size() - weights()) * 4);
    return p + (w.size() - weights()) * 4 - out;
  }

  bool load(const uint8_t* p) {
    p += 32;
    for (size_t i = 0; i < shape.size(); i++) {
      int64_t n = shape[i].first * shape[i].second;
      for (int64_t j = 0; j < n; j++) {
        uint16_t h;
        std::memcpy(&h, p + n / 4 + j / m.group * 2, 2);
        int code = p[j / 4] >> (j % 4 * 2) & 3;
        if (code == 3 || h >= 0x7c00) return false;
        q[start[i] + j] = (code - 1) * from_half(h);
      }
      p += n / 4 + n / m.group * 2;
    }
    std::memcpy(gain(q, 0), p, (w.size() - weights()) * 4);
    return true;
  }
};
