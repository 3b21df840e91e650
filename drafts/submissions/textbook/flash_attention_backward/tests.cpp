// Compares flash_attention_backward with the formulas of contract.h in double, on small inputs.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "contract.h"

namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

struct Case {
  int64_t batch, q_heads, kv_heads, q_len, k_len, head_dim, value_dim;
  bool causal = false;
  int64_t window_left = -1, window_right = -1;
  float scale = 0.3f, softcap = 0;
  bool with_dlse = false;
  bool from_forward =
      true;  // o and lse of these keys; otherwise as if there were more keys elsewhere
  std::vector<int32_t> kv_start{}, kv_len{};
  int64_t gap = 0;  // elements between rows
  float size = 1;   // of q
  int32_t threads = 2;
};

/// A tensor [batch][heads][rows][columns] with a gap behind every row.
struct Tensor {
  int64_t heads, rows, columns, stride;
  Floats data;

  Tensor(int64_t batch, int64_t heads, int64_t rows, int64_t columns, int64_t gap)
      : heads(heads),
        rows(rows),
        columns(columns),
        stride(columns + gap),
        data(batch * heads * rows * stride + 1, std::numeric_limits<float>::quiet_NaN()) {}

  float* row(int64_t b, int64_t h, int64_t i) {
    return &data[((b * heads + h) * rows + i) * stride];
  }
  void fill(std::mt19937& random, int64_t batch, float size) {
    std::normal_distribution<float> normal;
    for (int64_t n = 0; n < batch * heads * rows; ++n)
      for (int64_t c = 0; c < columns; ++c) data[n * stride + c] = size * normal(random);
  }
};

struct Problem {
  Case c;
  Tensor q, k, v, o, dout, dq, dk, dv;
  Floats lse, dlse, delta;

  explicit Problem(const Case& c)
      : c(c),
        q(c.batch, c.q_heads, c.q_len, c.head_dim, c.gap),
        k(c.batch, c.kv_heads, c.k_len, c.head_dim, c.gap),
        v(c.batch, c.kv_heads, c.k_len, c.value_dim, c.gap),
        o(c.batch, c.q_heads, c.q_len, c.value_dim, c.gap),
        dout(c.batch, c.q_heads, c.q_len, c.value_dim, c.gap),
        dq(q),
        dk(k),
        dv(v),
        lse(c.batch * c.q_heads * c.q_len),
        dlse(lse),
        delta(lse) {}

  bool exists(int64_t b, int64_t j) const {
    const int64_t start = c.kv_start.empty() ? 0 : c.kv_start[b];
    const int64_t end = c.kv_len.empty() ? c.k_len : start + c.kv_len[b];
    return j >= start && j < end;
  }
  bool sees(int64_t b, int64_t i, int64_t j) const {
    const int64_t start = c.kv_start.empty() ? 0 : c.kv_start[b];
    const int64_t place = i + (c.kv_len.empty() ? c.k_len : start + c.kv_len[b]) - c.q_len;
    return exists(b, j) && (!c.causal || j <= place) &&
           (c.window_left < 0 || j >= place - c.window_left) &&
           (c.window_right < 0 || j <= place + c.window_right);
  }
};

double dot(const float* x, const float* y, int64_t n, bool absolute = false) {
  double sum = 0;
  for (int64_t c = 0; c < n; ++c)
    sum += absolute ? std::abs((double)x[c] * y[c]) : (double)x[c] * y[c];
  return sum;
}

double capped(const Case& c, double score) {
  return c.softcap > 0 ? c.softcap * std::tanh(score / c.softcap) : score;
}

