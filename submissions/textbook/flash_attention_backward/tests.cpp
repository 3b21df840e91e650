// Compares flash_attention_backward with the formulas of contract.h in double, on small inputs.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "contract.h"

namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

constexpr int64_t kFar = int64_t{1} << 40;
constexpr float kGarbage = 0.25f;

struct Case {
  int64_t batch, q_heads, kv_heads, q_len, k_len, head_dim, value_dim;
  bool causal = false;
  int64_t window_left = -1, window_right = -1;
  float scale = 0.3f, softcap = 0;
  bool with_dlse = false;
  bool more_keys_elsewhere = false;  // o and lse are not those of the keys at hand
  bool some_rows_blind = false;      // lse of -infinity here and there
  std::vector<int32_t> kv_start{}, kv_len{};
  int64_t gap = 0;        // elements between rows
  float size = 1;         // of q
  bool one_sign = false;  // q and k positive
  int32_t threads = 1;
};

/// A tensor [batch][heads][rows][columns] with a gap behind every row. It starts one element after
/// an address that a vector would like.
struct Tensor {
  int64_t heads, rows, columns, stride;
  Floats data;

  Tensor(int64_t batch, int64_t heads, int64_t rows, int64_t columns, int64_t gap)
      : heads(heads),
        rows(rows),
        columns(columns),
        stride(columns + gap),
        data(batch * heads * rows * stride + 1, NAN) {}

  int64_t at(int64_t b, int64_t h, int64_t i) const {
    return 1 + ((b * heads + h) * rows + i) * stride;
  }
  float* row(int64_t b, int64_t h, int64_t i) { return data.data() + at(b, h, i); }
  bool is_gap(int64_t n) const { return n == 0 || (n - 1) % stride >= columns; }

  void fill(std::mt19937& random, float size) {
    std::normal_distribution<float> normal;
    for (int64_t n = 0; n < (int64_t)data.size(); ++n)
      if (!is_gap(n)) data[n] = size * normal(random);
  }
  void set_strides(int64_t& batch, int64_t& head, int64_t& row) const {
    row = stride;
    head = stride * rows;
    batch = head * heads;
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
        dout(o),
        dq(q),
        dk(k),
        dv(v),
        lse(c.batch * c.q_heads * c.q_len),
        dlse(lse),
        delta(lse) {}

  int64_t first_key(int64_t b) const { return c.kv_start.empty() ? 0 : c.kv_start[b]; }
  int64_t end_of_keys(int64_t b) const {
    return c.kv_len.empty() ? c.k_len : first_key(b) + c.kv_len[b];
  }
  bool sees(int64_t b, int64_t i, int64_t j) const {
    const int64_t place = i + end_of_keys(b) - c.q_len;
    return j >= first_key(b) && j < end_of_keys(b) && (!c.causal || j <= place) &&
           (c.window_left < 0 || j >= place - c.window_left) &&
           (c.window_right < 0 || j <= place + c.window_right);
  }
};

/// A sum and the sum of the sizes of its terms.
struct Sum {
  double value = 0, size = 0;

