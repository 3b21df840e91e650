#include "problem.h"

#include <cmath>
#include <limits>
#include <span>

#include "dense.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

std::vector<float> normals(Rng& rng, std::int64_t count, double deviation = 1) {
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) number = static_cast<float>(deviation * rng.normal());
  return numbers;
}

float* row_of(std::vector<float>& array, std::int64_t row, std::int64_t columns) {
  return array.data() + row * columns;
}

void clear_missing_keys(Matrix& keys, const kit::KeyRange& existing) {
  for (std::int64_t j = 0; j < keys.rows(); ++j)
    if (j < existing.first || j >= existing.last) keys.row(j).setZero();
}

}  // namespace

float* Problem::q_row(std::int64_t batch, std::int64_t head, std::int64_t i) {
  return row_of(q, (batch * form.q_heads + head) * form.q_len + i, form.dim);
}
float* Problem::k_row(std::int64_t batch, std::int64_t head, std::int64_t j) {
  return row_of(k, (batch * form.kv_heads + head) * form.k_len + j, form.dim);
}
float* Problem::v_row(std::int64_t batch, std::int64_t head, std::int64_t j) {
  return row_of(v, (batch * form.kv_heads + head) * form.k_len + j, form.value_dim);
}
float* Problem::dout_row(std::int64_t batch, std::int64_t head, std::int64_t i) {
  return row_of(dout, (batch * form.q_heads + head) * form.q_len + i, form.value_dim);
}

Problem random_problem(Rng& rng, const Sizes& sizes, double score_deviation) {
  Problem problem;
  kit::AttentionProblem& form = problem.form;
  form.batch = sizes.batch;
  form.q_heads = sizes.q_heads;
  form.kv_heads = sizes.kv_heads;
  form.q_len = sizes.q_len;
  form.k_len = sizes.k_len;
  form.dim = sizes.dim;
  form.value_dim = sizes.value_dim;
  // Seldom 1 / sqrt(dim) itself. A float, as in the contract: the oracle must use the same number.
  const double factor = rng.uniform(0.6, 1.5);
  form.scale = static_cast<float>(factor / std::sqrt(static_cast<double>(sizes.dim)));
  problem.q = normals(rng, problem.q_rows() * form.dim, score_deviation / factor);
  problem.k = normals(rng, problem.k_rows() * form.dim);
  problem.v = normals(rng, problem.k_rows() * form.value_dim);
  problem.dout = normals(rng, problem.q_rows() * form.value_dim);
  return problem;
}

Matrix head_matrix(const std::vector<float>& array, std::int64_t index, std::int64_t rows,
                   std::int64_t columns) {
  using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const Floats>(array.data() + index * rows * columns, rows, columns)
      .cast<double>();
}

Head::Head(const Problem& problem, std::int64_t batch, std::int64_t q_head) : batch(batch) {
  const kit::AttentionProblem& form = problem.form;
  const std::int64_t kv = batch * form.kv_heads + form.kv_head(q_head);
  q = head_matrix(problem.q, batch * form.q_heads + q_head, form.q_len, form.dim);
  k = head_matrix(problem.k, kv, form.k_len, form.dim);
  v = head_matrix(problem.v, kv, form.k_len, form.value_dim);
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

void attend(Problem& problem) {
  problem.o.clear();
  problem.lse.clear();
  const auto append = [](std::vector<float>& to, const auto& from) {
    for (const double number : std::span(from.data(), static_cast<std::size_t>(from.size())))
      to.push_back(static_cast<float>(number));
  };
  for (std::int64_t batch = 0; batch < problem.form.batch; ++batch)
    for (std::int64_t head = 0; head < problem.form.q_heads; ++head) {
      const HeadForward forward = attend_head(problem.form, Head(problem, batch, head));
      append(problem.o, forward.o);
      append(problem.lse, forward.lse);
    }
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
