// SPDX-License-Identifier: Apache-2.0
#include "dense.h"

#include <cmath>
#include <limits>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

void clear_missing_keys(Matrix& keys, const kit::KeyRange& existing) {
  for (std::int64_t j = 0; j < keys.rows(); ++j)
    if (j < existing.first || j >= existing.last) keys.row(j).setZero();
}

}  // namespace

Matrix head_matrix(std::span<const float> array, std::int64_t index, std::int64_t rows,
                   std::int64_t columns) {
  using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const Floats>(array.data() + index * rows * columns, rows, columns)
      .cast<double>();
}

Head::Head(const Problem& problem, std::int64_t batch, std::int64_t q_head) : batch(batch) {
  const kit::AttentionProblem& form = problem.form;
  const std::int64_t kv = batch * form.kv_heads + form.kv_head(q_head);
  q = head_matrix(problem.q.data, batch * form.q_heads + q_head, form.q_len, form.dim);
  k = head_matrix(problem.k.data, kv, form.k_len, form.dim);
  v = head_matrix(problem.v.data, kv, form.k_len, form.value_dim);
  clear_missing_keys(k, form.existing_keys(batch));
  clear_missing_keys(v, form.existing_keys(batch));
}

HeadForward attend_head(const kit::AttentionProblem& form, const Head& head) {
  Matrix p = form.scale * head.q * head.k.transpose();
  if (form.softcap > 0) p = form.softcap * (p.array() / form.softcap).tanh();
  Column lse = Column::Constant(form.q_len, -std::numeric_limits<double>::infinity());
  for (std::int64_t i = 0; i < form.q_len; ++i) {
    const kit::KeyRange keys = form.visible_keys(head.batch, i);
    auto row = p.row(i);
    if (keys.empty()) {
      row.setZero();
      continue;
    }
    row.head(keys.first).setZero();
    row.tail(form.k_len - keys.last).setZero();
    auto seen = row.segment(keys.first, keys.size()).array();
    const double largest = seen.maxCoeff();
    seen = (seen - largest).exp();
    const double sum = seen.sum();
    seen /= sum;
    lse(i) = largest + std::log(sum);
  }
  return {p * head.v, lse};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