  void add(double term, double term_size) { value += term, size += term_size; }
  bool matches(float got) const {
    return std::abs(got - value) <= (size > 0 ? 32 * 0x1p-24 * size + 1e-36 : 0);
  }
};

Sum dot(const float* x, const float* y, int64_t n) {
  Sum sum;
  for (int64_t c = 0; c < n; ++c) sum.add((double)x[c] * y[c], std::abs((double)x[c] * y[c]));
  return sum;
}

double capped(const Case& c, double score) {
  return c.softcap > 0 ? c.softcap * std::tanh(score / c.softcap) : score;
}

/// The forward pass of one row.
void attend(Problem& p, int64_t b, int64_t h, int64_t i) {
  const Case& c = p.c;
  const int64_t g = h / (c.q_heads / c.kv_heads);
  double weights = 0;
  Doubles o(c.value_dim);
  for (int64_t j = 0; j < c.k_len; ++j) {
    if (!p.sees(b, i, j)) continue;
    const Sum product = dot(p.q.row(b, h, i), p.k.row(b, g, j), c.head_dim);
    const double weight = std::exp(capped(c, c.scale * product.value));  // in double: no overflow
    weights += weight;
    for (int64_t x = 0; x < c.value_dim; ++x) o[x] += weight * p.v.row(b, g, j)[x];
  }
  const int64_t row = (b * c.q_heads + h) * c.q_len + i;
  p.lse[row] = (float)std::log(weights);  // -infinity without keys
  if (c.some_rows_blind && row % 3 == 0) p.lse[row] = -INFINITY;
  if (c.more_keys_elsewhere) p.lse[row] += 0.7f;
  for (int64_t x = 0; x < c.value_dim; ++x)
    if (weights == 0 || !c.more_keys_elsewhere)
      p.o.row(b, h, i)[x] = weights == 0 ? 0.0f : (float)(o[x] / weights);
}

void fill(Problem& p, std::mt19937& random) {
  const Case& c = p.c;
  p.q.fill(random, c.size);
  p.k.fill(random, 1);
  p.v.fill(random, 1);
  if (c.one_sign)
    for (Tensor* t : {&p.q, &p.k})
      for (float& number : t->data) number = std::abs(number);
  p.dout.fill(random, 1);
  p.o.fill(random, 0.5f);
  std::normal_distribution<float> normal;
  for (float& number : p.dlse) number = normal(random);
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t h = 0; h < c.q_heads; ++h)
      for (int64_t i = 0; i < c.q_len; ++i) attend(p, b, h, i);
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t g = 0; g < c.kv_heads; ++g)
      for (int64_t j = 0; j < c.k_len; ++j) {
        if (j >= p.first_key(b) && j < p.end_of_keys(b)) continue;
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
  p.q.set_strides(a.q_batch_stride, a.q_head_stride, a.q_row_stride);
  p.k.set_strides(a.k_batch_stride, a.k_head_stride, a.k_row_stride);
  p.v.set_strides(a.v_batch_stride, a.v_head_stride, a.v_row_stride);
  p.o.set_strides(a.o_batch_stride, a.o_head_stride, a.o_row_stride);
  p.dout.set_strides(a.dout_batch_stride, a.dout_head_stride, a.dout_row_stride);
  p.dq.set_strides(a.dq_batch_stride, a.dq_head_stride, a.dq_row_stride);
  p.dk.set_strides(a.dk_batch_stride, a.dk_head_stride, a.dk_row_stride);
  p.dv.set_strides(a.dv_batch_stride, a.dv_head_stride, a.dv_row_stride);
  a.window_left = c.window_left, a.window_right = c.window_right;
  a.scale = c.scale, a.softcap = c.softcap;
  a.q = &p.q.data[0] + 1, a.k = &p.k.data[0] + 1, a.v = &p.v.data[0] + 1;
  a.o = &p.o.data[0] + 1, a.dout = &p.dout.data[0] + 1, a.lse = p.lse.data();
  if (c.with_dlse) a.dlse = p.dlse.data();
  if (!c.kv_start.empty()) a.kv_start = c.kv_start.data();
  if (!c.kv_len.empty()) a.kv_len = c.kv_len.data();
  a.dq = &p.dq.data[0] + 1, a.dk = &p.dk.data[0] + 1, a.dv = &p.dv.data[0] + 1;
  a.delta = p.delta.data();
  return a;
}

/// The numbers of a tensor, and that the gaps still hold what they held.
bool matches(const Tensor& got, const std::vector<Sum>& want) {
  for (int64_t n = 0; n < (int64_t)got.data.size(); ++n)
    if (got.is_gap(n) ? !std::isnan(got.data[n]) && got.data[n] != kGarbage
                      : !want[n].matches(got.data[n]))
      return false;
  return true;
}

