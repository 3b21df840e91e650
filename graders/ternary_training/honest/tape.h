// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reverse differentiation: what is computed is written on a tape, which is then run backwards.
#include <functional>
#include <memory>

#include "training.h"

namespace common {

/// A matrix that the tape multiplies with, and its gradient.
struct Weights {
  explicit Weights(Size s)
      : size(s),
        value(static_cast<size_t>(s.rows * s.columns)),
        gradient(static_cast<size_t>(s.rows * s.columns)) {}
  Size size;
  Floats value, gradient;
};

/// `count` rows that depend on earlier ones.
struct Node {
  Floats value, gradient;
  std::function<void()> back;  // adds to the gradients of what the value was made of
};

class Tape {
 public:
  explicit Tape(int64_t count) : n_(count) {}

  Node& embed(Weights& w, const uint16_t* token) {
    Node& y = fresh(w.size.columns);
    for (int64_t i = 0; i < n_; ++i)
      std::copy_n(&w.value[at(token[i], w.size.columns)], w.size.columns,
                  &y.value[at(i, w.size.columns)]);
    y.back = [this, &w, &y, token] {
      for (int64_t i = 0; i < n_; ++i)
        add_scaled(&y.gradient[at(i, w.size.columns)], 1, w.size.columns,
                   &w.gradient[at(token[i], w.size.columns)]);
    };
    return y;
  }

  /// The sums run over columns of w, one x at a time, so that rows of the transposed w are added.
  Node& linear(Weights& w, Node& x) {
    const auto [rows, columns] = w.size;
    const Floats columns_of_w = transposed(w.value.data(), rows, columns);
    Node& y = fresh(rows);
    for (int64_t i = 0; i < n_; ++i)
      add_rows(columns_of_w.data(), rows, &x.value[at(i, columns)], 1, columns, rows,
               &y.value[at(i, rows)]);
    y.back = [this, &w, &x, &y] {
      const auto [rows, columns] = w.size;
      for (int64_t i = 0; i < n_; ++i)
        add_rows(w.value.data(), columns, &y.gradient[at(i, rows)], 1, rows, columns,
                 &x.gradient[at(i, columns)]);
      for (int64_t r = 0; r < rows; ++r)
        add_rows(x.value.data(), columns, &y.gradient[static_cast<size_t>(r)], rows, n_, columns,
                 &w.gradient[at(r, columns)]);
    };
    return y;
  }

  Node& normal(Node& x, const float* gain, float* gain_gradient, int64_t width) {
    Node& y = fresh(width);
    normalise(x.value.data(), gain, n_, width, y.value.data());
    y.back = [this, &x, &y, gain, gain_gradient, width] {
      normalise_back(x.value.data(), gain, y.gradient.data(), n_, width, x.gradient.data(),
                     gain_gradient);
    };
    return y;
  }

  Node& sum(Node& a, Node& b) {
    Node& y = fresh_like(a);
    for (size_t i = 0; i < y.value.size(); ++i) y.value[i] = a.value[i] + b.value[i];
    y.back = [&a, &b, &y] {
      add(y.gradient, a.gradient);
      add(y.gradient, b.gradient);
    };
    return y;
  }

  /// silu(gate) * up
  Node& gated(Node& gate, Node& up) {
    Node& y = fresh_like(gate);
    const auto sigmoid = [](float z) { return 1 / (1 + std::exp(-z)); };
    for (size_t i = 0; i < y.value.size(); ++i)
      y.value[i] = gate.value[i] * sigmoid(gate.value[i]) * up.value[i];
    y.back = [&gate, &up, &y, sigmoid] {
      for (size_t i = 0; i < y.value.size(); ++i) {
        const float z = gate.value[i];
        const float s = sigmoid(z);
        up.gradient[i] += y.gradient[i] * z * s;
        gate.gradient[i] += y.gradient[i] * up.value[i] * (s + z * s * (1 - s));
      }
    };
    return y;
  }

  /// Every head's pairs turned by the angle of their position.
  Node& rotated(Node& x, int64_t heads, int64_t size) {
    Node& y = fresh_like(x);
    turn(x.value, y.value, heads, size, 1);
    y.back = [this, &x, &y, heads, size] { turn(y.gradient, x.gradient, heads, size, -1); };
    return y;
  }

