// Unit tests of softmax_topk against a naive computation in double precision.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "contract.h"

namespace {

constexpr float kInf = INFINITY;
constexpr float kNan = NAN;

struct Input {
  int64_t rows;
  int64_t vocab;
  int64_t k;
  int64_t gap = 0;
  float scale = 1;
  int threads = 2;
  bool wants_totals = true;
  std::vector<float> logits = {};
  std::vector<int64_t> valid_len = {};

  int64_t stride() const { return vocab + gap; }
  float* row(int64_t i) { return logits.data() + i * stride(); }
  const float* row(int64_t i) const { return logits.data() + i * stride(); }
  int64_t len(int64_t i) const { return valid_len.empty() ? vocab : valid_len[i]; }
};

struct Output {
  std::vector<int32_t> indices;
  std::vector<float> probs, lse, row_max;
};

std::mt19937 generator(20240531);

Input random_input(Input input, float mean = 0, float deviation = 3) {
  input.logits.assign(input.rows * input.stride(), kNan);
  std::normal_distribution<float> normal(mean, deviation);
  for (int64_t i = 0; i < input.rows; ++i)
    for (int64_t j = 0; j < input.vocab; ++j) input.row(i)[j] = normal(generator);
  return input;
}

SoftmaxTopkArgs arguments(const Input& input, Output& output) {
  output.indices.assign(input.rows * input.k + 1, -7);
  output.probs.assign(input.rows * input.k + 1, -7);
  output.lse.assign(input.rows + 1, -7);
  output.row_max.assign(input.rows + 1, -7);
  SoftmaxTopkArgs args{};
  args.abi_version = SOFTMAX_TOPK_ABI_VERSION;
  args.struct_size = sizeof args;
  args.num_threads = input.threads;
  args.min_align = 4;
  args.rows = input.rows;
  args.vocab = input.vocab;
  args.k = input.k;
  args.row_stride = input.stride();
  args.scale = input.scale;
  args.logits = input.logits.data();
  args.valid_len = input.valid_len.empty() ? nullptr : input.valid_len.data();
  args.indices = output.indices.data();
  args.probs = output.probs.data();
  args.lse = input.wants_totals ? output.lse.data() : nullptr;
  args.row_max = input.wants_totals ? output.row_max.data() : nullptr;
  return args;
}

bool near(double got, double want, double tolerance) {
  return got == want || std::abs(got - want) <= tolerance;
}

bool row_is_right(const Input& input, const Output& output, int64_t i) {
  const float* z = input.row(i);
  const int64_t len = input.len(i);
  std::vector<int32_t> order(len);
  for (int64_t j = 0; j < len; ++j) order[j] = static_cast<int32_t>(j);
  std::partial_sort(order.begin(), order.begin() + std::min(len, input.k), order.end(),
                    [z](int32_t a, int32_t b) { return z[a] > z[b] || (z[a] == z[b] && a < b); });
  const double max = len > 0 ? double{input.scale} * z[order[0]] : -kInf;
  double sum = 0;
  for (int64_t j = 0; j < len && max > -kInf; ++j)
    sum += std::exp(double{input.scale} * z[j] - max);
  const double lse = max > -kInf ? max + std::log(sum) : -kInf;
  const double slack = 2e-5 + 6e-8 * static_cast<double>(len);  // a plain float sum may do this
  for (int64_t j = 0; j < input.k; ++j) {
    const int32_t index = j < len ? order[j] : -1;
    if (output.indices[i * input.k + j] != index) return false;
    const double scaled = index < 0 ? -kInf : double{input.scale} * z[index];
    const double p = scaled > -kInf ? std::exp(scaled - max) / sum : 0;
    const double allowed = p * (slack + 2e-6 * (max - scaled)) + 2e-38;
    if (!near(output.probs[i * input.k + j], p, p > 0 ? allowed : 0)) return false;
  }
  if (!input.wants_totals) return output.lse[i] == -7 && output.row_max[i] == -7;
  return near(output.lse[i], lse, slack + 2e-6 * std::abs(lse)) &&
         near(output.row_max[i], max, 3e-7 * std::abs(max));
}

bool is_right(const Input& input, int64_t skipped_row = -1) {
  Output output;
  const SoftmaxTopkArgs args = arguments(input, output);
  if (softmax_topk(&args) != SOFTMAX_TOPK_OK) return false;
  if (output.indices.back() != -7 || output.probs.back() != -7) return false;
  for (int64_t i = 0; i < input.rows; ++i)
    if (i != skipped_row && !row_is_right(input, output, i)) return false;
  return true;
}

bool test_sizes() {
  for (const int64_t vocab : {1, 2, 5, 31, 33, 100, 1000, 4099})
    for (const int64_t k : {1, 2, 7, 32, 33, 65, 257, 1000, 4099})
      if (k <= vocab && !is_right(random_input({3, vocab, k}))) return false;
  return is_right(random_input({1, 70'001, 50})) && is_right(random_input({0, 10, 2}));
}

bool test_rows_and_threads() {
  for (const int64_t rows : {1, 5, 24})
    for (const int threads : {1, 2}) {
      Input input{rows, 5003, 12};
      input.threads = threads;
      if (!is_right(random_input(input))) return false;
    }
  Input crowd{3, 700, 5};
  crowd.threads = 5;
  return is_right(random_input(crowd));
}

// More work than a cache holds, for implementations that treat large batches in another way.
bool test_large_batch() {
  return is_right(random_input({32, 6000, 20}));
}

// The same arrays with other numbers in them.
bool test_nothing_is_remembered() {
  Input input = random_input({3, 2000, 8});
  for (int turn = 0; turn < 3; ++turn) {
    if (!is_right(input)) return false;
    std::shuffle(input.logits.begin(), input.logits.end(), generator);
    for (float& z : input.logits) z *= 0.9f;
  }
  return true;
}

// All winners in one residue class, and all of them next to each other.
bool test_places() {
  for (const int64_t step : {1, 2, 3, 4, 8, 16, 64, 128, 256}) {
    Input input = random_input({2, 12'000, 40});
    for (int64_t n = 0; n < 40; ++n) {
      input.row(0)[3 + n * step] = 30 + static_cast<float>((n * 7) % 40) / 8;
      input.row(1)[11'999 - n * step] = 20 + static_cast<float>((n * 11) % 40) / 8;
    }
    if (!is_right(input)) return false;
  }
  return true;
}

bool test_orders() {
  Input input = random_input({2, 9000, 100});
  std::sort(input.row(0), input.row(0) + 9000);
  std::sort(input.row(1), input.row(1) + 9000, std::greater<>());
  return is_right(input);
}

bool test_ties() {
  Input input = random_input({4, 3000, 300});
  for (int64_t j = 0; j < 3000; ++j) {
    input.row(0)[j] = 1.5f;
    input.row(1)[j] = j % 3 == 0 ? 0.0f : -0.0f;
    input.row(2)[j] = std::round(input.row(2)[j]);
    input.row(3)[j] = 1 + static_cast<float>((j * 101) % 3000) * 0x1p-23f;
  }
  Input narrow = random_input({1, 60'000, 100});
  for (float& z : narrow.logits) z = 1 + static_cast<float>(generator() >> 9) * 0x1p-23f;
  return is_right(input) && is_right(narrow);
}

bool test_offsets() {
  for (const float offset : {0.0f, 100.0f, -100.0f, 5000.0f, -20'000.0f, -1e30f}) {
    Input input = random_input({2, 600, 20});
    for (float& z : input.logits) z = std::round(z * 256) / 256 + offset;
    if (!is_right(input)) return false;
  }
  // Most probabilities are 0 in float; their order is still that of the logits.
  return is_right(random_input({2, 300, 250}, 0, 100));
}

bool test_late_maximum() {
  Input input = random_input({3, 3000, 5});
  input.row(0)[2999] = 40;
  for (int64_t j = 0; j < 3000; ++j) {
    input.row(1)[j] = -150 + static_cast<float>(j) * 0.1f;
    input.row(2)[j] = 150 - static_cast<float>(j) * 0.1f;
  }
  return is_right(input);
}

bool test_flat_rows() {
  Input input = random_input({3, 40'000, 10}, 0, 0.01f);
  std::fill_n(input.row(0), 40'000, 2.0f);
  input.row(2)[30'000] = 10;  // the others add up to more than this one
  return is_right(input);
}

bool test_masks() {
  Input input = random_input({6, 1300, 20});
  std::fill_n(input.row(0), 1300, -kInf);
  std::fill_n(input.row(1), 1299, -kInf);
  std::fill_n(input.row(3) + 10, 1290, -kInf);
  for (int64_t j = 0; j < 1300; j += 2) input.row(4)[j] = -kInf;
  return is_right(input);
}

bool test_nan_stays_in_its_row() {
  Input input = random_input({5, 700, 20});
  input.threads = 1;
  input.row(2)[123] = kNan;
  return is_right(input, 2);
}

bool test_layout() {
  Input gaps = random_input({5, 333, 9, 13});
  Input lengths = random_input({6, 500, 30, 3});
  lengths.valid_len = {0, 1, 29, 30, 499, 500};
  for (int64_t i = 0; i < 6; ++i)
    std::fill(lengths.row(i) + lengths.len(i), lengths.row(i) + 500, 99.0f);
  Input bare = random_input({2, 100, 3});
  bare.wants_totals = false;
  Output output;
  SoftmaxTopkArgs args = arguments(bare, output);
  return is_right(gaps) && is_right(lengths) && softmax_topk(&args) == SOFTMAX_TOPK_OK &&
         row_is_right(bare, output, 1);
}

bool test_scale() {
  for (const float scale : {0.1f, 0.7f, 3.0f}) {
    Input input{2, 400, 10};
    input.scale = scale;
    input = random_input(input, 0, 0.5f);
    // Neighbours in the order of floats, some of which the scale makes equal.
    for (int64_t j = 0; j < 40; ++j)
      input.row(1)[399 - 9 * j] = 4 - static_cast<float>(j + 1) * 0x1p-22f;
    if (!is_right(input)) return false;
  }
  return true;
}

bool refuses(const SoftmaxTopkArgs& good, int64_t want, void (*spoil)(SoftmaxTopkArgs&)) {
  SoftmaxTopkArgs args = good;
  spoil(args);
  return softmax_topk(&args) == want && args.indices[0] == -7;
}

bool test_refusals() {
  const Input input = random_input({2, 20, 4, 1});
  Output output;
  const SoftmaxTopkArgs good = arguments(input, output);
  const auto bad = [&](void (*spoil)(SoftmaxTopkArgs&)) {
    return refuses(good, SOFTMAX_TOPK_BAD_ARGUMENT, spoil);
  };
  return bad([](SoftmaxTopkArgs& a) { a.k = 0; }) &&
         bad([](SoftmaxTopkArgs& a) { a.logits = nullptr; }) &&
         bad([](SoftmaxTopkArgs& a) { a.scale = -1; }) &&
         bad([](SoftmaxTopkArgs& a) { a.num_threads = 0; }) &&
         refuses(good, SOFTMAX_TOPK_UNSUPPORTED, [](SoftmaxTopkArgs& a) { a.data_type = 9; });
}

struct Test {
  const char* name;
  bool (*run)();
};

constexpr Test kTests[] = {
    {"refusals", test_refusals},
    {"sizes", test_sizes},
    {"rows and threads", test_rows_and_threads},
    {"large batch", test_large_batch},
    {"nothing is remembered", test_nothing_is_remembered},
    {"places", test_places},
    {"orders", test_orders},
    {"ties", test_ties},
    {"offsets", test_offsets},
    {"late maximum", test_late_maximum},
    {"flat rows", test_flat_rows},
    {"masks", test_masks},
    {"NaN stays in its row", test_nan_stays_in_its_row},
    {"layout", test_layout},
    {"scale", test_scale},
};

}  // namespace

extern "C" int self_test(void) {
  for (const Test& test : kTests)
    if (!test.run()) {
      std::fprintf(stderr, "softmax_topk: %s: failed\n", test.name);
      return 1;
    }
  return 0;
}
