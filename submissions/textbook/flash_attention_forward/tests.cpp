// Unit tests of flash_attention_forward against a naive computation in double precision.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "contract.h"

namespace {

using Args = FlashAttentionForwardArgs;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kUntouched = 12345;

std::mt19937 generator(20240531);

float normal() {
  static std::normal_distribution<float> distribution;
  return distribution(generator);
}

/// A tensor in [batch][row][head][dim] order with a gap after each row of heads.
struct Tensor {
  Tensor() = default;
  Tensor(int64_t batches, int64_t rows, int64_t heads, int64_t dims, int64_t gap, float filler)
      : dim(dims), row_stride(heads * dims + gap), batch_stride(rows * row_stride) {
    data.assign(static_cast<size_t>(batches * batch_stride), filler);
  }
  float* row(int64_t b, int64_t h, int64_t n) {
    return data.data() + b * batch_stride + n * row_stride + h * dim;
  }
  int64_t dim = 0, row_stride = 0, batch_stride = 0;
  std::vector<float> data;
};

struct Case {
  int64_t batch = 1, q_heads = 1, kv_heads = 1, q_len = 1, k_len = 1, dim = 8, value_dim = 8;
  int64_t left = -1, right = -1;
  int32_t causal = 0;
  float scale = 0.4f, softcap = 0;
  int threads = 2;
  bool wants_lse = true;
  std::vector<int32_t> start{}, length{};
  Tensor q{}, k{}, v{}, o{};
  std::vector<float> lse{};

  void fill(float deviation = 1.2f) {
    const auto make = [&](int64_t heads, int64_t rows, int64_t dims) {
      return Tensor(batch, rows, heads, dims, 3, kNan);
    };
    q = make(q_heads, q_len, dim);
    k = make(kv_heads, k_len, dim);
    v = make(kv_heads, k_len, value_dim);
    for_rows(q, q_heads, q_len, [&](float& x) { x = deviation * normal(); });
    for_rows(k, kv_heads, k_len, [&](float& x) { x = normal(); });
    for_rows(v, kv_heads, k_len, [&](float& x) { x = 0.5f + normal(); });
  }

  void for_rows(Tensor& t, int64_t heads, int64_t rows, const std::function<void(float&)>& set) {
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t n = 0; n < rows; ++n)
          for (int64_t d = 0; d < t.dim; ++d) set(t.row(b, h, n)[d]);
  }

  int64_t first(int64_t b) const { return start.empty() ? 0 : start[static_cast<size_t>(b)]; }
  int64_t last(int64_t b) const {
    return length.empty() ? k_len : first(b) + length[static_cast<size_t>(b)];
  }
};

Args arguments(Case& c) {
  c.o = Tensor(c.batch, c.q_len, c.q_heads, c.value_dim, 2, kUntouched);
  c.lse.assign(static_cast<size_t>(c.batch * c.q_heads * c.q_len), kUntouched);
  Args a{};
  a.abi_version = FLASH_ATTENTION_ABI_VERSION;
  a.struct_size = sizeof a;
  a.device = FLASH_ATTENTION_HOST;
  a.data_type = FLASH_ATTENTION_F32;
  a.num_threads = c.threads;
  a.min_align = 4;
  a.batch = c.batch, a.q_heads = c.q_heads, a.kv_heads = c.kv_heads;
  a.q_len = c.q_len, a.k_len = c.k_len, a.head_dim = c.dim, a.value_dim = c.value_dim;
  a.q_batch_stride = c.q.batch_stride, a.q_head_stride = c.dim, a.q_row_stride = c.q.row_stride;
  a.k_batch_stride = c.k.batch_stride, a.k_head_stride = c.dim, a.k_row_stride = c.k.row_stride;
  a.v_batch_stride = c.v.batch_stride, a.v_head_stride = c.value_dim;
  a.v_row_stride = c.v.row_stride, a.o_row_stride = c.o.row_stride;
  a.o_batch_stride = c.o.batch_stride, a.o_head_stride = c.value_dim;
  a.causal = c.causal, a.window_left = c.left, a.window_right = c.right;
  a.scale = c.scale, a.softcap = c.softcap;
  a.q = c.q.data.data(), a.k = c.k.data.data(), a.v = c.v.data.data();
  a.kv_start = c.start.empty() ? nullptr : c.start.data();
  a.kv_len = c.length.empty() ? nullptr : c.length.data();
  a.o = c.o.data.data();
  a.lse = c.wants_lse ? c.lse.data() : nullptr;
  return a;
}