void fill(Problem& p, std::mt19937& random) {
  const Case& c = p.c;
  p.q.fill(random, c.batch, c.size);
  p.k.fill(random, c.batch, 1);
  p.v.fill(random, c.batch, 1);
  p.dout.fill(random, c.batch, 1);
  p.o.fill(random, c.batch, 0.5f);
  std::normal_distribution<float> normal;
  for (float& number : p.dlse) number = normal(random);
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t h = 0; h < c.q_heads; ++h)
      for (int64_t i = 0; i < c.q_len; ++i) {
        double sum = 0, largest = -INFINITY;
        const int64_t g = h / (c.q_heads / c.kv_heads);
        Doubles scores(c.k_len, -INFINITY), o(c.value_dim);
        for (int64_t j = 0; j < c.k_len; ++j)
          if (p.sees(b, i, j)) {
            scores[j] = capped(c, c.scale * dot(p.q.row(b, h, i), p.k.row(b, g, j), c.head_dim));
            largest = std::max(largest, scores[j]);
          }
        for (int64_t j = 0; j < c.k_len; ++j)
          if (p.sees(b, i, j)) {
            const double weight = std::exp(scores[j] - largest);
            sum += weight;
            for (int64_t x = 0; x < c.value_dim; ++x) o[x] += weight * p.v.row(b, g, j)[x];
          }
        const bool empty = sum == 0;
        for (int64_t x = 0; x < c.value_dim; ++x)
          if (c.from_forward || empty) p.o.row(b, h, i)[x] = empty ? 0.0f : (float)(o[x] / sum);
        float& lse = p.lse[(b * c.q_heads + h) * c.q_len + i];
        lse = empty ? -INFINITY : (float)(largest + std::log(sum));
        if (!c.from_forward) lse += 0.7f;
      }
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t g = 0; g < c.kv_heads; ++g)
      for (int64_t j = 0; j < c.k_len; ++j)
        if (!p.exists(b, j)) {
          std::fill_n(p.k.row(b, g, j), c.head_dim, NAN);
          std::fill_n(p.v.row(b, g, j), c.value_dim, NAN);
        }
}

FlashAttentionBackwardArgs arguments(Problem& p) {
  const Case& c = p.c;
  FlashAttentionBackwardArgs a{};
  a.abi_version = FLASH_ATTENTION_ABI_VERSION;
  a.struct_size = sizeof a;
  a.num_threads = c.threads;
  a.deterministic = 1;
  a.min_align = 4;
  a.causal = c.causal;
  a.batch = c.batch, a.q_heads = c.q_heads, a.kv_heads = c.kv_heads;
  a.q_len = c.q_len, a.k_len = c.k_len, a.head_dim = c.head_dim, a.value_dim = c.value_dim;
  const auto set = [](const Tensor& t, int64_t& batch, int64_t& head, int64_t& row) {
    row = t.stride;
    head = t.stride * t.rows;
    batch = head * t.heads;
  };
  set(p.q, a.q_batch_stride, a.q_head_stride, a.q_row_stride);
  set(p.k, a.k_batch_stride, a.k_head_stride, a.k_row_stride);
  set(p.v, a.v_batch_stride, a.v_head_stride, a.v_row_stride);
  set(p.o, a.o_batch_stride, a.o_head_stride, a.o_row_stride);
  set(p.dout, a.dout_batch_stride, a.dout_head_stride, a.dout_row_stride);
  set(p.dq, a.dq_batch_stride, a.dq_head_stride, a.dq_row_stride);
  set(p.dk, a.dk_batch_stride, a.dk_head_stride, a.dk_row_stride);
  set(p.dv, a.dv_batch_stride, a.dv_head_stride, a.dv_row_stride);
  a.window_left = c.window_left, a.window_right = c.window_right;
  a.scale = c.scale, a.softcap = c.softcap;
  a.q = p.q.data.data(), a.k = p.k.data.data(), a.v = p.v.data.data();
  a.o = p.o.data.data(), a.dout = p.dout.data.data(), a.lse = p.lse.data();
  if (c.with_dlse) a.dlse = p.dlse.data();
  if (!c.kv_start.empty()) a.kv_start = c.kv_start.data();
  if (!c.kv_len.empty()) a.kv_len = c.kv_len.data();
  a.dq = p.dq.data.data(), a.dk = p.dk.data.data(), a.dv = p.dv.data.data();
  a.delta = p.delta.data();
  return a;
}

