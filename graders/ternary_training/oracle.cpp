// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <algorithm>
#include <cmath>

#include "half.h"
#include "quantizer.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr double kRoundoff = 0x1p-24;

/// What remains of a sum whose terms underflow.
constexpr double kSmallest = 0x1p-126;

Sums no_sums(std::int64_t count, std::int64_t terms) {
  const auto size = static_cast<std::size_t>(count);
  return {std::vector<double>(size), std::vector<double>(size), terms};
}

/// What is added to some of these sums, one after the other.
struct Places {
  Places(Sums& sums, std::int64_t from)
      : value(sums.value.data() + from), size(sums.size.data() + from) {}

  void add(std::int64_t at, double term) {
    value[at] += term;
    size[at] += std::abs(term);
  }

  double *value, *size;
};

using Vector = std::vector<double>;
using Vectors = std::vector<Vector>;  // one for every position

/// A matrix as float64 in row order: TernaryMatrix::weight is too slow for inner loops.
class Dense {
 public:
  explicit Dense(const TernaryMatrix& matrix) : rows_(matrix.rows), columns_(matrix.columns) {
    const auto group = static_cast<std::size_t>(matrix.group());
    weight_.reserve(matrix.codes.size());
    for (const std::int8_t code : matrix.codes)
      weight_.push_back(code * half_value(matrix.scales[weight_.size() / group]));
  }

  Vector times(const Vector& x) const {
    Vector y;
    for (std::int64_t r = 0; r < rows_; ++r) {
      const double* row = weight_.data() + r * columns_;
      double sum[4] = {};  // a group's size, and so that of a row, is a multiple of 4
      for (std::int64_t c = 0; c < columns_; c += 4)
        for (std::int64_t k = 0; k < 4; ++k)
          sum[k] += row[c + k] * x[static_cast<std::size_t>(c + k)];
      y.push_back(sum[0] + sum[1] + (sum[2] + sum[3]));
    }
    return y;
  }

  /// The sum of the sizes of what `times` adds.
  double size_of_terms(std::int64_t r, const Vector& x) const {
    double sum = 0;
    for (std::int64_t c = 0; c < columns_; ++c)
      sum += std::abs((*this)(r, c) * x[static_cast<std::size_t>(c)]);
    return sum;
  }

  Vector row(std::int64_t r) const {
    return {weight_.begin() + r * columns_, weight_.begin() + (r + 1) * columns_};
  }

  const double* begin_of(std::int64_t r) const { return weight_.data() + r * columns_; }

  double operator()(std::int64_t r, std::int64_t c) const {
    return weight_[static_cast<std::size_t>(r * columns_ + c)];
  }

  /// Lengths of the rows.
  Vector lengths() const {
    Vector lengths;
    for (std::int64_t r = 0; r < rows_; ++r) {
      double squares = 0;
      for (const double w : row(r)) squares += w * w;
      lengths.push_back(std::sqrt(squares));
    }
    return lengths;
  }

 private:
  std::int64_t rows_;
  std::int64_t columns_;
  Vector weight_;
};

double length_of(const Vector& x) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  return std::sqrt(squares);
}

Vector normed(const Vector& x, std::span<const float> gain) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  const double root =
      std::sqrt(squares / static_cast<double>(x.size()) + double{TERNARY_NORM_EPSILON});
  Vector y;
  for (std::size_t i = 0; i < x.size(); ++i) y.push_back(x[i] / root * double{gain[i]});
  return y;
}

/// Rotates every head of a vector at position p.
void rotate(Vector& x, std::size_t heads, std::size_t p) {
  const std::size_t size = x.size() / heads;
  for (std::size_t head = 0; head < heads; ++head)
    for (std::size_t i = 0; i < size / 2; ++i) {
      const double angle = static_cast<double>(p) *
                           std::pow(double{TERNARY_ROPE_BASE},
                                    -2.0 * static_cast<double>(i) / static_cast<double>(size));
      double& first = x[head * size + i];
      double& second = x[head * size + i + size / 2];
      const double turned = first * std::cos(angle) - second * std::sin(angle);
      second = second * std::cos(angle) + first * std::sin(angle);
      first = turned;
    }
}