struct Wanted {
  std::vector<Sum> dq, dk, dv;
};

/// What one query adds to all results; whether its delta is right.
bool add_row(Problem& p, int64_t b, int64_t h, int64_t i, Wanted& want) {
  const Case& c = p.c;
  const int64_t g = h / (c.q_heads / c.kv_heads), row = (b * c.q_heads + h) * c.q_len + i;
  const float* q = p.q.row(b, h, i);
  const float* dout = p.dout.row(b, h, i);
  Sum delta = dot(dout, p.o.row(b, h, i), c.value_dim);
  if (c.with_dlse) delta.add(-p.dlse[row], std::abs(p.dlse[row]));
  if (std::isinf(p.lse[row])) return delta.matches(p.delta[row]);
  double condition = 0;
  for (int64_t j = 0; j < c.k_len; ++j)
    if (p.sees(b, i, j)) condition = std::max(condition, dot(q, p.k.row(b, g, j), c.head_dim).size);
  condition = 1 + std::abs(p.lse[row]) + c.softcap + std::abs(c.scale) * condition;
  for (int64_t j = 0; j < c.k_len; ++j) {
    if (!p.sees(b, i, j)) continue;
    const float* k = p.k.row(b, g, j);
    const double score = capped(c, c.scale * dot(q, k, c.head_dim).value);
    const double slope = c.softcap > 0 ? 1 - std::pow(score / c.softcap, 2) : 1;
    const double weight = std::exp(score - p.lse[row]), weight_size = condition * (weight + 1e-30);
    const Sum dp = dot(dout, p.v.row(b, g, j), c.value_dim);
    const double dx = c.scale * weight * (dp.value - delta.value) * slope;
    const double dx_size = std::abs(c.scale) * weight_size * (dp.size + delta.size);
    for (int64_t x = 0; x < c.head_dim; ++x) {
      want.dq[p.dq.at(b, h, i) + x].add(dx * k[x], dx_size * std::abs(k[x]));
      want.dk[p.dk.at(b, g, j) + x].add(dx * q[x], dx_size * std::abs(q[x]));
    }
    for (int64_t x = 0; x < c.value_dim; ++x)
      want.dv[p.dv.at(b, g, j) + x].add(weight * dout[x], weight_size * std::abs(dout[x]));
  }
  return delta.matches(p.delta[row]);
}

bool right(Problem& p) {
  Wanted want{std::vector<Sum>(p.dq.data.size()), std::vector<Sum>(p.dk.data.size()),
              std::vector<Sum>(p.dv.data.size())};
  bool good = true;
  for (int64_t b = 0; b < p.c.batch; ++b)
    for (int64_t h = 0; h < p.c.q_heads; ++h)
      for (int64_t i = 0; i < p.c.q_len; ++i) good = add_row(p, b, h, i, want) && good;
  return good && matches(p.dq, want.dq) && matches(p.dk, want.dk) && matches(p.dv, want.dv);
}

