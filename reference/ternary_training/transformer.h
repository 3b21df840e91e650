// SPDX-License-Identifier: Apache-2.0
#pragma once

// One window through the model: there for all, and back for training.
#include "attention.h"
#include "dropout.h"
#include "model.h"

namespace ternary {

/// What all positions of one window leave behind, of the last `kept` layers.
struct Window {
  Window(const TernaryModel& m, std::int64_t length, std::int64_t kept)
      : x(length, m.width), inverse_x(length), normal_x(length, m.width) {
    for (std::int64_t l = 0; l < kept; ++l) layers.emplace_back(m, length);
  }
  LayerState& of_layer(std::int64_t layer) {
    return layers[static_cast<std::size_t>(layer) % layers.size()];
  }
  std::vector<LayerState> layers;
  Table x;  // after the last layer
  Floats inverse_x;
  Table normal_x;
};

/// What one thread works with.
struct Scratch {
  Scratch(const TernaryModel& m, std::int64_t length)
      : rows(length, m.width), attention(length, m.width / m.heads), logits(kLogitRows, m.vocab) {}

  static constexpr std::int64_t kLogitRows = 20 * kTileRows;
  Table rows;
  AttentionScratch attention;
  Table logits;
};

/// y = x / root mean square of x * gain, by rows.
inline void normalise(const Rows& x, std::int64_t begin, std::int64_t end, std::int64_t width,
                      const float* gain, Floats& inverse, const Rows& y) {
  for (std::int64_t i = begin; i < end; ++i) {
    Vec squares{};
    for (std::int64_t c = 0; c < width; c += kLanes) squares += load(x[i] + c) * load(x[i] + c);
    const float mean = sum_of(squares) / static_cast<float>(width);
    const float scale = 1 / std::sqrt(mean + TERNARY_NORM_EPSILON);
    inverse[i] = scale;
    for (std::int64_t c = 0; c < width; ++c) y[i][c] = x[i][c] * scale * gain[c];
  }
}

/// The forward pass of positions that one thread cares for.
class Forward {
 public:
  Forward(const Model& model, const Angles& angles) : model_(model), angles_(angles) {}

  /// Positions begin .. end - 1, up to the vectors that the head takes. `await_keys` returns when
  /// all threads that share the window have called it. No thread is more than a layer ahead of
  /// another, so that a window that keeps two layers is enough for them.
  template <class AwaitKeys>
  void run(Window& window, Scratch& scratch, const std::uint16_t* token, std::int64_t begin,
           std::int64_t end, const Dropout& dropout, const AwaitKeys& await_keys) const {
    const TernaryModel& m = model_.sizes;
    for (std::int64_t i = begin; i < end; ++i)
      std::copy_n(model_.embedded(token[i]), m.width, window.of_layer(0).x[i]);
    for (std::int64_t l = 0; l < m.layers; ++l) {
      LayerState& state = window.of_layer(l);
      normalise(state.x.rows(), begin, end, m.width, model_.gain(2 * l), state.inverse_x,
                state.normal_x.rows());
      make_heads(state, scratch, l, begin, end);
      await_keys();
      run_attention(state, scratch, begin, end);
      multiply(state.attended, model_.of_layer(l, kOutput), scratch.rows, begin, end);
      add_rows(state.x, scratch.rows, dropout.of(2 * l), begin, end, state.y);
      normalise(state.y.rows(), begin, end, m.width, model_.gain(2 * l + 1), state.inverse_y,
                state.normal_y.rows());
      run_gates(state, l, begin, end);
      multiply(state.inner, model_.of_layer(l, kDown), scratch.rows, begin, end);
      Table& next = l + 1 < m.layers ? window.of_layer(l + 1).x : window.x;
      add_rows(state.y, scratch.rows, dropout.of(2 * l + 1), begin, end, next);
    }
    normalise(window.x.rows(), begin, end, m.width, model_.gain(2 * m.layers), window.inverse_x,
              window.normal_x.rows());
  }

  /// Logits of positions first .. first + count - 1, in scratch.logits; count <= kLogitRows.
  void make_logits(Window& window, Scratch& scratch, std::int64_t first, std::int64_t count) const {
    product<false>(left_of(window.normal_x.rows().from(first)), model_.head().transposed(),
                   scratch.logits.rows(), count, model_.sizes.vocab, model_.sizes.width);
  }

 private:
  static void multiply(Table& x, const Matrix& matrix, Table& y, std::int64_t begin,
                       std::int64_t end) {
    product<false>(left_of(x.rows().from(begin)), matrix.transposed(), y.rows().from(begin),
                   end - begin, matrix.shape().rows, matrix.shape().columns);
  }

  void add_rows(Table& x, Table& branch, const DropoutMask& mask, std::int64_t begin,
                std::int64_t end, Table& sum) const {
    const std::int64_t width = model_.sizes.width;
    for (std::int64_t i = begin; i < end; ++i) {
      mask.apply(i, width, branch[i]);
      for (std::int64_t c = 0; c < width; ++c) sum[i][c] = x[i][c] + branch[i][c];
    }
  }

  void make_heads(LayerState& state, Scratch& scratch, std::int64_t l, std::int64_t begin,
                  std::int64_t end) const {
    const std::int64_t size = 2 * angles_.pairs;
    const float scale = 1 / std::sqrt(static_cast<float>(size));
    const auto for_heads = [&](const auto& body) {
      for (std::int64_t i = begin; i < end; ++i)
        for (std::size_t h = 0; h < state.heads.size(); ++h)
          body(state.heads[h], i, scratch.rows[i] + static_cast<std::int64_t>(h) * size);
    };
    multiply(state.normal_x, model_.of_layer(l, kQuery), scratch.rows, begin, end);
    for_heads([&](HeadState& head, std::int64_t i, const float* from) {
      rotate(angles_, i, from, scale, head.q[i]);
    });
    multiply(state.normal_x, model_.of_layer(l, kKey), scratch.rows, begin, end);
    for_heads([&](HeadState& head, std::int64_t i, const float* from) {
      rotate(angles_, i, from, 1.0f, head.k[i]);
    });
    multiply(state.normal_x, model_.of_layer(l, kValue), scratch.rows, begin, end);
    for_heads([&](HeadState& head, std::int64_t i, const float* from) {
      std::copy_n(from, size, head.v[i]);
    });
  }

  void run_attention(LayerState& state, Scratch& scratch, std::int64_t begin,
                     std::int64_t end) const {
    const std::int64_t size = 2 * angles_.pairs;
    std::int64_t column = 0;
    for (HeadState& head : state.heads) {
      attend(head, scratch.attention, begin, end, size);
      for (std::int64_t i = begin; i < end; ++i)
        std::copy_n(head.out[i], size, state.attended[i] + column);
      column += size;
    }
  }

  void run_gates(LayerState& state, std::int64_t l, std::int64_t begin, std::int64_t end) const {
    multiply(state.normal_y, model_.of_layer(l, kGate), state.gate, begin, end);
    multiply(state.normal_y, model_.of_layer(l, kUp), state.up, begin, end);
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t c = 0; c < model_.sizes.hidden; c += kLanes) {
        const Vec gate = load(state.gate[i] + c);
        store(state.inner[i] + c, gate * sigmoid_of(gate) * load(state.up[i] + c));
      }
  }

  const Model& model_;
  const Angles& angles_;
};

}  // namespace ternary