class Model {
 public:
  /// With `noise` every sum is off by a share of a float32 rounding of its terms, or of several
  /// where its terms may be thousands.
  explicit Model(const Checkpoint& checkpoint, Rng* noise = nullptr)
      : checkpoint_(checkpoint), noise_(noise) {
    for (const TernaryMatrix& matrix : checkpoint.matrices) matrices_.emplace_back(matrix);
  }

  ExpectedLogits logits(std::span<const std::uint16_t> token) {
    Vectors x;
    for (const std::uint16_t id : token) x.push_back(matrices_.front().row(id));
    for (std::int64_t layer = 0; layer < checkpoint_.model.layers; ++layer) {
      attention(x, layer);
      feed_forward(x, layer);
    }
    const Dense& head = matrices_.back();
    const Vector lengths = head.lengths();
    ExpectedLogits wanted;
    for (const Vector& position : x) {
      const Vector h = normed(position, checkpoint_.gain(2 * checkpoint_.model.layers));
      const Vector y = product(head, h);
      wanted.logits.insert(wanted.logits.end(), y.begin(), y.end());
      for (const double length : lengths) wanted.allowed.push_back(length * length_of(h));
    }
    for (double& allowed : wanted.allowed) allowed = allowed * share() + 1e-30;
    return wanted;
  }

 private:
  const Dense& matrix(std::int64_t layer, LayerTensor which) const {
    return matrices_[first_of(layer) + which];
  }

  double rounded(double value, double size) const {
    return noise_ == nullptr ? value : value + noise_->uniform(-1, 1) * kRoundoff * size;
  }

  Vector product(const Dense& matrix, const Vector& x) const {
    Vector y = matrix.times(x);
    if (noise_ != nullptr)
      for (std::size_t r = 0; r < y.size(); ++r)
        y[r] = rounded(y[r], matrix.size_of_terms(static_cast<std::int64_t>(r), x));
    return y;
  }

  void add_to(Vector& x, const Vector& y) const {
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = rounded(x[i] + y[i], std::abs(x[i]) + std::abs(y[i]));
  }

  void attention(Vectors& x, std::int64_t layer) {
    const auto heads = static_cast<std::size_t>(checkpoint_.model.heads);
    Vectors q, k, v;
    for (std::size_t p = 0; p < x.size(); ++p) {
      const Vector h = normed(x[p], checkpoint_.gain(2 * layer));
      q.push_back(product(matrix(layer, kQuery), h));
      k.push_back(product(matrix(layer, kKey), h));
      v.push_back(product(matrix(layer, kValue), h));
      rotate(q.back(), heads, p);
      rotate(k.back(), heads, p);
    }
    const std::size_t size = x[0].size() / heads;
    for (std::size_t p = 0; p < x.size(); ++p) {
      Vector mixed(x[p].size());
      for (std::size_t head = 0; head < heads; ++head) mix(q[p], k, v, p, head * size, size, mixed);
      add_to(x[p], product(matrix(layer, kOut), mixed));
    }
  }

  /// One head's mean of the values up to position p, by the softmax of its scores.
  void mix(const Vector& q, const Vectors& k, const Vectors& v, std::size_t p, std::size_t at,
           std::size_t size, Vector& mixed) {
    Vector score;
    for (std::size_t s = 0; s <= p; ++s) {
      double sum = 0;
      double terms = 0;
      for (std::size_t i = at; i < at + size; ++i) {
        sum += q[i] * k[s][i];
        terms += std::abs(q[i] * k[s][i]);
      }
      score.push_back(rounded(sum, terms) / std::sqrt(static_cast<double>(size)));
      largest_score_ = std::max(largest_score_, std::abs(score.back()));
    }
    const double top = *std::max_element(score.begin(), score.end());
    double total = 0;
    for (double& value : score) total += value = std::exp(value - top);
    // Sums over all positions before it: float32 is off by about the root of their number roundings
    // (Higham and Mary, A new approach to probabilistic rounding error analysis, 2019).
    const double roundings = std::sqrt(static_cast<double>(p + 1));
    total = rounded(total, roundings * total);
    Vector sums(size), sizes(size);
    for (std::size_t s = 0; s <= p; ++s)
      for (std::size_t i = 0; i < size; ++i) {
        sums[i] += score[s] * v[s][at + i];
        sizes[i] += score[s] * std::abs(v[s][at + i]);
      }
    for (std::size_t i = 0; i < size; ++i)
      mixed[at + i] = rounded(sums[i], roundings * sizes[i]) / total;
  }

