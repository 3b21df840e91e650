// SPDX-License-Identifier: Apache-2.0
#include "judge.h"

#include <algorithm>
#include <fmt/format.h>

#include "graders/kit/compare.h"
#include "graders/kit/tolerance.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Names the elements of dx and y, and of dgamma and dbeta.
kit::IndexNamer by_row(const Problem& problem, const char* name) {
  return kit::index_namer(name, {problem.rows, problem.cols});
}
kit::IndexNamer by_column(const Problem& problem, const std::string& name) {
  return kit::index_namer(name, {problem.cols});
}

void require_part(Probe& probe, const Problem& problem, const kit::IndexNamer& name,
                  std::span<const float> got, std::span<const double> want,
                  std::span<const double> allowed) {
  if (const auto miss = kit::worst_miss(got, want, allowed, name))
    probe.fail(*miss, {fmt::format("{} rows x {} columns, eps {:.6g}", problem.rows, problem.cols,
                                   problem.eps)});
  kit::note_share(probe, kit::worst_ratio(got, want, allowed, 1));
}

/// All rows of y or dx but the bad ones.
void require_rows(Probe& probe, const Problem& problem, const char* name,
                  std::span<const float> got, std::span<const double> want,
                  std::span<const double> allowed) {
  if (problem.bad_rows.empty())
    return require_part(probe, problem, by_row(problem, name), got, want, allowed);
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    if (std::ranges::find(problem.bad_rows, i) != problem.bad_rows.end()) continue;
    const auto row = [&](const auto& all) {
      return all.subspan(static_cast<std::size_t>(i * problem.cols),
                         static_cast<std::size_t>(problem.cols));
    };
    require_part(probe, problem, by_column(problem, fmt::format("{}[{}]", name, i)), row(got),
                 row(want), row(allowed));
  }
}

}  // namespace

void require_right(Probe& probe, const Problem& problem, const CallOptions& options) {
  require_gradients(probe, problem, run_step(probe, problem, options), expect(problem));
}

void require_right_with_y(Probe& probe, const Problem& problem, const CallOptions& options) {
  const Answer answer = run_step(probe, problem, options);
  const Expected expected = expect(problem);
  require_y(probe, problem, answer, expected);
  require_gradients(probe, problem, answer, expected);
}

void require_gradients(Probe& probe, const Problem& problem, const Answer& answer,
                       const Expected& expected) {
  if (!answer.dx.empty())
    require_rows(probe, problem, "dx", answer.dx, expected.dx, expected.dx_allowed);
  if (!problem.bad_rows.empty()) return;
  if (!answer.dgamma.empty())
    require_part(probe, problem, by_column(problem, "dgamma"), answer.dgamma, expected.dgamma,
                 expected.dgamma_allowed);
  if (!answer.dbeta.empty())
    require_part(probe, problem, by_column(problem, "dbeta"), answer.dbeta, expected.dbeta,
                 expected.dbeta_allowed);
}

void require_y(Probe& probe, const Problem& problem, const Answer& answer,
               const Expected& expected) {
  if (!answer.y.empty())
    require_rows(probe, problem, "y", answer.y, expected.y, expected.y_allowed);
}

void require_dx(Probe& probe, const Problem& problem, std::span<const float> got,
                std::span<const double> want, std::span<const double> allowed) {
  require_part(probe, problem, by_row(problem, "dx"), got, want, allowed);
}

void require_same_y(Probe& probe, const Problem& problem, const Answer& got, const Answer& want,
                    const std::string& against) {
  const auto miss =
      kit::first_difference(std::span<const float>(got.y), want.y, by_row(problem, "y"));
  if (miss) probe.fail(*miss, {against});
}

void require_same_gradients(Probe& probe, const Problem& problem, const Answer& got,
                            const Answer& want, const std::string& against) {
  const auto same = [&](std::span<const float> one, std::span<const float> other,
                        const kit::IndexNamer& name) {
    if (const auto miss = kit::first_difference(one, other, name)) probe.fail(*miss, {against});
  };
  same(got.dx, want.dx, by_row(problem, "dx"));
  same(got.dgamma, want.dgamma, by_column(problem, "dgamma"));
  same(got.dbeta, want.dbeta, by_column(problem, "dbeta"));
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
