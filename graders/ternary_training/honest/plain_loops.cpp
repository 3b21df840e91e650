// strategy: one thread, plain loops, absmean with straight-through gradients, AdamW, own held-out
// text
// uses: fewer threads than num_threads may be used, and held_out_nll is an estimate of the
// solution's own
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "packed.h"
#include "rows.h"
#include "training.h"

namespace {

using namespace common;
// ---------------------------------------------------------------- quantiser and linear layer

/// Scale of a group; infinity when the mean is too large.
uint16_t scale_of(const float* w, int64_t group) {
  double sum = 0;
  for (int64_t i = 0; i < group; ++i) sum += std::fabs(static_cast<double>(w[i]));
  return nearest_half(sum / static_cast<double>(group));
}

/// -1, 0 or 1. Without branches, so that the compiler may take several at once.
int trit_of(float w, uint16_t scale) {
  const double limit = value_of_half(scale) / 2;
  const bool zero = std::fabs(static_cast<double>(w)) <= limit;
  const int sign = w > 0 ? 1 : -1;
  return sign * static_cast<int>(!zero) * static_cast<int>(scale != 0);
}

struct Matrix {
  explicit Matrix(Size s) : size(s), weight(static_cast<size_t>(s.rows * s.columns)) {}

  const float* row(int64_t r) const { return weight.data() + r * size.columns; }

  /// Weights and their packed form from latent ones. False when a group has no finite scale.
  bool quantise(const float* from, int64_t group) {
    packed.trits.resize(weight.size());
    packed.scales.clear();
    const int64_t count = size.rows * size.columns;
    for (int64_t i = 0; i < count; i += group) {
      packed.scales.push_back(scale_of(from + i, group));
      const uint16_t scale = packed.scales.back();
      const int64_t end = std::min(i + group, count);
      int8_t* trit = packed.trits.data();
      for (int64_t k = i; k < end; ++k) trit[k] = static_cast<int8_t>(trit_of(from[k], scale));
    }
    unfold(group);
    return std::count(packed.scales.begin(), packed.scales.end(), kHalfInfinity) == 0;
  }

  /// Weights from their packed form.
  void unfold(int64_t group) {
    auto* w = weight.data();
    const auto* trit = packed.trits.data();
    for (const uint16_t half : packed.scales) {
      const auto scale = static_cast<float>(value_of_half(half));
      const auto* end = std::min(w + group, weight.data() + weight.size());
      while (w < end) *w++ = static_cast<float>(*trit++) * scale;
    }
  }

  Size size;
  Floats weight;  // ternary, as floats
  PackedMatrix packed;
  Floats gradient;
};

void multiply(const Matrix& w, const float* x, int64_t count, float* y) {
  const auto [rows, columns] = w.size;
  const Floats columns_of_w = transposed(w.row(0), rows, columns);
  std::fill_n(y, count * rows, 0.0f);
  for (int64_t i = 0; i < count; ++i)
    add_rows(columns_of_w.data(), rows, x + i * columns, 1, columns, rows, y + i * rows);
}

/// Adds to dx and dw.
void multiply_back(const Matrix& w, const float* x, const float* dy, int64_t count, float* dx,
                   float* dw) {
  const auto [rows, columns] = w.size;
  for (int64_t i = 0; i < count; ++i)
    add_rows(w.row(0), columns, dy + i * rows, 1, rows, columns, dx + i * columns);
  for (int64_t r = 0; r < rows; ++r)
    add_rows(x, columns, dy + r, rows, count, columns, dw + r * columns);
}

// ---------------------------------------------------------------- the model

/// Turns the pairs of all heads of a row by the angles of its position, or back.
void turn(float* row, int64_t position, int64_t heads, int64_t size, float direction) {
  for (int64_t i = 0; i < size / 2; ++i) {
    const double speed = std::pow(static_cast<double>(TERNARY_ROPE_BASE),
                                  -2.0 * static_cast<double>(i) / static_cast<double>(size));
    const double angle = static_cast<double>(position) * speed;
    const auto cosine = static_cast<float>(std::cos(angle));
    const float sine = direction * static_cast<float>(std::sin(angle));
    for (float* head = row; head < row + heads * size; head += size) {
      const float first = head[i];
      const float second = head[i + size / 2];
      head[i] = first * cosine - second * sine;
      head[i + size / 2] = second * cosine + first * sine;
    }
  }
}

struct LayerTrace {
  Floats x, normal_x, q, k, v, weights, mixed, y, normal_y, gate, up, inner;
};

class Network {
 public:
  explicit Network(const TernaryModel& model)
      : m(model), gains(static_cast<size_t>(gains_of(m)), 1.0f) {
    for (const Size& size : sizes_of(m)) matrices.emplace_back(size);
  }

