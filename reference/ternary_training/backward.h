// SPDX-License-Identifier: Apache-2.0
#pragma once

// The way back: gradients of all weights from one window.
#include "layout.h"
#include "transformer.h"

namespace ternary {

/// What one thread works with on the way back.
struct BackwardScratch {
  BackwardScratch(const TernaryModel& m, std::int64_t length)
      : dx(length, m.width),
        d_normal(length, m.width),
        branch(length, m.width),
        d_inner(length, m.hidden),
        d_gate(length, m.hidden),
        dq(length, m.width),
        dk(length, m.width),
        dv(length, m.width),
        attention(length, m.width / m.heads) {}
  Table dx;        // gradient of the residual stream
  Table d_normal;  // of what a norm made; at first of the last norm's
  Table branch;
  Table d_inner;
  Table d_gate;
  Table dq, dk, dv;
  AttentionGradients attention;
};

class Backward {
 public:
  Backward(const Model& model, const Angles& angles, const Layout& layout)
      : model_(model), angles_(angles), layout_(layout) {}

  /// Adds to `gradient`. On entry work.d_normal is the gradient of window.normal_x.
  void run(Window& window, AttentionScratch& attention, BackwardScratch& work,
           const std::uint16_t* token, std::int64_t length, const Dropout& dropout,
           float* gradient) const {
    const TernaryModel& m = model_.sizes;
    work.dx.clear();
    normalise_backward(window.x, window.inverse_x, work.d_normal, 2 * m.layers, length, work.dx,
                       gradient);
    for (std::int64_t l = m.layers - 1; l >= 0; --l) {
      LayerState& state = window.of_layer(l);
      copy_masked(work.dx, dropout.of(2 * l + 1), length, work.branch);
      through<false>(work.branch, l, kDown, state.inner, length, gradient, work.d_inner);
      gates_backward(state, length, work.d_inner, work.d_gate);
      through<false>(work.d_gate, l, kGate, state.normal_y, length, gradient, work.d_normal);
      through<true>(work.d_inner, l, kUp, state.normal_y, length, gradient, work.d_normal);
      normalise_backward(state.y, state.inverse_y, work.d_normal, 2 * l + 1, length, work.dx,
                         gradient);
      copy_masked(work.dx, dropout.of(2 * l), length, work.branch);
      through<false>(work.branch, l, kOutput, state.attended, length, gradient, work.d_normal);
      heads_backward(state, attention, work, length);
      through<false>(work.dq, l, kQuery, state.normal_x, length, gradient, work.d_normal);
      through<true>(work.dk, l, kKey, state.normal_x, length, gradient, work.d_normal);
      through<true>(work.dv, l, kValue, state.normal_x, length, gradient, work.d_normal);
      normalise_backward(state.x, state.inverse_x, work.d_normal, 2 * l, length, work.dx, gradient);
    }
    const Rows embedding = layout_.rows(gradient, embedding_index());
    for (std::int64_t i = 0; i < length; ++i)
      for (std::int64_t c = 0; c < m.width; ++c) embedding[token[i]][c] += work.dx[i][c];
  }

 private:
  /// Linear layer y = W x: adds to W's gradient, and makes (or adds to) that of x.
  template <bool kAdd>
  void through(Table& dy, std::int64_t layer, MatrixOfLayer which, Table& x, std::int64_t length,
               float* gradient, Table& dx) const {
    const Matrix& matrix = model_.of_layer(layer, which);
    const MatrixShape shape = matrix.shape();
    product<true>(transposed(dy.rows()), right_of(x.rows()),
                  layout_.rows(gradient, layer_index(layer, which)), shape.rows, shape.columns,
                  length);
    product<kAdd>(left_of(dy.rows()), matrix.plain(), dx.rows(), length, shape.columns, shape.rows);
  }

  void copy_masked(Table& from, const DropoutMask& mask, std::int64_t length, Table& to) const {
    for (std::int64_t i = 0; i < length; ++i) {
      std::copy_n(from[i], model_.sizes.width, to[i]);
      mask.apply(i, model_.sizes.width, to[i]);
    }
  }

  /// Adds to dx; dy is used up.
  void normalise_backward(Table& x, const Floats& inverse, Table& dy, std::int64_t number,
                          std::int64_t length, Table& dx, float* gradient) const {
    const std::int64_t width = model_.sizes.width;
    const float* gain = model_.gain(number);
    float* d_gain = gradient + layout_.gains + number * width;
    for (std::int64_t i = 0; i < length; ++i) {
      float* from = dy[i];
      const float* row = x[i];
      for (std::int64_t c = 0; c < width; ++c) {
        d_gain[c] += from[c] * row[c] * inverse[i];
        from[c] *= gain[c];
      }
      Vec dots{};
      for (std::int64_t c = 0; c < width; c += kLanes) dots += load(from + c) * load(row + c);
      const float along = sum_of(dots) * inverse[i] * inverse[i] / static_cast<float>(width);
      for (std::int64_t c = 0; c < width; ++c) dx[i][c] += inverse[i] * (from[c] - row[c] * along);
    }
  }

  /// From the gradient of inner to those of up (in its place) and gate.
  void gates_backward(LayerState& state, std::int64_t length, Table& d_inner, Table& d_gate) const {
    for (std::int64_t i = 0; i < length; ++i)
      for (std::int64_t c = 0; c < model_.sizes.hidden; c += kLanes) {
        const Vec gate = load(state.gate[i] + c);
        const Vec up = load(state.up[i] + c);
        const Vec d = load(d_inner[i] + c);
        const Vec bend = sigmoid_of(gate);
        store(d_gate[i] + c, d * up * bend * (1.0f + gate * (1.0f - bend)));
        store(d_inner[i] + c, d * gate * bend);
      }
  }

  /// From work.d_normal, the gradient of the heads' outputs, to work.dq, dk and dv.
  void heads_backward(LayerState& state, AttentionScratch& attention, BackwardScratch& work,
                      std::int64_t length) const {
    const std::int64_t size = 2 * angles_.pairs;
    const float scale = 1 / std::sqrt(static_cast<float>(size));
    AttentionGradients& head_work = work.attention;
    std::int64_t column = 0;
    for (HeadState& head : state.heads) {
      for (std::int64_t i = 0; i < length; ++i)
        std::copy_n(work.d_normal[i] + column, size, head_work.d_out[i]);
      attend_backward(head, attention, head_work, length, size);
      for (std::int64_t i = 0; i < length; ++i) {
        rotate_back(angles_, i, head_work.dq[i], scale, work.dq[i] + column);
        rotate_back(angles_, i, head_work.dk[i], 1.0f, work.dk[i] + column);
        std::copy_n(head_work.dv[i], size, work.dv[i] + column);
      }
      column += size;
    }
  }

  const Model& model_;
  const Angles& angles_;
  const Layout& layout_;
};

}  // namespace ternary