  Node& attention(Node& q, Node& k, Node& v, int64_t heads, int64_t size) {
    Node& y = fresh_like(v);
    auto weights = std::make_shared<Floats>(static_cast<size_t>(heads * n_ * n_));
    const int64_t width = heads * size;
    const float scale = 1 / std::sqrt(static_cast<float>(size));
    for_pairs_of_rows(
        heads,
        [&](int64_t h, int64_t i, float* weight) {
          const size_t query = at(i, width) + static_cast<size_t>(h * size);
          for (int64_t j = 0; j <= i; ++j)
            weight[j] = scale * dot(&q.value[query],
                                    &k.value[at(j, width) + static_cast<size_t>(h * size)], size);
          soften(weight, i + 1, 0);
          for (int64_t j = 0; j <= i; ++j)
            add_scaled(&v.value[at(j, width) + static_cast<size_t>(h * size)], weight[j], size,
                       &y.value[query]);
        },
        *weights);
    y.back = [this, &q, &k, &v, &y, heads, size, width, scale, weights] {
      Floats d(static_cast<size_t>(n_));
      for_pairs_of_rows(
          heads,
          [&](int64_t h, int64_t i, const float* weight) {
            const size_t query = at(i, width) + static_cast<size_t>(h * size);
            float mean = 0;
            for (int64_t j = 0; j <= i; ++j) {
              const size_t key = at(j, width) + static_cast<size_t>(h * size);
              d[static_cast<size_t>(j)] = dot(&y.gradient[query], &v.value[key], size);
              mean += weight[j] * d[static_cast<size_t>(j)];
              add_scaled(&y.gradient[query], weight[j], size, &v.gradient[key]);
            }
            for (int64_t j = 0; j <= i; ++j) {
              const size_t key = at(j, width) + static_cast<size_t>(h * size);
              const float d_score = scale * weight[j] * (d[static_cast<size_t>(j)] - mean);
              add_scaled(&k.value[key], d_score, size, &q.gradient[query]);
              add_scaled(&q.value[query], d_score, size, &k.gradient[key]);
            }
          },
          *weights);
    };
    return y;
  }

  /// From the gradient of the last node to those of all weights.
  void run_back() {
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) (*node)->back();
  }

 private:
  static size_t at(int64_t row, int64_t columns) { return static_cast<size_t>(row * columns); }

  Node& fresh(int64_t columns) {
    nodes_.push_back(std::make_unique<Node>());
    nodes_.back()->value.resize(at(n_, columns));
    nodes_.back()->gradient.resize(at(n_, columns));
    return *nodes_.back();
  }
  Node& fresh_like(const Node& x) { return fresh(static_cast<int64_t>(x.value.size()) / n_); }

  template <class Body>
  void for_pairs_of_rows(int64_t heads, const Body& body, Floats& weights) const {
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < n_; ++i) body(h, i, &weights[at(h * n_ + i, n_)]);
  }

  /// Adds to `to`.
  void turn(const Floats& from, Floats& to, int64_t heads, int64_t size, float direction) const {
    for (int64_t pair = 0; pair < size / 2; ++pair) {
      const double speed = std::pow(static_cast<double>(TERNARY_ROPE_BASE),
                                    -2 * static_cast<double>(pair) / static_cast<double>(size));
      for (int64_t i = 0; i < n_; ++i) {
        const auto cosine = static_cast<float>(std::cos(static_cast<double>(i) * speed));
        const float sine = direction * static_cast<float>(std::sin(static_cast<double>(i) * speed));
        for (int64_t h = 0; h < heads; ++h) {
          const size_t first = at(i * heads + h, size) + static_cast<size_t>(pair);
          const size_t second = first + static_cast<size_t>(size / 2);
          to[first] += from[first] * cosine - from[second] * sine;
          to[second] += from[second] * cosine + from[first] * sine;
        }
      }
    }
  }

  int64_t n_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

/// The model of the contract on a tape: the logits.
inline Node& logits_of(Tape& tape, const TernaryModel& m, std::vector<Weights>& w, Floats& gains,
                       Floats& gain_gradients, const uint16_t* token) {
  int64_t number = 0;
  const auto normal = [&](Node& x) -> Node& {
    const int64_t start = number++ * m.width;
    return tape.normal(x, gains.data() + start, gain_gradients.data() + start, m.width);
  };
  const int64_t size = m.width / m.heads;
  Node* x = &tape.embed(w.front(), token);
  for (size_t first = 1; first + 1 < w.size(); first += 7) {
    Node& h = normal(*x);
    Node& q = tape.rotated(tape.linear(w[first], h), m.heads, size);
    Node& k = tape.rotated(tape.linear(w[first + 1], h), m.heads, size);
    Node& v = tape.linear(w[first + 2], h);
    x = &tape.sum(*x, tape.linear(w[first + 3], tape.attention(q, k, v, m.heads, size)));
    Node& g = normal(*x);
    Node& inner = tape.gated(tape.linear(w[first + 4], g), tape.linear(w[first + 5], g));
    x = &tape.sum(*x, tape.linear(w[first + 6], inner));
  }
  return tape.linear(w.back(), normal(*x));
}

}  // namespace common