  const Matrix& of_layer(int64_t layer, int64_t which) const {
    return matrices[static_cast<size_t>(1 + 7 * layer + which)];
  }
  const float* gain(int64_t number) const { return gains.data() + number * m.width; }

  /// Logits [count][vocab].
  Floats forward(const uint16_t* token, int64_t count) {
    n_ = count;
    trace_.assign(static_cast<size_t>(m.layers), {});
    Floats x = rows(m.width);
    for (int64_t i = 0; i < n_; ++i)
      std::copy_n(matrices[0].row(token[i]), m.width, x.data() + i * m.width);
    for (int64_t l = 0; l < m.layers; ++l) {
      LayerTrace& t = trace_[static_cast<size_t>(l)];
      t.x = x;
      t.normal_x = rows(m.width);
      normalise(x.data(), gain(2 * l), n_, m.width, t.normal_x.data());
      t.q = through(of_layer(l, 0), t.normal_x);
      t.k = through(of_layer(l, 1), t.normal_x);
      t.v = through(of_layer(l, 2), t.normal_x);
      turn_all(t.q, 1);
      turn_all(t.k, 1);
      attend(t);
      const Floats attended = through(of_layer(l, 3), t.mixed);
      for (size_t i = 0; i < x.size(); ++i) x[i] += attended[i];
      t.y = x;
      t.normal_y = rows(m.width);
      normalise(x.data(), gain(2 * l + 1), n_, m.width, t.normal_y.data());
      t.gate = through(of_layer(l, 4), t.normal_y);
      t.up = through(of_layer(l, 5), t.normal_y);
      t.inner = rows(m.hidden);
      for (size_t i = 0; i < t.inner.size(); ++i)
        t.inner[i] = t.gate[i] / (1 + std::exp(-t.gate[i])) * t.up[i];
      const Floats out = through(of_layer(l, 6), t.inner);
      for (size_t i = 0; i < x.size(); ++i) x[i] += out[i];
    }
    last_x_ = x;
    last_normal_ = rows(m.width);
    normalise(x.data(), gain(2 * m.layers), n_, m.width, last_normal_.data());
    return through(matrices.back(), last_normal_);
  }

  /// Adds to the gradients, after `forward`.
  void backward(const uint16_t* token, const Floats& d_logits) {
    Floats d_normal = back(matrices.back(), last_normal_, d_logits);
    Floats dx = rows(m.width);
    normal_back(last_x_, 2 * m.layers, d_normal, dx);
    for (int64_t l = m.layers - 1; l >= 0; --l) {
      const LayerTrace& t = trace_[static_cast<size_t>(l)];
      Floats d_gate = back(of_layer(l, 6), t.inner, dx);
      Floats d_up = d_gate;
      for (size_t i = 0; i < d_gate.size(); ++i) {
        const float sigmoid = 1 / (1 + std::exp(-t.gate[i]));
        d_up[i] *= t.gate[i] * sigmoid;
        d_gate[i] *= t.up[i] * sigmoid * (1 + t.gate[i] * (1 - sigmoid));
      }
      d_normal = back(of_layer(l, 4), t.normal_y, d_gate);
      add(back(of_layer(l, 5), t.normal_y, d_up), d_normal);
      normal_back(t.y, 2 * l + 1, d_normal, dx);
      Floats dq = rows(m.width), dk = rows(m.width), dv = rows(m.width);
      attend_back(t, back(of_layer(l, 3), t.mixed, dx), dq, dk, dv);
      turn_all(dq, -1);
      turn_all(dk, -1);
      d_normal = back(of_layer(l, 0), t.normal_x, dq);
      add(back(of_layer(l, 1), t.normal_x, dk), d_normal);
      add(back(of_layer(l, 2), t.normal_x, dv), d_normal);
      normal_back(t.x, 2 * l, d_normal, dx);
    }
    for (int64_t i = 0; i < n_; ++i)
      add_scaled(dx.data() + i * m.width, 1, m.width,
                 matrices[0].gradient.data() + token[i] * m.width);
  }

  TernaryModel m;
  std::vector<Matrix> matrices;
  Floats gains, gain_gradient;

 private:
  Floats rows(int64_t columns) const { return Floats(static_cast<size_t>(n_ * columns)); }

  Floats through(const Matrix& w, const Floats& x) const {
    Floats y = rows(w.size.rows);
    multiply(w, x.data(), n_, y.data());
    return y;
  }

  Floats back(const Matrix& w, const Floats& x, const Floats& dy) {
    Floats dx = rows(w.size.columns);
    auto& gradient = matrices[static_cast<size_t>(&w - matrices.data())].gradient;
    multiply_back(w, x.data(), dy.data(), n_, dx.data(), gradient.data());
    return dx;
  }