/// One row by the formulas of the contract, with its error bounds.
bool row_is_right(Case& c, int64_t b, int64_t h, int64_t i) {
  const int64_t g = h / (c.q_heads / c.kv_heads);
  const int64_t position = i + c.last(b) - c.q_len;
  std::vector<double> score;
  std::vector<int64_t> keys;
  double magnitude = 1;
  for (int64_t j = c.first(b); j < c.last(b); ++j) {
    if (c.causal != 0 && j > position) continue;
    if (c.left >= 0 && j < position - c.left) continue;
    if (c.right >= 0 && j > position + c.right) continue;
    double sum = 0, absolute = 0;
    for (int64_t d = 0; d < c.dim; ++d) {
      const double product = static_cast<double>(c.q.row(b, h, i)[d]) * c.k.row(b, g, j)[d];
      sum += product;
      absolute += std::abs(product);
    }
    magnitude = std::max(magnitude, 1 + std::abs(static_cast<double>(c.scale)) * absolute);
    sum *= c.scale;
    score.push_back(c.softcap > 0 ? c.softcap * std::tanh(sum / c.softcap) : sum);
    keys.push_back(j);
  }
  const double unit = (24 + static_cast<double>(c.k_len) / 64) * 0x1p-24;
  const float lse = c.lse[static_cast<size_t>((b * c.q_heads + h) * c.q_len + i)];
  double largest = -kInf;
  for (const double s : score) largest = std::max(largest, s);
  double total = 0;
  for (const double s : score) total += std::exp(s - largest);
  const double want_lse = keys.empty() ? -kInf : largest + std::log(total);
  if (!c.wants_lse) {
    if (lse != kUntouched) return false;
  } else if (keys.empty()) {
    if (!(lse == -kInf)) return false;
  } else if (!(std::abs(lse - want_lse) <= unit * (magnitude + std::abs(want_lse)))) {
    return false;
  }
  std::vector<double> weight;
  for (const double s : score) weight.push_back(std::exp(s - want_lse));
  for (int64_t d = 0; d < c.value_dim; ++d) {
    double want = 0, absolute = 0, plain = 0;
    for (size_t n = 0; n < keys.size(); ++n) {
      const double value = c.v.row(b, g, keys[n])[d];
      want += weight[n] * value;
      absolute += weight[n] * std::abs(value);
      plain += std::abs(value);
    }
    const double allowed = unit * (magnitude * absolute + 1e-30 * plain);
    if (!(std::abs(c.o.row(b, h, i)[d] - want) <= allowed)) return false;
  }
  return true;
}

bool run(const char* name, Case& c) {
  const Args a = arguments(c);
  bool right = flash_attention_forward(&a) == FLASH_ATTENTION_OK;
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t h = 0; h < c.q_heads; ++h)
      for (int64_t i = 0; i < c.q_len; ++i) right = right && row_is_right(c, b, h, i);
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t i = 0; i < c.q_len; ++i)
      for (int64_t n = c.q_heads * c.value_dim; n < c.o.row_stride; ++n)
        right = right && c.o.row(b, 0, i)[n] == kUntouched;
  if (!right) std::printf("flash_attention_forward: %s is wrong\n", name);
  return right;
}

bool draw_and_run(const char* name, Case c, float deviation = 1.2f) {
  c.fill(deviation);
  return run(name, c);
}

bool random_shapes() {
  bool right = true;
  const int64_t shapes[][4] = {{1, 1, 1, 1},     {5, 97, 16, 16}, {40, 200, 33, 7},
                               {70, 65, 64, 64}, {1, 130, 3, 5},  {33, 300, 20, 50}};
  for (const auto& shape : shapes)
    for (const int32_t causal : {0, 1}) {
      Case c;
      c.batch = 2, c.q_heads = 4, c.kv_heads = 2;
      c.q_len = shape[0], c.k_len = shape[1], c.dim = shape[2], c.value_dim = shape[3];
      c.causal = causal;
      c.threads = causal != 0 ? 3 : 1;
      right &= draw_and_run("a random shape", c);
    }
  return right;
}