/// Sums of a result and of the sizes of its terms.
struct Sums {
  Doubles value, size;

  explicit Sums(const Tensor& t) : value(t.data.size()), size(t.data.size()) {}
  void add(int64_t at, double term, double term_size) {
    value[at] += term;
    size[at] += term_size;
  }
};

bool close(double got, double want, double size) {
  return std::abs(got - want) <= (size > 0 ? 32 * 0x1p-24 * size + 1e-36 : 0);
}

/// The numbers of a tensor, and that the gaps still hold what they held (NaN).
bool matches(const Tensor& got, const Sums& want) {
  for (int64_t at = 0; at < (int64_t)got.data.size(); ++at) {
    const bool gap = at % got.stride >= got.columns || at + 1 == (int64_t)got.data.size();
    if (gap ? !std::isnan(got.data[at]) && got.data[at] != 0.25f
            : !close(got.data[at], want.value[at], want.size[at]))
      return false;
  }
  return true;
}

void add_row(Problem& p, int64_t b, int64_t h, int64_t i, Sums& dq, Sums& dk, Sums& dv,
             bool& good) {
  const Case& c = p.c;
  const int64_t g = h / (c.q_heads / c.kv_heads), row = (b * c.q_heads + h) * c.q_len + i;
  const float* q = p.q.row(b, h, i);
  const float* dout = p.dout.row(b, h, i);
  double delta = dot(dout, p.o.row(b, h, i), c.value_dim);
  double delta_size = dot(dout, p.o.row(b, h, i), c.value_dim, true);
  if (c.with_dlse) delta -= p.dlse[row], delta_size += std::abs(p.dlse[row]);
  good = good && close(p.delta[row], delta, delta_size);
  if (std::isinf(p.lse[row])) return;
  double condition = 0;
  for (int64_t j = 0; j < c.k_len; ++j)
    if (p.sees(b, i, j))
      condition =
          std::max(condition, dot(q, p.k.row(b, g, j), c.head_dim, true) * std::abs(c.scale));
  condition += 1 + std::abs(p.lse[row]) + c.softcap;
  for (int64_t j = 0; j < c.k_len; ++j) {
    if (!p.sees(b, i, j)) continue;
    const float* k = p.k.row(b, g, j);
    const double score = capped(c, c.scale * dot(q, k, c.head_dim));
    const double slope = c.softcap > 0 ? 1 - std::pow(score / c.softcap, 2) : 1;
    const double weight = std::exp(score - p.lse[row]);
    const double dp = dot(dout, p.v.row(b, g, j), c.value_dim);
    const double dp_size = dot(dout, p.v.row(b, g, j), c.value_dim, true);
    const double dx = c.scale * weight * (dp - delta) * slope;
    const double dx_size =
        std::abs(c.scale) * condition * (weight + 1e-30) * (dp_size + delta_size);
    const int64_t q_at = q - p.q.data.data(), k_at = k - p.k.data.data();
    for (int64_t x = 0; x < c.head_dim; ++x) {
      dq.add(q_at + x, dx * k[x], dx_size * std::abs(k[x]));
      dk.add(k_at + x, dx * q[x], dx_size * std::abs(q[x]));
    }
    for (int64_t x = 0; x < c.value_dim; ++x)
      dv.add(p.v.row(b, g, j) - p.v.data.data() + x, weight * dout[x],
             condition * (weight + 1e-30) * std::abs(dout[x]));
  }
}

bool right(Problem& p) {
  const Case& c = p.c;
  Sums dq(p.dq), dk(p.dk), dv(p.dv);
  bool good = true;
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t h = 0; h < c.q_heads; ++h)
      for (int64_t i = 0; i < c.q_len; ++i) add_row(p, b, h, i, dq, dk, dv, good);
  return good && matches(p.dq, dq) && matches(p.dk, dk) && matches(p.dv, dv);
}

