// SPDX-License-Identifier: Apache-2.0
#include "lap.h"

#include <cmath>
#include <fmt/format.h>

#include "graders/kit/compare.h"
#include "graders/kit/laps.h"
#include "harness/core/machine.h"
#include "harness/core/parallel.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

std::int64_t row_count(const Problem& problem) {
  return problem.form.batch * problem.form.q_heads * problem.form.q_len;
}

std::size_t row_index(const kit::AttentionProblem& form, std::int64_t batch, std::int64_t head,
                      std::int64_t query) {
  return static_cast<std::size_t>((batch * form.q_heads + head) * form.q_len + query);
}

std::span<const float> output_row(const kit::AttentionProblem& form, const Answer& got,
                                  std::size_t row) {
  const auto columns = static_cast<std::size_t>(form.value_dim);
  return std::span(got.o).subspan(row * columns, columns);
}

std::string row_name(const char* part, std::int64_t batch, std::int64_t head, std::int64_t query) {
  return fmt::format("{}[{}][{}][{}]", part, batch, head, query);
}

}  // namespace

JudgedRows::JudgedRows(const Problem& problem, const std::vector<std::int64_t>& rows)
    : form_(problem.form), rows_(rows.size()) {
  parallel_for(rows.size(), this_machine().cores,
               [&](std::size_t n) { rows_[n] = expected_row(problem, rows[n]); });
}

JudgedRows::Row JudgedRows::expected_row(const Problem& problem, std::int64_t at) const {
  Row row{at / form_.q_len / form_.q_heads,
          at / form_.q_len % form_.q_heads,
          at % form_.q_len,
          {},
          {},
          0,
          0};
  row.o.resize(static_cast<std::size_t>(form_.value_dim));
  row.o_allowed.resize(row.o.size());
  const kit::AttentionProblem view = problem.view();
  kit::AttentionRow scratch;
  kit::attention_row(view, row.batch, row.head, row.query, scratch);
  kit::attention_output(view, row.batch, row.head, scratch, row.o, row.o_allowed);
  for (double& bound : row.o_allowed) bound = allowed_error(problem, bound);
  row.lse = scratch.lse;
  row.lse_allowed = allowed_error(problem, kit::lse_bound(scratch));
  return row;
}

std::optional<Miss> JudgedRows::miss(const Answer& got) const {
  if (auto miss = unwritten(got)) return miss;
  for (const Row& row : rows_)
    if (auto miss = miss_of(row, got)) return miss;
  return std::nullopt;
}

/// Numbers where keys are visible, the empty row's answer elsewhere.
std::optional<Miss> JudgedRows::unwritten(const Answer& got) const {
  for (std::int64_t b = 0; b < form_.batch; ++b)
    for (std::int64_t h = 0; h < form_.q_heads; ++h)
      for (std::int64_t i = 0; i < form_.q_len; ++i) {
        const bool empty = form_.visible_keys(b, i).empty();
        const std::size_t row = row_index(form_, b, h, i);
        for (const float o : output_row(form_, got, row))
          if (!(empty ? o == 0 : std::isfinite(o))) return Miss{row_name("o", b, h, i), o};
        if (got.lse.empty()) continue;
        const float lse = got.lse[row];
        if (!(empty ? lse == -kit::kInfinity : std::isfinite(lse)))
          return Miss{row_name("lse", b, h, i), lse};
      }
  return std::nullopt;
}

std::optional<Miss> JudgedRows::miss_of(const Row& row, const Answer& got) const {
  const std::size_t at = row_index(form_, row.batch, row.head, row.query);
  const auto name =
      kit::index_namer(row_name("o", row.batch, row.head, row.query), {form_.value_dim});
  if (auto miss = kit::worst_miss(output_row(form_, got, at), row.o, row.o_allowed, name))
    return miss;
  if (got.lse.empty() || kit::within(row.lse, got.lse[at], row.lse_allowed)) return std::nullopt;
  return Miss{row_name("lse", row.batch, row.head, row.query), got.lse[at], row.lse,
              row.lse_allowed};
}

JudgedRows some_rows(const Problem& problem, Rng& judge, int count) {
  return {problem, kit::some_of(judge, row_count(problem), count)};
}

JudgedRows all_rows(const Problem& problem) {
  return {problem, kit::all_of(row_count(problem))};
}

void fill_climbing(Problem& problem, Rng& rng) {
  constexpr double kClimb = 8;
  fill_scores(problem, rng, 3, 1);
  fill_values(problem, rng);
  const auto keys = static_cast<double>(problem.form.k_len);
  add_to_scores(
      problem, 0, [](auto, auto, auto) { return 1.0; },
      [&](auto, auto, auto j) { return kClimb * static_cast<double>(j) / keys; });
}

TimedLap::TimedLap(const Sizes& sizes, bool causal, const kit::Layout& layout, Fill fill)
    : problem_(sizes), options_(in_layout(layout)), fill_(fill) {
  problem_.form.causal = causal;
  options_.threads = this_machine().cores;
}

void TimedLap::prepare(Rng& inputs, Rng& judge) {
  constexpr int kRows = 24;
  fill_(problem_, inputs);
  rows_ = std::make_unique<JudgedRows>(some_rows(problem_, judge, kRows));
}

Lap TimedLap::run(Session& session) const {
  ForwardCall call(problem_, options_);
  Answer answer;
  Lap lap = kit::verified_lap(session, call, [&] {
    answer = call.answer();
    const auto gap = call.written_gap();
    return gap ? gap : rows_->miss(answer);
  });
  kit::judge_all_later(
      lap, [this, answer = std::move(answer)] { return all_rows(problem_).miss(answer); });
  return lap;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
