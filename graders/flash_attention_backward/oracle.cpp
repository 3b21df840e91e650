// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <cmath>

#include "dense.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using Row = Eigen::Array<double, 1, Eigen::Dynamic>;

/// The slope of softcap tanh(x / softcap), for z = |x| / softcap.
Row slope_at(const Row& z) {
  return z.cosh().square().inverse();
}

/// T of the contract, for z = |x| / softcap and terms = |scale| |q.k| / softcap. A float32 dot
/// product is off by some u of the sizes of its terms, and z by some u of `terms`. Where terms
/// cancel and the cap is small, that is more than M forgives, and so much that a derivative would
/// not tell what becomes of the slope. The slope falls in z: of all that z may be, it differs most
/// at one of the ends. What rounding tanh and its square adds is absolute, some u, and stands in M.
Row slope_bound(const Row& z, const Row& terms) {
  const Row moved = kRoundings * terms;
  const Row slope = slope_at(z);
  return (slope_at((z - moved).max(0.0)) - slope).max(slope - slope_at(z + moved)) / kRoundings;
}

/// What one query head adds: the contract's formulas, written down as they stand there, with the
/// whole matrix of scores in memory.
class HeadBackward {
 public:
  HeadBackward(const Problem& problem, std::int64_t batch, std::int64_t q_head)
      : form_(problem.form), head_(problem, batch, q_head), batch_(batch) {
    const std::int64_t index = batch * form_.q_heads + q_head;
    dout_ = head_matrix(problem.dout.data, index, form_.q_len, form_.value_dim);
    const Matrix o = head_matrix(problem.o.data, index, form_.q_len, form_.value_dim);
    lse_ = head_matrix(problem.lse, index, form_.q_len, 1);
    delta_ = dout_.cwiseProduct(o).rowwise().sum();
    delta_bound_ = dout_.cwiseProduct(o).cwiseAbs().rowwise().sum();
    if (!problem.dlse.empty()) {
      const Column dlse = head_matrix(problem.dlse, index, form_.q_len, 1);
      delta_ -= dlse;
      delta_bound_ += dlse.cwiseAbs();
    }
    weigh();
    differentiate();
  }

  /// Adds to dk and dv, which the heads of a group share; sets dq and delta, which are its own.
  void write(Results<double>& value, Results<double>& bound, std::int64_t q_head) const {
    const std::int64_t own = batch_ * form_.q_heads + q_head;
    const std::int64_t shared = batch_ * form_.kv_heads + form_.kv_head(q_head);
    const Matrix k_size = head_.k.cwiseAbs();
    const Matrix q_size = head_.q.cwiseAbs();
    at(value.dq, own, form_.q_len, form_.dim) = dx_ * head_.k;
    at(bound.dq, own, form_.q_len, form_.dim) = dx_bound_ * k_size;
    at(value.dk, shared, form_.k_len, form_.dim) += dx_.transpose() * head_.q;
    at(bound.dk, shared, form_.k_len, form_.dim) += dx_bound_.transpose() * q_size;
    at(value.dv, shared, form_.k_len, form_.value_dim) += p_.transpose() * dout_;
    at(bound.dv, shared, form_.k_len, form_.value_dim) += p_bound_.transpose() * dout_.cwiseAbs();
    at(value.delta, own, form_.q_len, 1) = delta_;
    at(bound.delta, own, form_.q_len, 1) = delta_bound_;
  }

 private:
  static Eigen::Map<Matrix> at(std::vector<double>& array, std::int64_t index, std::int64_t rows,
                               std::int64_t columns) {
    return {array.data() + index * rows * columns, rows, columns};
  }

  /// P, the slope of the score in x, and their bounds: W, and what T adds to it in that of dx.
  void weigh() {
    const Matrix x = form_.scale * head_.q * head_.k.transpose();
    const Matrix size = std::abs(form_.scale) * head_.q.cwiseAbs() * head_.k.cwiseAbs().transpose();
    p_ = Matrix::Zero(form_.q_len, form_.k_len);
    p_bound_ = p_;
    slope_ = p_;
    slope_bound_ = p_;
    for (std::int64_t i = 0; i < form_.q_len; ++i) {
      const kit::KeyRange keys = form_.visible_keys(batch_, i);
      if (keys.empty() || std::isinf(lse_(i))) continue;
      const auto seen = [&](auto&& matrix) {
        return matrix.row(i).segment(keys.first, keys.size());
      };
      const double condition = 1 + std::abs(lse_(i)) + form_.softcap + seen(size).maxCoeff();
      if (form_.softcap > 0) {
        const Row z = seen(x).array().abs() / form_.softcap;
        const Row s = form_.softcap * (seen(x).array() / form_.softcap).tanh();
        seen(p_) = (s - lse_(i)).exp();
        seen(slope_) = slope_at(z);
        seen(slope_bound_) =
            slope_bound(z, seen(size).array() / form_.softcap) * (seen(p_).array() + kUnderflow);
      } else {
        seen(p_) = (seen(x).array() - lse_(i)).exp();
        seen(slope_).setOnes();
      }
      seen(p_bound_) = condition * (seen(p_).array() + kUnderflow);
    }
  }

  /// scale * dx and A.
  void differentiate() {
    const Matrix dp = dout_ * head_.v.transpose();
    const Matrix dp_bound = dout_.cwiseAbs() * head_.v.cwiseAbs().transpose();
    dx_ = form_.scale * p_.array() * slope_.array() * (dp.colwise() - delta_).array();
    dx_bound_ = std::abs(form_.scale) * (p_bound_ + slope_bound_).array() *
                (dp_bound.colwise() + delta_bound_).array();
  }

  const kit::AttentionProblem& form_;
  Head head_;
  std::int64_t batch_;
  Matrix dout_;
  Column lse_, delta_, delta_bound_;
  Matrix p_, p_bound_, slope_, slope_bound_, dx_, dx_bound_;
};

Results<double> zeros_for(const Problem& problem) {
  const auto zeros = [](std::size_t count) { return std::vector<double>(count, 0.0); };
  return {zeros(problem.q.data.size()), zeros(problem.k.data.size()), zeros(problem.v.data.size()),
          zeros(problem.lse.size())};
}

}  // namespace

Expected expect(const Problem& problem) {
  Expected expected{zeros_for(problem), zeros_for(problem)};
  for (std::int64_t batch = 0; batch < problem.form.batch; ++batch)
    for (std::int64_t head = 0; head < problem.form.q_heads; ++head)
      HeadBackward(problem, batch, head).write(expected.value, expected.bound, head);
  return expected;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