bool passes(const Case& c, unsigned seed) {
  std::mt19937 random(seed);
  Problem p(c);
  fill(p, random);
  const FlashAttentionBackwardArgs a = arguments(p);
  if (flash_attention_backward(&a) != FLASH_ATTENTION_OK || !right(p)) return false;
  // Once more over results that are numbers, which must be overwritten, with other inputs.
  for (Tensor* t : {&p.dq, &p.dk, &p.dv}) std::fill(t->data.begin(), t->data.end(), 0.25f);
  fill(p, random);
  return flash_attention_backward(&a) == FLASH_ATTENTION_OK && right(p);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](Case c) -> Case& { return all.emplace_back(std::move(c)); };
  add({1, 2, 2, 70, 133, 17, 9});
  add({2, 4, 2, 131, 131, 16, 32}).causal = true;
  add({1, 3, 1, 40, 150, 24, 24}).causal = true;
  add({1, 6, 3, 150, 37, 8, 8}).causal = true;
  add({1, 2, 1, 90, 90, 16, 16}).from_forward = false;
  add({1, 1, 1, 33, 200, 16, 16}).with_dlse = true;
  add({1, 4, 2, 50, 80, 16, 24}).softcap = 2;
  add({1, 2, 2, 60, 60, 13, 5}).gap = 3;
  add({1, 1, 1, 1, 1, 64, 64});
  add({1, 2, 1, 0, 20, 8, 8});
  add({2, 2, 1, 20, 0, 8, 8});
  add({1, 5, 5, 40, 70, 16, 16}).threads = 5;
  add({1, 2, 2, 30, 17, 64, 64}).size = 12;
  Case& window = add({1, 2, 2, 80, 120, 16, 16});
  window.window_left = 20, window.window_right = 4;
  Case& padded = add({3, 2, 2, 30, 90, 16, 16});
  padded.kv_start = {5, 0, 40}, padded.kv_len = {60, 0, 50}, padded.causal = true;
  Case& far = add({1, 1, 1, 70, 70, 16, 16});  // scores far below zero
  far.size = 1, far.scale = -6, far.from_forward = true;
  return all;
}

bool refuses_bad_arguments() {
  Problem p({1, 2, 2, 3, 3, 4, 4});
  std::mt19937 random(3);
  fill(p, random);
  const auto refused = [&](auto spoil) {
    FlashAttentionBackwardArgs a = arguments(p);
    spoil(a);
    return flash_attention_backward(&a) < 0 && std::isnan(p.dq.data[0]) && std::isnan(p.dv.data[0]);
  };
  return refused([](auto& a) { a.q_len = -1; }) && refused([](auto& a) { a.num_threads = 0; }) &&
         refused([](auto& a) { a.head_dim = 0; }) && refused([](auto& a) { a.abi_version = 77; }) &&
         refused([](auto& a) { a.q_heads = 3; }) && refused([](auto& a) { a.scale = NAN; });
}

bool leaves_out_what_is_not_wanted() {
  Problem p({1, 2, 2, 20, 30, 8, 8});
  std::mt19937 random(4);
  fill(p, random);
  FlashAttentionBackwardArgs a = arguments(p);
  a.dq = a.dk = nullptr;
  a.delta = nullptr;
  if (flash_attention_backward(&a) != FLASH_ATTENTION_OK) return false;
  a = arguments(p);
  a.dv = nullptr;
  return flash_attention_backward(&a) == FLASH_ATTENTION_OK && right(p);
}

}  // namespace

extern "C" int self_test(void) {
  unsigned seed = 0;
  for (const Case& c : cases())
    if (!passes(c, ++seed)) return static_cast<int>(seed);
  if (!refuses_bad_arguments()) return 100;
  return leaves_out_what_is_not_wanted() ? 0 : 101;
}
