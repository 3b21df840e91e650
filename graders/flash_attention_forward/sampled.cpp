#include "sampled.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "graders/kit/compare.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Which row of the dense answer is which.
struct RowName {
  RowName(const Sizes& sizes, std::int64_t row)
      : entry(row / sizes.q_len / sizes.q_heads),
        head(row / sizes.q_len % sizes.q_heads),
        query(row % sizes.q_len) {}
  std::string of(const char* tensor) const {
    return fmt::format("{}[{}][{}][{}]", tensor, entry, head, query);
  }
  std::int64_t entry, head, query;
};

std::int64_t row_count(const Sizes& sizes) {
  return sizes.batch * sizes.q_heads * sizes.q_len;
}

std::span<const float> output_row(const Problem& problem, const Answer& answer, std::int64_t row) {
  const auto dim = static_cast<std::size_t>(problem.sizes.value_dim);
  return std::span(answer.o).subspan(static_cast<std::size_t>(row) * dim, dim);
}

/// Every row was written: numbers where keys are visible, the empty row's answer elsewhere.
std::optional<Miss> unwritten_row(const Problem& problem, const kit::AttentionProblem& view,
                                  const Answer& answer) {
  for (std::int64_t row = 0; row < row_count(problem.sizes); ++row) {
    const RowName name(problem.sizes, row);
    const bool empty = view.visible_keys(name.entry, name.query).empty();
    for (const float value : output_row(problem, answer, row))
      if (!(empty ? value == 0 : std::isfinite(value))) return Miss{name.of("o"), value, 0, 0};
    if (answer.lse.empty()) continue;
    const float lse = answer.lse[static_cast<std::size_t>(row)];
    if (!(empty ? lse == -std::numeric_limits<float>::infinity() : std::isfinite(lse)))
      return Miss{name.of("lse"), lse, 0, 0};
  }
  return std::nullopt;
}

std::optional<Miss> row_miss(const Problem& problem, const kit::AttentionProblem& view,
                             const Answer& answer, std::int64_t row, kit::AttentionRow& scratch) {
  const RowName name(problem.sizes, row);
  std::vector<double> o(static_cast<std::size_t>(problem.sizes.value_dim));
  std::vector<double> allowed(o.size());
  kit::attention_row(view, name.entry, name.head, name.query, scratch);
  kit::attention_output(view, name.entry, name.head, scratch, o, allowed);
  for (double& bound : allowed) bound *= allowance(problem);
  if (auto miss = kit::worst_miss(output_row(problem, answer, row), o, allowed,
                                  kit::index_namer(name.of("o"), {problem.sizes.value_dim})))
    return miss;
  if (!problem.want_lse) return std::nullopt;
  const double lse_allowed = allowance(problem) * kit::lse_bound(scratch);
  const double lse = answer.lse[static_cast<std::size_t>(row)];
  if (kit::within(scratch.lse, lse, lse_allowed)) return std::nullopt;
  return Miss{name.of("lse"), lse, scratch.lse, lse_allowed};
}

}  // namespace

std::optional<Miss> sampled_miss(const Problem& problem, const Answer& answer, Rng& rng, int rows) {
  const kit::AttentionProblem view = problem.oracle_view();
  if (auto miss = unwritten_row(problem, view, answer)) return miss;
  kit::AttentionRow scratch;
  for (int n = 0; n < rows; ++n)
    if (auto miss =
            row_miss(problem, view, answer, rng.integer(0, row_count(problem.sizes) - 1), scratch))
      return miss;
  return std::nullopt;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
