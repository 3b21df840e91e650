#include <fmt/format.h>

#include "graders/kit/compare.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

std::vector<float> old_values(Rng& rng, std::size_t count) {
  std::vector<float> values;
  for (std::size_t k = 0; k < count; ++k) values.push_back(static_cast<float>(rng.normal()));
  return values;
}

/// A backward call into memory that holds an old gradient instead of poison.
Answer backward_into_old_values(Probe& probe, Rng& rng, const Problem& problem,
                                const Bytes& saved) {
  const auto cols = static_cast<std::size_t>(problem.cols);
  const std::vector<float> old_dx = old_values(rng, output_elements(problem));
  const std::vector<float> old_dgamma = old_values(rng, cols);
  const std::vector<float> old_dbeta = old_values(rng, cols);
  Call<LayernormArgs> call("layernorm_backward");
  add_backward_inputs(call, problem, saved);
  const auto dx = call.inout("dx", call.args.dx, old_dx);
  const auto dgamma = call.inout("dgamma", call.args.dgamma, old_dgamma);
  const auto dbeta = call.inout("dbeta", call.args.dbeta, old_dbeta);
  probe.run_ok(call);
  return {{}, dx.copy(), dgamma.copy(), dbeta.copy()};
}

void require_zeros(Probe& probe, const char* name, const std::vector<float>& got) {
  const std::vector<float> zeros(got.size(), 0.0f);
  probe.require(kit::first_difference(std::span<const float>(got), zeros,
                                      kit::index_namer(name, {std::ssize(got)})));
}

// Every array with gaps of its own, so that none may borrow another's stride. Input gaps hold NaN.
void row_strides(Probe& probe) {
  for (const std::int64_t cols : {5, 16, 64, 333}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_columns", cols));
    // Odd where cols is: whole vectors always reach beyond the end of some row.
    const std::int64_t width = near_to(rng, cols) | cols % 2;
    const std::int64_t odd = 1 - width % 2;  // makes the stride odd: no two rows are aligned alike
    const Gaps gaps{rng.integer(1, 3), rng.integer(4, 20), 2 * rng.integer(11, 20) + odd};
    const Problem problem = make_problem(rng, rng.integer(5, 30), width, {}, gaps);
    const Answer answer = run_step(probe, problem);
    const Expected expected = expect(problem);
    require_forward(probe, problem, answer, expected);
    require_gradients(probe, problem, answer, expected);
  }
}

// Arrays that are aligned to an element and no more, and end right before a page that faults.
void unaligned_pointers(Probe& probe) {
  for (const std::size_t skew : {0, 4, 8, 12}) {
    Rng rng = probe.begin_case(fmt::format("{}_bytes_after_16", skew));
    const Gaps gaps{1, 3, rng.integer(0, 2)};
    Problem problem = make_problem(rng, rng.integer(2, 12), rng.integer(17, 150), {}, gaps);
    problem.placement = skew == 0 ? Placement{4, 0} : Placement{16, skew};
    require_step(probe, problem);
  }
}

void optional_outputs(Probe& probe) {
  for (const std::int64_t rows : {0, 1, 40})
    for (int mask = 0; mask < 8; ++mask) {
      const Wanted wanted{mask != 5, (mask & 1) != 0, (mask & 2) != 0, (mask & 4) != 0};
      Rng rng = probe.begin_case(fmt::format("{}_rows{}{}{}", rows, wanted.dx ? "_dx" : "",
                                             wanted.dgamma ? "_dgamma" : "",
                                             wanted.dbeta ? "_dbeta" : ""));
      require_step(probe, make_problem(rng, rows, rng.integer(2, 70)), wanted);
    }
}

void optional_parameters(Probe& probe) {
  for (const bool gamma : {false, true})
    for (const bool beta : {false, true}) {
      Rng rng = probe.begin_case(
          fmt::format("{}_gamma_{}_beta", gamma ? "with" : "no", beta ? "with" : "no"));
      Problem problem = make_problem(rng, rng.integer(3, 30), rng.integer(2, 200));
      if (!gamma) problem.gamma.clear();
      if (!beta) problem.beta.clear();
      const Answer answer = run_step(probe, problem);
      const Expected expected = expect(problem);
      require_forward(probe, problem, answer, expected);
      require_gradients(probe, problem, answer, expected);
    }
}

// Sums over no rows are zero, and have to be written.
void zero_rows(Probe& probe) {
  for (const std::int64_t cols : {1, 33, 1024}) {
    Rng rng = probe.begin_case(fmt::format("no_rows_near_{}_columns", cols));
    Problem problem = make_problem(rng, 0, near_to(rng, cols));
    problem.threads = static_cast<int>(rng.integer(1, 4));
    const Answer answer = run_step(probe, problem);
    require_zeros(probe, "dgamma", answer.dgamma);
    require_zeros(probe, "dbeta", answer.dbeta);

    rng = probe.begin_case(fmt::format("one_row_near_{}_columns", cols));
    require_step(probe, make_problem(rng, 1, near_to(rng, cols)));
  }
}

void dirty_outputs(Probe& probe) {
  for (const std::int64_t cols : {8, 150}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_columns", cols));
    const Problem problem = make_problem(rng, rng.integer(3, 40), near_to(rng, cols));
    const Expected expected = expect(problem);
    Answer unused;
    const Bytes saved = run_forward(probe, problem, unused);
    for (int turn = 0; turn < 2; ++turn)
      require_gradients(probe, problem, backward_into_old_values(probe, rng, problem, saved),
                        expected);
  }
}

}  // namespace

std::vector<Check> layout_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"row_strides", "rows taken to be adjacent, gaps between them read or written", robustness,
        2, critical},
       row_strides},
      {{"unaligned_pointers", "wider alignment than promised, reads behind the end", robustness, 2,
        critical},
       unaligned_pointers},
      {{"dirty_outputs", "adding to what the output held", robustness, 2, critical}, dirty_outputs},
      {{"zero_rows", "no rows, one row", robustness, 1, major}, zero_rows},
      {{"optional_outputs", "outputs that are not wanted, or wanted alone", robustness, 1, major},
       optional_outputs},
      {{"optional_parameters", "gamma and beta left out", robustness, 1, major},
       optional_parameters},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