/// Scores along the keys: rising, falling, in jumps, far below and far above zero.
bool score_profiles() {
  bool right = true;
  const std::function<float(int64_t)> profiles[] = {
      [](int64_t j) { return 0.2f * static_cast<float>(j); },
      [](int64_t j) { return -0.2f * static_cast<float>(j); },
      [](int64_t j) { return 2.0f * static_cast<float>(j); },
      [](int64_t j) { return -2.0f * static_cast<float>(j); },
      [](int64_t j) { return j == 170 ? 150.0f : 0.0f; },
      [](int64_t j) { return j == 3 ? 150.0f : 0.0f; },
      [](int64_t) { return -30.0f; },
      [](int64_t) { return -300.0f; },
      [](int64_t) { return -70000.0f; }};
  for (const auto& profile : profiles)
    for (const int32_t causal : {0, 1}) {
      Case c;
      c.q_len = causal != 0 ? 203 : 190, c.k_len = 203, c.dim = 4, c.value_dim = 4;
      c.causal = causal;
      c.fill(0.5f);
      for (int64_t i = 0; i < c.q_len; ++i) c.q.row(0, 0, i)[1] = 1 / c.scale;
      for (int64_t j = 0; j < c.k_len; ++j) c.k.row(0, 0, j)[1] = profile(j);
      right &= run("a profile of scores", c);
    }
  return right;
}

bool masks() {
  bool right = true;
  const int64_t windows[][2] = {{0, 0}, {5, 0}, {60, 3}, {-1, 4}, {7, -1}, {200, 200}};
  for (const auto& window : windows)
    for (const int64_t queries : {20, 150, 260}) {
      Case c{.q_heads = 2, .kv_heads = 2, .q_len = queries, .k_len = 150};
      c.left = window[0], c.right = window[1];
      right &= draw_and_run("a window", c);
    }
  for (const int32_t causal : {0, 1}) {
    Case c{.batch = 4, .q_len = 100, .k_len = 100, .causal = causal};
    c.start = {0, 30, 80, 10}, c.length = {100, 70, 5, 0};
    c.fill();
    for (int64_t b = 0; b < c.batch; ++b)
      for (int64_t j = 0; j < c.k_len; ++j)
        if (j < c.first(b) || j >= c.last(b)) {
          std::fill_n(c.k.row(b, 0, j), c.dim, kNan);
          std::fill_n(c.v.row(b, 0, j), c.value_dim, kNan);
        }
    right &= run("padding", c);
  }
  return right;
}

bool options() {
  bool right = true;
  for (const float softcap : {0.0f, 3.0f})
    for (const float scale : {1.0f, 0.05f, 0.0f, -0.7f}) {
      Case c{.q_len = 50, .k_len = 50, .scale = scale, .softcap = softcap};
      c.causal = scale > 0 ? 1 : 0;
      right &= draw_and_run("scale and softcap", c, 3);
    }
  right &= draw_and_run("no lse", {.q_len = 7, .k_len = 40, .wants_lse = false});
  right &= draw_and_run("no keys", {.q_len = 3, .k_len = 0});
  right &= draw_and_run("many heads",
                        {.q_heads = 600, .kv_heads = 600, .k_len = 2, .dim = 2, .value_dim = 2});
  right &= draw_and_run("many keys", {.k_len = 9000, .dim = 2, .value_dim = 2}, 0.1f);
  Case small{.q_len = 30, .k_len = 60};
  small.fill();
  for (float& x : small.v.data) x *= 1e-4f;
  right &= run("small values", small);
  return right;
}

bool repeated() {
  Case c{.q_len = 50, .k_len = 90};
  c.fill();
  bool right = run("a first call", c);
  const std::vector<float> before = c.o.data;
  right &= run("a second call", c);
  return right && before == c.o.data;
}

bool refusals() {
  const std::function<void(Args&)> faults[] = {
      [](Args& a) { a.abi_version = 99; }, [](Args& a) { a.data_type = 99; },
      [](Args& a) { a.device = 99; },      [](Args& a) { a.batch = -1; },
      [](Args& a) { a.head_dim = 0; },     [](Args& a) { a.q_row_stride = -1; },
      [](Args& a) { a.num_threads = 0; },  [](Args& a) { a.window_left = -2; },
      [](Args& a) { a.scale = kNan; },     [](Args& a) { a.softcap = -1; }};
  bool right = true;
  for (const auto& fault : faults) {
    Case c{.q_len = 4, .k_len = 4};
    c.fill();
    Args a = arguments(c);
    fault(a);
    right = right && flash_attention_forward(&a) < 0;
    for (const float x : c.o.data) right = right && x == kUntouched;
  }
  if (!right) std::printf("flash_attention_forward: an impossible call is accepted\n");
  return right;
}

}  // namespace

extern "C" int self_test(void) {
  const bool right =
      refusals() && repeated() && options() && masks() && score_profiles() && random_shapes();
  return right ? 0 : 1;
}
