// Ternary training: one flat array of parameters, quantised before every step, Adam.
#include <chrono>
#include <random>

#include "net.h"

namespace {

bool check_model(const TernaryModel& m) {
  return m.vocab >= 1 && m.vocab <= 65536 && m.width >= 1 && m.layers >= 1 && m.heads >= 1 &&
         m.hidden >= 1 && m.context >= 1 && check_group(m.width, m.width, m.group) &&
         check_group(m.width, m.hidden, m.group) && m.width % (2 * m.heads) == 0;
}

int64_t file_bytes(const TernaryModel& m) {
  int64_t n = 2 * m.vocab * m.width + m.layers * (4 * m.width + 3 * m.hidden) * m.width;
  return 32 + n / 4 + n / m.group * 2 + (2 * m.layers + 1) * m.width * 4;
}

bool check_tokens(const uint16_t* t, int64_t n, int64_t vocab) {
  for (int64_t i = 0; i < n; i++)
    if (t[i] >= vocab) return false;
  return true;
}

}  // namespace

extern "C" int64_t ternary_train(const TernaryTrainArgs* a) {
  if (a->abi_version != TERNARY_ABI_VERSION || a->device != TERNARY_HOST)
    return TERNARY_UNSUPPORTED;
  const TernaryModel& m = a->model;
  if (!check_model(m) || a->num_threads < 1 || a->num_tokens < m.context + 1 ||
      (a->max_seconds < 0 && a->max_tokens < 0) || !check_tokens(a->token, a->num_tokens, m.vocab))
    return TERNARY_BAD_ARGUMENT;
  for (int64_t i = 0; i < a->num_documents; i++)
    if (a->document_start[i] > a->document_start[i + 1]) return TERNARY_BAD_ARGUMENT;
  if (file_bytes(m) > a->checkpoint_capacity) {
    *a->checkpoint_bytes = file_bytes(m);
    return TERNARY_NO_SPACE;
  }
  auto begin = std::chrono::steady_clock::now();
  auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  Net net(m, a->num_threads);
  std::mt19937_64 rng(a->seed);
  std::normal_distribution<float> normal(0, 0.05f);
  for (int64_t i = 0; i < net.weights(); i++) net.w[i] = normal(rng);

  // 5 % of the windows for validation
  vector<int64_t> windows, validation;
  for (int64_t i = 0; i + m.context < a->num_tokens; i += std::max<int64_t>(1, m.context / 2))
    (rng() % 20 == 0 ? validation : windows).push_back(i);
  if (windows.empty()) windows.push_back(0);

  TernaryProgress progress{0, 0, 0};
  double last_report = 0;
  bool stop = false;
  while (!stop) {
    int64_t left = a->max_tokens < 0 ? m.context : a->max_tokens - progress.tokens_seen;
    int64_t n = std::min(m.context, left);
    if (n <= 0 || (a->max_seconds >= 0 && seconds() > 0.9 * a->max_seconds)) break;
    double done = a->max_tokens > 0 ? (double)progress.tokens_seen / a->max_tokens : 0;
    if (a->max_seconds > 0) done = std::max(done, seconds() / (0.9 * a->max_seconds));
    net.refresh();
    std::fill(net.grad.begin(), net.grad.end(), 0.0f);
    const uint16_t* text = a->token + windows[rng() % windows.size()];
    vector<float> logits = net.forward(text, n);
    progress.train_nll = net.loss(logits, text + 1, n);
    net.backward(text, n, logits);
    progress.steps++;
    progress.tokens_seen += n;
    net.adam(2e-3 * std::min(1.0, progress.steps / 50.0) * std::max(0.05, 1 - done),
             progress.steps);
    if (seconds() - last_report > 0.5) {
      last_report = seconds();
      stop = a->progress(a->listener, &progress) != 0;
    }
  }
  net.refresh();
  *a->train_nll = net.evaluate(a->token, std::min<int64_t>(a->num_tokens, 4097));
  double held_out = 0;
  for (int64_t v : validation) held_out += net.evaluate(a->token + v, m.context + 1);
  *a->held_out_nll = validation.empty() ? NAN : held_out / validation.size();
  *a->checkpoint_bytes = net.save(a->checkpoint);
  *a->tokens_seen = progress.tokens_seen;
  a->progress(a->listener, &progress);
  return TERNARY_OK;
}

extern "C" int64_t ternary_quantize(const TernaryQuantizeArgs* a) {
  if (a->abi_version != TERNARY_ABI_VERSION || a->device != TERNARY_HOST)
    return TERNARY_UNSUPPORTED;
  if (a->rows < 1 || a->columns < 1 || a->num_threads < 1 ||
      !check_group(a->rows, a->columns, a->group))
    return TERNARY_BAD_ARGUMENT;
  int64_t n = a->rows * a->columns;
  vector<float> q(n);
  vector<uint16_t> scales(n / a->group);
  if (!quantize(a->weight, n, a->group, q.data(), scales.data())) return TERNARY_BAD_ARGUMENT;
  pack(q.data(), n, a->codes);
  std::copy(scales.begin(), scales.end(), a->scales);
  return TERNARY_OK;
}

extern "C" int64_t ternary_linear_gradient(const TernaryLinearGradientArgs* a) {
  if (a->abi_version != TERNARY_ABI_VERSION || a->device != TERNARY_HOST)
    return TERNARY_UNSUPPORTED;
  if (a->rows < 1 || a->columns < 1 || a->count < 1 || a->num_threads < 1 ||
      !check_group(a->rows, a->columns, a->group))
    return TERNARY_BAD_ARGUMENT;
  int64_t n = a->rows * a->columns;
  vector<float> q(n);
  vector<uint16_t> scales(n / a->group);
  if (!quantize(a->weight, n, a->group, q.data(), scales.data())) return TERNARY_BAD_ARGUMENT;
  std::fill_n(a->input_gradient, a->count * a->columns, 0.0f);
  std::fill_n(a->weight_gradient, n, 0.0f);
  matmul(q.data(), a->x, a->y, a->count, a->rows, a->columns, a->num_threads);
  matmul_backward(q.data(), a->x, a->output_gradient, a->input_gradient, a->weight_gradient,
                  a->count, a->rows, a->columns, a->num_threads);
  return TERNARY_OK;
}

extern "C" int64_t ternary_forward(const TernaryForwardArgs* a) {
  if (a->abi_version != TERNARY_ABI_VERSION || a->device != TERNARY_HOST)
    return TERNARY_UNSUPPORTED;
  if (a->checkpoint_bytes < 32 || std::memcmp(a->checkpoint, "TRN1", 4) != 0)
    return TERNARY_BAD_ARGUMENT;
  uint32_t h[7];
  std::memcpy(h, a->checkpoint + 4, 28);
  TernaryModel m{h[0], h[1], h[2], h[3], h[4], h[5], h[6]};
  if (!check_model(m) || file_bytes(m) != a->checkpoint_bytes || a->num_threads < 1 ||
      a->num_tokens < 1 || a->num_tokens > m.context ||
      !check_tokens(a->token, a->num_tokens, m.vocab))
    return TERNARY_BAD_ARGUMENT;
  Net net(m, a->num_threads);
  if (!net.load(a->checkpoint)) return TERNARY_BAD_ARGUMENT;
  vector<float> logits = net.forward(a->token, a->num_tokens);
  std::copy(logits.begin(), logits.end(), a->logits);
  return TERNARY_OK;
}