  void feed_forward(Vectors& x, std::int64_t layer) const {
    for (Vector& position : x) {
      const Vector h = normed(position, checkpoint_.gain(2 * layer + 1));
      Vector gate = product(matrix(layer, kGate), h);
      const Vector up = product(matrix(layer, kUp), h);
      for (std::size_t i = 0; i < gate.size(); ++i) gate[i] *= up[i] / (1 + std::exp(-gate[i]));
      add_to(position, product(matrix(layer, kDown), gate));
    }
  }

  /// What a float32 run may be off by, as a share of |row of the head| |x before it|: errors of a
  /// few roundings a layer, carried along in x, and those of a score multiplied by its size when it
  /// becomes a weight. Of this, float32 runs of our own (sums forward, backward, in blocks;
  /// rotation by float angles) use up to 8 % (network_test.cpp); arithmetic in bf16 needs 30 times
  /// of it.
  double share() const {
    return 0x1p-24 * 16 * (static_cast<double>(checkpoint_.model.layers) + 1) *
           (1 + largest_score_ / 4);
  }

  const Checkpoint& checkpoint_;
  Rng* noise_;
  std::vector<Dense> matrices_;
  double largest_score_ = 0;
};

}  // namespace

std::vector<double> Sums::allowed() const {
  std::vector<double> allowed;
  for (const double sum : size)
    allowed.push_back(static_cast<double>(terms + 3) * kRoundoff * sum + kSmallest);
  return allowed;
}

ExpectedLinear expect(const LinearProblem& problem) {
  const auto& [rows, columns, group, count, weight, x, output_gradient] = problem;
  const Dense matrix(quantized(weight, rows, columns, group));
  ExpectedLinear answer{no_sums(count * rows, columns), no_sums(count * columns, rows),
                        no_sums(rows * columns, count)};
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t r = 0; r < rows; ++r) {
      const double dy = output_gradient[static_cast<std::size_t>(i * rows + r)];
      const float* const inputs = x.data() + i * columns;
      const double* const row = matrix.begin_of(r);
      Places y(answer.y, i * rows + r);
      Places to_input(answer.input_gradient, i * columns);
      Places to_weight(answer.weight_gradient, r * columns);
      for (std::int64_t c = 0; c < columns; ++c) y.add(0, row[c] * double{inputs[c]});
      for (std::int64_t c = 0; c < columns; ++c) to_input.add(c, row[c] * dy);
      for (std::int64_t c = 0; c < columns; ++c) to_weight.add(c, dy * double{inputs[c]});
    }
  return answer;
}

ExpectedLogits expect(const Checkpoint& checkpoint, std::span<const std::uint16_t> token) {
  return Model(checkpoint).logits(token);
}

std::vector<double> allowed_where_cancelled(const Checkpoint& checkpoint,
                                            std::span<const std::uint16_t> token,
                                            const ExpectedLogits& want) {
  // Of eight runs that are off by a rounding a sum; a solution may be off by several.
  constexpr int kRuns = 8;
  constexpr double kRoundings = 8;
  Rng noise(1);
  const Dense head(checkpoint.matrices.back());
  const Vector lengths = head.lengths();
  std::vector<double> allowed = want.allowed;
  for (int run = 0; run < kRuns; ++run) {
    const ExpectedLogits other = Model(checkpoint, &noise).logits(token);
    for (std::size_t at = 0; at < allowed.size(); at += lengths.size()) {
      double spread = 0;  // of a position, as a share of a row's length
      for (std::size_t v = 0; v < lengths.size(); ++v)
        if (lengths[v] > 0)
          spread =
              std::max(spread, std::abs(other.logits[at + v] - want.logits[at + v]) / lengths[v]);
      for (std::size_t v = 0; v < lengths.size(); ++v)
        allowed[at + v] = std::max(allowed[at + v], kRoundings * spread * lengths[v]);
    }
  }
  return allowed;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
