// SPDX-License-Identifier: Apache-2.0
#include "network.h"

#include <algorithm>
#include <cmath>

// GCC 12 takes a placeholder in its own AVX-512 header for a variable (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <Eigen/Core>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include "half.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Weights = Eigen::Map<const Matrix>;

std::vector<float> unpacked(const TernaryMatrix& matrix) {
  std::vector<float> weights(matrix.codes.size());
  const auto group = static_cast<std::size_t>(matrix.group());
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<float>(matrix.codes[i] * half_value(matrix.scales[i / group]));
  return weights;
}

}  // namespace

class Network::Pass {
 public:
  Pass(const Network& network, std::span<const std::uint16_t> window)
      : network_(network), model_(network.model_), x_(std::ssize(window), model_.width) {
    const Weights table = tensor(0, model_.vocab, model_.width);
    for (std::int64_t p = 0; p < x_.rows(); ++p)
      x_.row(p) = table.row(window[static_cast<std::size_t>(p)]);
    for (std::int64_t layer = 0; layer < model_.layers; ++layer) {
      attention(layer);
      feed_forward(layer);
    }
  }

  std::vector<float> logits(std::int64_t first) const {
    const Matrix last = normed(x_.bottomRows(x_.rows() - first), 2 * model_.layers);
    std::vector<float> logits(static_cast<std::size_t>(last.rows() * model_.vocab));
    Eigen::Map<Matrix>(logits.data(), last.rows(), model_.vocab) =
        last * tensor(network_.matrices_.size() - 1, model_.vocab, model_.width).transpose();
    return logits;
  }

 private:
  Weights tensor(std::size_t index, std::int64_t rows, std::int64_t columns) const {
    return {network_.matrices_[index].data(), rows, columns};
  }
  Weights matrix(std::int64_t layer, LayerTensor which) const {
    const std::int64_t rows = which == kGate || which == kUp ? model_.hidden : model_.width;
    return tensor(first_of(layer) + which, rows, which == kDown ? model_.hidden : model_.width);
  }

  Matrix normed(const Matrix& x, std::int64_t index) const {
    const Eigen::Map<const Eigen::RowVectorXf> gain(network_.gains_.data() + index * x.cols(),
                                                    x.cols());
    Matrix y = x;
    for (std::int64_t p = 0; p < x.rows(); ++p) {
      const float mean = x.row(p).squaredNorm() / static_cast<float>(x.cols());
      y.row(p) = (x.row(p) / std::sqrt(mean + TERNARY_NORM_EPSILON)).cwiseProduct(gain);
    }
    return y;
  }

  void rotate(Matrix& x) const {
    const std::int64_t size = model_.width / model_.heads;
    const std::int64_t half = size / 2;
    const auto cosine = Weights(network_.cosine_.data(), x.rows(), half).array();
    const auto sine = Weights(network_.sine_.data(), x.rows(), half).array();
    for (std::int64_t head = 0; head < model_.heads; ++head) {
      const Matrix first = x.middleCols(head * size, half);
      const Matrix second = x.middleCols(head * size + half, half);
      x.middleCols(head * size, half) = first.array() * cosine - second.array() * sine;
      x.middleCols(head * size + half, half) = second.array() * cosine + first.array() * sine;
    }
  }

  void attention(std::int64_t layer) {
    const Matrix h = normed(x_, 2 * layer);
    Matrix q = h * matrix(layer, kQuery).transpose();
    Matrix k = h * matrix(layer, kKey).transpose();
    const Matrix v = h * matrix(layer, kValue).transpose();
    rotate(q);
    rotate(k);
    const std::int64_t size = model_.width / model_.heads;
    Matrix mixed(x_.rows(), x_.cols());
    for (std::int64_t head = 0; head < model_.heads; ++head) {
      const auto part = [&](const Matrix& all) { return all.middleCols(head * size, size); };
      Matrix weight = part(q) * part(k).transpose() / std::sqrt(static_cast<float>(size));
      for (std::int64_t p = 0; p < x_.rows(); ++p) softmax_prefix(weight.row(p), p + 1);
      mixed.middleCols(head * size, size) = weight * part(v);
    }
    x_ += mixed * matrix(layer, kOut).transpose();
  }

  /// Softmax of the first entries of a row; the others become zero.
  static void softmax_prefix(Matrix::RowXpr row, std::int64_t count) {
    const float top = *std::max_element(row.begin(), row.begin() + count);
    row.head(count) = (row.head(count).array() - top).exp();
    row.tail(row.size() - count).setZero();
    row /= row.head(count).sum();
  }

  void feed_forward(std::int64_t layer) {
    const Matrix h = normed(x_, 2 * layer + 1);
    const Matrix gate = h * matrix(layer, kGate).transpose();
    const Matrix up = h * matrix(layer, kUp).transpose();
    const Matrix through = gate.array() * up.array() / (1 + (-gate.array()).exp());
    x_ += through * matrix(layer, kDown).transpose();
  }

  const Network& network_;
  const TernaryModel& model_;
  Matrix x_;
};

Network::Network(const Checkpoint& checkpoint)
    : model_(checkpoint.model), gains_(checkpoint.gains) {
  for (const TernaryMatrix& matrix : checkpoint.matrices) matrices_.push_back(unpacked(matrix));
  const std::int64_t half = model_.width / model_.heads / 2;
  for (std::int64_t p = 0; p < model_.context; ++p)
    for (std::int64_t i = 0; i < half; ++i) {
      const double angle =
          static_cast<double>(p) *
          std::pow(double{TERNARY_ROPE_BASE}, -static_cast<double>(i) / static_cast<double>(half));
      cosine_.push_back(static_cast<float>(std::cos(angle)));
      sine_.push_back(static_cast<float>(std::sin(angle)));
    }
}

std::vector<float> Network::logits(std::span<const std::uint16_t> window,
                                   std::int64_t first) const {
  return Pass(*this, window).logits(first);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