  void normal_back(const Floats& x, int64_t number, const Floats& dy, Floats& dx) {
    normalise_back(x.data(), gain(number), dy.data(), n_, m.width, dx.data(),
                   gain_gradient.data() + number * m.width);
  }

  void turn_all(Floats& x, float direction) const {
    for (int64_t i = 0; i < n_; ++i)
      turn(x.data() + i * m.width, i, m.heads, m.width / m.heads, direction);
  }

  void attend(LayerTrace& t) const {
    const int64_t size = m.width / m.heads;
    const float scale = 1 / std::sqrt(static_cast<float>(size));
    t.weights = Floats(static_cast<size_t>(m.heads * n_ * n_));
    t.mixed = rows(m.width);
    for (int64_t h = 0; h < m.heads; ++h)
      for (int64_t i = 0; i < n_; ++i) {
        float* weight = t.weights.data() + (h * n_ + i) * n_;
        const int64_t at = i * m.width + h * size;
        float top = -HUGE_VALF;
        for (int64_t j = 0; j <= i; ++j) {
          weight[j] = scale * dot(t.q.data() + at, t.k.data() + j * m.width + h * size, size);
          top = std::max(top, weight[j]);
        }
        float sum = 0;
        for (int64_t j = 0; j <= i; ++j) sum += weight[j] = std::exp(weight[j] - top);
        for (int64_t j = 0; j <= i; ++j) {
          weight[j] /= sum;
          add_scaled(t.v.data() + j * m.width + h * size, weight[j], size, t.mixed.data() + at);
        }
      }
  }

  void attend_back(const LayerTrace& t, const Floats& d_mixed, Floats& dq, Floats& dk,
                   Floats& dv) const {
    const int64_t size = m.width / m.heads;
    const float scale = 1 / std::sqrt(static_cast<float>(size));
    for (int64_t h = 0; h < m.heads; ++h)
      for (int64_t i = 0; i < n_; ++i) {
        const float* weight = t.weights.data() + (h * n_ + i) * n_;
        const int64_t at = i * m.width + h * size;
        const float mean = dot(d_mixed.data() + at, t.mixed.data() + at, size);
        for (int64_t j = 0; j <= i; ++j) {
          const int64_t key = j * m.width + h * size;
          const float d = dot(d_mixed.data() + at, t.v.data() + key, size);
          const float d_score = scale * weight[j] * (d - mean);
          add_scaled(d_mixed.data() + at, weight[j], size, dv.data() + key);
          add_scaled(t.k.data() + key, d_score, size, dq.data() + at);
          add_scaled(t.q.data() + at, d_score, size, dk.data() + key);
        }
      }
  }

  int64_t n_ = 0;
  std::vector<LayerTrace> trace_;
  Floats last_x_, last_normal_;
};

// ---------------------------------------------------------------- training

class Trainer {
 public:
  explicit Trainer(const TernaryTrainArgs& args)
      : a_(args), limits_(args), net_(args.model), random_{args.seed}, gains_(net_.gains.size()) {
    for (const Size& size : sizes_of(a_.model)) {
      latents_.emplace_back(static_cast<size_t>(size.rows * size.columns));
      const float spread = 1 / std::sqrt(static_cast<float>(size.columns));
      for (float& w : latents_.back().value) w = spread * random_.bell();
    }
    std::fill(gains_.value.begin(), gains_.value.end(), 1.0f);
    quantise();
  }

  void run() {
    while (!limits_.reached()) step();
    *a_.train_nll = likelihood(a_.token, std::min<int64_t>(a_.num_tokens, 4097));
    const int64_t held_out = a_.num_tokens - trained_;
    *a_.held_out_nll = held_out < 2 ? std::numeric_limits<double>::quiet_NaN()
                                    : likelihood(a_.token + trained_, held_out);
    std::vector<const PackedMatrix*> packed;
    for (const Matrix& matrix : net_.matrices) packed.push_back(&matrix.packed);
    pack(a_.model, packed, net_.gains, a_.checkpoint);
    *a_.checkpoint_bytes = static_cast<int64_t>(checkpoint_bytes(a_.model));
    *a_.tokens_seen = limits_.tokens;
    limits_.report();
  }

 private:
  void quantise() {
    for (size_t i = 0; i < latents_.size(); ++i)
      net_.matrices[i].quantise(latents_[i].value.data(), a_.model.group);
    net_.gains = gains_.value;
  }

