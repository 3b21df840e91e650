#include "samples.h"

#include <fmt/format.h>

#include "graders/kit/compare.h"
#include "tolerance.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

struct Range {
  std::int64_t first, last;

  std::int64_t size() const { return last - first; }
};

/// The queries that see one key: neighbours, because masks move by one key a query.
Range queries_of(const kit::AttentionProblem& form, std::int64_t batch, std::int64_t key) {
  Range range{form.q_len, 0};
  for (std::int64_t i = 0; i < form.q_len; ++i) {
    const kit::KeyRange keys = form.visible_keys(batch, i);
    if (key < keys.first || key >= keys.last) continue;
    range.first = std::min(range.first, i);
    range.last = i + 1;
  }
  return range.last == 0 ? Range{0, 0} : range;
}

void append_rows(std::vector<float>& to, const std::vector<float>& from, std::int64_t head,
                 std::int64_t rows_of_head, const Range& rows, std::int64_t columns) {
  const auto begin = from.begin() + (head * rows_of_head + rows.first) * columns;
  to.insert(to.end(), begin, begin + rows.size() * columns);
}

/// Some queries of some heads and the keys that all of them see, as a problem without a mask.
Problem block_of(const Problem& whole, std::int64_t batch, const Range& q_heads,
                 const Range& queries, const Range& keys) {
  const kit::AttentionProblem& form = whole.form;
  Problem block;
  block.form.scale = form.scale;
  block.form.softcap = form.softcap;
  block.form.dim = form.dim;
  block.form.value_dim = form.value_dim;
  block.form.q_heads = q_heads.size();
  block.form.q_len = queries.size();
  block.form.k_len = keys.size();
  for (std::int64_t h = q_heads.first; h < q_heads.last; ++h) {
    const std::int64_t head = batch * form.q_heads + h;
    append_rows(block.q, whole.q, head, form.q_len, queries, form.dim);
    append_rows(block.o, whole.o, head, form.q_len, queries, form.value_dim);
    append_rows(block.dout, whole.dout, head, form.q_len, queries, form.value_dim);
    append_rows(block.lse, whole.lse, head, form.q_len, queries, 1);
  }
  const std::int64_t head = batch * form.kv_heads + form.kv_head(q_heads.first);
  append_rows(block.k, whole.k, head, form.k_len, keys, form.dim);
  append_rows(block.v, whole.v, head, form.k_len, keys, form.value_dim);
  return block;
}

std::optional<Miss> row_miss(const char* name, const std::vector<float>& got, std::int64_t row,
                             const std::vector<double>& want, std::vector<double> bound) {
  const auto columns = want.size();
  for (double& allowed : bound)
    allowed = allowed > 0 ? kRoundings * kUnit * allowed + kSmallest : 0;
  return kit::worst_miss(
      std::span(got).subspan(static_cast<std::size_t>(row) * columns, columns), want, bound,
      kit::index_namer(fmt::format("{} row {}", name, row), {static_cast<std::int64_t>(columns)}));
}

std::optional<Miss> query_miss(const Problem& problem, const Answer& got, Rng& rng) {
  const kit::AttentionProblem& form = problem.form;
  const std::int64_t batch = rng.integer(0, form.batch - 1);
  const std::int64_t head = rng.integer(0, form.q_heads - 1);
  const std::int64_t i = rng.integer(0, form.q_len - 1);
  const kit::KeyRange keys = form.visible_keys(batch, i);
  const Expected expected =
      expected_of(block_of(problem, batch, {head, head + 1}, {i, i + 1}, {keys.first, keys.last}));
  return row_miss("dq", got.dq, (batch * form.q_heads + head) * form.q_len + i, expected.value.dq,
                  expected.bound.dq);
}

std::optional<Miss> key_miss(const Problem& problem, const Answer& got, Rng& rng) {
  const kit::AttentionProblem& form = problem.form;
  const std::int64_t batch = rng.integer(0, form.batch - 1);
  const std::int64_t head = rng.integer(0, form.kv_heads - 1);
  const std::int64_t j = rng.integer(0, form.k_len - 1);
  const std::int64_t group = form.q_heads / form.kv_heads;
  const Expected expected = expected_of(block_of(problem, batch, {head * group, (head + 1) * group},
                                                 queries_of(form, batch, j), {j, j + 1}));
  const std::int64_t row = (batch * form.kv_heads + head) * form.k_len + j;
  const auto miss = row_miss("dk", got.dk, row, expected.value.dk, expected.bound.dk);
  return miss ? miss : row_miss("dv", got.dv, row, expected.value.dv, expected.bound.dv);
}

}  // namespace

std::optional<Miss> sampled_miss(const Problem& problem, const Answer& got, Rng& rng, int rows) {
  for (int n = 0; n < rows; ++n) {
    if (const auto miss = query_miss(problem, got, rng)) return miss;
    if (const auto miss = key_miss(problem, got, rng)) return miss;
  }
  return std::nullopt;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
