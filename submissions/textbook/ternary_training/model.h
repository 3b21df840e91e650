#pragma once

// The transformer, its loss and its checkpoint.
#include <cstring>
#include <optional>

#include "layers.h"

struct Block {
  explicit Block(const TernaryModel& m)
      : norm1(m.width),
        norm2(m.width),
        q(m.width, m.width, m.group),
        k(m.width, m.width, m.group),
        v(m.width, m.width, m.group),
        o(m.width, m.width, m.group),
        gate(m.hidden, m.width, m.group),
        up(m.hidden, m.width, m.group),
        down(m.width, m.hidden, m.group) {}

  Floats forward(const Floats& input, const TernaryModel& m, int64_t window, int threads) {
    const int64_t size = m.width / m.heads;
    x = input;
    x_norm = norm1.forward(x);
    query = q.forward(x_norm, threads);
    key = k.forward(x_norm, threads);
    value = v.forward(x_norm, threads);
    apply_rope(query, window, m.heads, size, false);
    apply_rope(key, window, m.heads, size, false);
    attention = {window, m.heads, size, threads, {}};
    mixed = attention.forward(query, key, value);
    y = o.forward(mixed, threads);
    add_to(y, x);
    y_norm = norm2.forward(y);
    gated = gate.forward(y_norm, threads);
    upper = up.forward(y_norm, threads);
    inner = gated;
    for (size_t i = 0; i < inner.size(); ++i) inner[i] *= upper[i] / (1 + std::exp(-gated[i]));
    Floats z = down.forward(inner, threads);
    add_to(z, y);
    return z;
  }

  /// From the gradient of the output to that of the input.
  Floats backward(const Floats& dz, int64_t heads, int64_t window, int threads) {
    const int64_t size = attention.size;
    Floats d_gate = down.backward(inner, dz, threads);
    Floats d_up = d_gate;
    for (size_t i = 0; i < inner.size(); ++i) {
      const float sigmoid = 1 / (1 + std::exp(-gated[i]));
      d_up[i] *= gated[i] * sigmoid;
      d_gate[i] *= upper[i] * sigmoid * (1 + gated[i] * (1 - sigmoid));
    }
    Floats d_norm = gate.backward(y_norm, d_gate, threads);
    add_to(d_norm, up.backward(y_norm, d_up, threads));
    Floats dy = norm2.backward(y, d_norm);
    add_to(dy, dz);

    Floats dq(query.size()), dk(query.size()), dv(query.size());
    attention.backward(query, key, value, mixed, o.backward(mixed, dy, threads), dq, dk, dv);
    apply_rope(dq, window, heads, size, true);
    apply_rope(dk, window, heads, size, true);
    d_norm = q.backward(x_norm, dq, threads);
    add_to(d_norm, k.backward(x_norm, dk, threads));
    add_to(d_norm, v.backward(x_norm, dv, threads));
    Floats dx = norm1.backward(x, d_norm);
    add_to(dx, dy);
    return dx;
  }

  RmsNorm norm1, norm2;
  TernaryLinear q, k, v, o, gate, up, down;
  Floats x, x_norm, query, key, value, mixed, y, y_norm, gated, upper,
      inner;  // of the last forward
  Attention attention{};
};

class Transformer {
 public:
  Transformer(const TernaryModel& model, int thread_count)
      : m(model),
        threads(thread_count),
        embedding(m.vocab, m.width, m.group),
        head(m.vocab, m.width, m.group),
        norm(m.width) {
    for (int64_t l = 0; l < m.layers; ++l) blocks.emplace_back(m);
  }

  /// All matrices, and all norms, in the order of the checkpoint.
  std::vector<TernaryLinear*> matrices() {
    std::vector<TernaryLinear*> all{&embedding};
    for (Block& b : blocks)
      for (TernaryLinear* matrix : {&b.q, &b.k, &b.v, &b.o, &b.gate, &b.up, &b.down})
        all.push_back(matrix);
    all.push_back(&head);
    return all;
  }
  std::vector<RmsNorm*> norms() {
    std::vector<RmsNorm*> all;
    for (Block& b : blocks) all.insert(all.end(), {&b.norm1, &b.norm2});
    all.push_back(&norm);
    return all;
  }

  /// Logits of windows of equal length, one after the other.
  Floats forward(const std::vector<uint16_t>& tokens, int64_t window) {
    window_ = window;
    tokens_ = tokens;
    Floats x;
    for (const uint16_t token : tokens)
      x.insert(x.end(), &embedding.weight[static_cast<size_t>(token * m.width)],
               &embedding.weight[static_cast<size_t>(token * m.width)] + m.width);
    for (Block& block : blocks) x = block.forward(x, m, window, threads);
    x_ = x;
    normal_ = norm.forward(x);
    return head.forward(normal_, threads);
  }

  void backward(const Floats& d_logits) {
    Floats dx = norm.backward(x_, head.backward(normal_, d_logits, threads));
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block)
      dx = block->backward(dx, m.heads, window_, threads);
    const auto width = static_cast<size_t>(m.width);
    for (size_t i = 0; i < tokens_.size(); ++i)
      for (size_t c = 0; c < width; ++c)
        embedding.gradient[tokens_[i] * width + c] += dx[i * width + c];
  }

  const TernaryModel m;
  const int threads;
  TernaryLinear embedding;
  std::vector<Block> blocks;
  TernaryLinear head;
  RmsNorm norm;

 private:
  int64_t window_ = 0;
  std::vector<uint16_t> tokens_;
  Floats x_, normal_;
};

/// The sum of -log softmax(logits)[target] over rows, which become gradients of their mean.
inline double cross_entropy(Floats& logits, const std::vector<uint16_t>& targets, int64_t vocab) {
  double loss = 0;
  for (size_t i = 0; i < targets.size(); ++i) {
    float* row = &logits[i * static_cast<size_t>(vocab)];
    const float largest = *std::max_element(row, row + vocab);
    const double own = row[targets[i]] - largest;
    double sum = 0;
    for (int64_t v = 0; v < vocab; ++v) sum += row[v] = std::exp(row[v] - largest);
    loss += std::log(sum) - own;
    const auto factor = static_cast<float>(1 / (sum * static_cast<double>(targets.size())));
    for (int64_t v = 0; v < vocab; ++v) row[v] *= factor;
    row[targets[i]] -= 1 / static_cast<float>(targets.size());
  }
  return loss;
}