  void step() {
    const int64_t count = limits_.allowed(a_.model.context);
    for (Matrix& matrix : net_.matrices) matrix.gradient.assign(matrix.weight.size(), 0);
    net_.gain_gradient.assign(net_.gains.size(), 0);
    const uint16_t* text = a_.token + random_.below(trained_ - count);
    Floats logits = net_.forward(text, count);
    double loss = 0;
    for (int64_t i = 0; i < count; ++i) {
      float* row = logits.data() + i * a_.model.vocab;
      loss += soften(row, a_.model.vocab, text[i + 1]);
      row[text[i + 1]] -= 1;
      for (int64_t v = 0; v < a_.model.vocab; ++v) row[v] /= static_cast<float>(count);
    }
    net_.backward(text, logits);
    const double way = limits_.way();
    const auto rate = static_cast<float>(4e-3 * std::min(std::max(0.0, 1 - way), 20 * way + 0.05));
    limits_.tokens += count;
    limits_.loss = loss / static_cast<double>(count);
    ++limits_.steps;
    for (size_t i = 0; i < latents_.size(); ++i)
      latents_[i].update(net_.matrices[i].gradient, rate, limits_.steps);
    gains_.update(net_.gain_gradient, rate, limits_.steps);
    quantise();
    limits_.report_sometimes();
  }

  double likelihood(const uint16_t* text, int64_t count) {
    double sum = 0;
    for (int64_t at = 0; at < count - 1; at += a_.model.context) {
      const int64_t length = std::min(a_.model.context, count - 1 - at);
      Floats logits = net_.forward(text + at, length);
      for (int64_t i = 0; i < length; ++i)
        sum += soften(logits.data() + i * a_.model.vocab, a_.model.vocab, text[at + i + 1]);
      limits_.report_sometimes();
    }
    return sum / static_cast<double>(count - 1);
  }

  const TernaryTrainArgs& a_;
  Limits limits_;
  Network net_;
  Random random_;
  std::vector<Adam> latents_;
  Adam gains_;
  const int64_t trained_ = end_of_training_text(a_);  // tokens from the first on
};

bool bad_linear(int64_t rows, int64_t columns, int64_t group, int64_t threads) {
  return rows < 1 || threads < 1 || bad_group(group, columns);
}

}  // namespace

extern "C" int64_t ternary_train(const TernaryTrainArgs* args) {
  if (const int64_t status = judge(*args); status != TERNARY_OK) return status;
  Trainer(*args).run();
  return TERNARY_OK;
}

extern "C" int64_t ternary_quantize(const TernaryQuantizeArgs* args) {
  if (unsupported(*args)) return TERNARY_UNSUPPORTED;
  if (bad_linear(args->rows, args->columns, args->group, args->num_threads))
    return TERNARY_BAD_ARGUMENT;
  Matrix matrix({args->rows, args->columns});
  if (!matrix.quantise(args->weight, args->group)) return TERNARY_BAD_ARGUMENT;
  pack_codes(matrix.packed.trits, args->codes);
  std::copy(matrix.packed.scales.begin(), matrix.packed.scales.end(), args->scales);
  return TERNARY_OK;
}

extern "C" int64_t ternary_linear_gradient(const TernaryLinearGradientArgs* args) {
  if (unsupported(*args)) return TERNARY_UNSUPPORTED;
  if (bad_linear(args->rows, args->columns, args->group, args->num_threads) || args->count < 1)
    return TERNARY_BAD_ARGUMENT;
  Matrix matrix({args->rows, args->columns});
  if (!matrix.quantise(args->weight, args->group)) return TERNARY_BAD_ARGUMENT;
  std::fill_n(args->input_gradient, args->count * args->columns, 0.0f);
  std::fill_n(args->weight_gradient, args->rows * args->columns, 0.0f);
  multiply(matrix, args->x, args->count, args->y);
  multiply_back(matrix, args->x, args->output_gradient, args->count, args->input_gradient,
                args->weight_gradient);
  return TERNARY_OK;
}

extern "C" int64_t ternary_forward(const TernaryForwardArgs* args) {
  if (unsupported(*args)) return TERNARY_UNSUPPORTED;
  const auto read = unpack(args->checkpoint, args->checkpoint_bytes);
  if (!read || args->num_threads < 1) return TERNARY_BAD_ARGUMENT;
  if (args->num_tokens < 1 || args->num_tokens > read->model.context ||
      bad_tokens(args->token, args->num_tokens, read->model.vocab))
    return TERNARY_BAD_ARGUMENT;
  Network net(read->model);
  net.gains = read->gains;
  for (size_t i = 0; i < net.matrices.size(); ++i) {
    net.matrices[i].packed = read->matrices[i];
    net.matrices[i].unfold(read->model.group);
  }
  const Floats logits = net.forward(args->token, args->num_tokens);
  std::copy(logits.begin(), logits.end(), args->logits);
  return TERNARY_OK;
}