bool passes(const Case& c, unsigned seed) {
  std::mt19937 random(seed);
  Problem p(c);
  fill(p, random);
  const FlashAttentionBackwardArgs a = arguments(p);
  if (flash_attention_backward(&a) != FLASH_ATTENTION_OK || !right(p)) return false;
  // Once more over results that are numbers, which must be overwritten, for a smaller dout.
  for (Tensor* t : {&p.dq, &p.dk, &p.dv}) std::fill(t->data.begin(), t->data.end(), kGarbage);
  for (float& number : p.dout.data) number *= -1e-6f;
  return flash_attention_backward(&a) == FLASH_ATTENTION_OK && right(p);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](Case c) -> Case& { return all.emplace_back(std::move(c)); };
  add({1, 2, 2, 70, 133, 17, 9}).threads = 2;
  add({1, 4, 2, 131, 131, 16, 32}).causal = true;
  add({1, 3, 1, 40, 150, 24, 24}).causal = true;
  add({1, 6, 3, 150, 37, 8, 8}).causal = true;
  add({1, 2, 1, 90, 90, 16, 16}).more_keys_elsewhere = true;
  add({2, 1, 1, 66, 70, 16, 16}).some_rows_blind = true;
  add({1, 2, 1, 33, 80, 16, 16}).with_dlse = true;
  add({1, 4, 2, 50, 80, 16, 24}).softcap = 2;
  add({1, 2, 2, 60, 61, 13, 5}).gap = 3;
  add({1, 1, 1, 30, 40, 150, 140}).scale = -0.1f;
  add({1, 1, 1, 1, 1, 64, 64});
  add({1, 2, 1, 0, 20, 8, 8});
  add({2, 2, 1, 20, 0, 8, 8});
  add({1, 5, 5, 40, 70, 16, 16}).threads = 5;
  add({1, 1, 1, 70, 200, 8, 8}).threads = 3;
  add({1, 2, 2, 30, 17, 64, 64}).size = 12;
  Case& far_below = add({1, 1, 1, 30, 45, 64, 64});  // all scores below -88
  far_below.scale = -1, far_below.size = 4, far_below.one_sign = true;
  Case& window = add({1, 2, 2, 80, 120, 16, 16});
  window.window_left = 20, window.window_right = 4;
  Case& wide = add({1, 1, 1, 30, 40, 8, 8});
  wide.window_left = kFar, wide.window_right = 3;
  Case& padded = add({3, 2, 2, 30, 90, 16, 16});
  padded.kv_start = {5, 0, 40}, padded.kv_len = {60, 0, 50}, padded.causal = true;
  Case& starting_late = add({2, 1, 1, 30, 90, 16, 16});
  starting_late.kv_start = {25, 0}, starting_late.window_left = 9;
  return all;
}

bool refuses_bad_arguments() {
  Case c{2, 2, 2, 3, 3, 4, 4};
  c.kv_len = {3, 3};
  Problem p(c);
  std::mt19937 random(3);
  fill(p, random);
  const int32_t too_long[] = {3, 4};
  const auto answer = [&](auto spoil) {
    FlashAttentionBackwardArgs a = arguments(p);
    spoil(a);
    const int64_t returned = flash_attention_backward(&a);
    for (const Tensor* t : {&p.dq, &p.dk, &p.dv})
      for (const float number : t->data)
        if (!std::isnan(number)) return int64_t{1};
    return returned;
  };
  const auto bad = [&](auto spoil) { return answer(spoil) == FLASH_ATTENTION_BAD_ARGUMENT; };
  return bad([](auto& a) { a.q_len = -1; }) && bad([](auto& a) { a.num_threads = 0; }) &&
         bad([](auto& a) { a.scale = NAN; }) && bad([&](auto& a) { a.kv_len = too_long; }) &&
         bad([](auto& a) { a.lse = nullptr; }) && bad([](auto& a) { a.dv_row_stride = -4; }) &&
         answer([](auto& a) { a.abi_version = 77; }) == FLASH_ATTENTION_UNSUPPORTED;
}

bool leaves_out_what_is_not_wanted() {
  Problem p({1, 2, 2, 20, 30, 8, 8});
  std::mt19937 random(4);
  fill(p, random);
  FlashAttentionBackwardArgs a = arguments(p);
  a.dv = nullptr;
  if (flash_attention_backward(&a) != FLASH_ATTENTION_OK) return false;
  a = arguments(p);
  a.dq = a.dk = nullptr;
  a.delta = nullptr;
  return flash_attention_backward(&a) == FLASH_ATTENTION_OK && right(p);
}

}  // namespace

extern "C" int self_test(void) {
  int number = 0;
  for (const Case& c : cases())
    if (++number; !passes(c, number)) return number;
  if (!refuses_bad_arguments()) return 100;
  return leaves_out_what_is_not_wanted() ? 0 : 101;
}
