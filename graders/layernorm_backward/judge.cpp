#include "judge.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graders/kit/compare.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr const char* kShareFact = "largest share of the tolerance";

struct Part {
  const char* name;
  std::span<const float> got;
  std::span<const double> want;
  std::span<const double> allowed;
};

std::vector<std::string> shape_evidence(const Problem& problem) {
  return {fmt::format("{} rows x {} columns, eps {:.6g}, {} threads", problem.rows, problem.cols,
                      problem.eps, problem.threads)};
}

void require_part(Probe& probe, const Problem& problem, const Part& part,
                  const kit::IndexNamer& name) {
  if (const auto miss = kit::worst_miss(part.got, part.want, part.allowed, name))
    probe.fail(*miss, shape_evidence(problem));
  note_share(probe, kit::worst_ratio(part.got, part.want, part.allowed, 1));
}

void require_rows(Probe& probe, const Problem& problem, const Part& part) {
  require_part(probe, problem, part, kit::index_namer(part.name, {problem.rows, problem.cols}));
}

void require_columns(Probe& probe, const Problem& problem, const Part& part) {
  require_part(probe, problem, part, kit::index_namer(part.name, {problem.cols}));
}

}  // namespace

void note_share(Probe& probe, double share) {
  for (const Fact& fact : probe.observation().facts)
    if (fact.name == kShareFact) share = std::max(share, fact.value);
  probe.fact(kShareFact, share, "");
}

void require_gradients(Probe& probe, const Problem& problem, const Answer& answer,
                       const Expected& expected) {
  if (!answer.dx.empty())
    require_rows(probe, problem, {"dx", answer.dx, expected.dx, expected.dx_allowed});
  if (!answer.dgamma.empty())
    require_columns(probe, problem,
                    {"dgamma", answer.dgamma, expected.dgamma, expected.dgamma_allowed});
  if (!answer.dbeta.empty())
    require_columns(probe, problem,
                    {"dbeta", answer.dbeta, expected.dbeta, expected.dbeta_allowed});
}

void require_forward(Probe& probe, const Problem& problem, const Answer& answer,
                     const Expected& expected) {
  if (!answer.y.empty())
    require_rows(probe, problem, {"y", answer.y, expected.y, expected.y_allowed});
}

void require_step(Probe& probe, const Problem& problem, const Wanted& wanted) {
  const Answer answer = run_step(probe, problem, wanted);
  const Expected expected = expect(problem);
  require_gradients(probe, problem, answer, expected);
}

void require_dx_row(Probe& probe, const Problem& problem, const Answer& answer,
                    const Expected& expected, std::int64_t row) {
  const auto at = static_cast<std::size_t>(row * problem.cols);
  const auto cols = static_cast<std::size_t>(problem.cols);
  const Part part{"dx", std::span(answer.dx).subspan(at, cols),
                  std::span(expected.dx).subspan(at, cols),
                  std::span(expected.dx_allowed).subspan(at, cols)};
  require_part(probe, problem, part, kit::index_namer(fmt::format("dx[{}]", row), {problem.cols}));
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
