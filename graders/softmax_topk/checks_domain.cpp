// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "domain.h"
#include "domain_questions.h"
#include "graders/kit/device.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;

/// In every second row it is as large as the best one: whoever looks at that alone sees nothing.
void differ(std::int64_t i, float& one, float& best) {
  if (i % 2 == 0 && &one != &best)
    one = best;
  else
    one = one == 0 ? 1 : -one / 2;
}

/// What adds up to the same is another row.
void change_places(std::int64_t, float& one, float& best) {
  std::swap(one, best);
}

/// Changes some entry of each row, or it and the best one.
void change_rows(Rng& rng, Problem& problem, void (*change)(std::int64_t, float&, float&)) {
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const auto row = problem.row(i).first(static_cast<std::size_t>(problem.len(i)));
    if (row.empty()) continue;
    float& one = row[static_cast<std::size_t>(rng.integer(0, std::ssize(row) - 1))];
    change(i, one, *std::ranges::max_element(row));
  }
}

/// The call that the solution sees before the one that is judged: at the same addresses.
Problem earlier(const Assignment& choice, Rng& rng, const Problem& problem) {
  if (choice.is("before", "another size")) {
    Problem other = make_problem(rng, near_to(rng, problem.rows), near_to(rng, problem.vocab + 1),
                                 near_to(rng, problem.k));
    other.options = problem.options;
    other.options.far.reset();
    return other;
  }
  Problem other = problem;
  if (choice.is("before", "scale differed")) other.scale *= problem.scale > 0x1p-149f ? 0.5f : 2;
  if (choice.is("before", "k differed")) other.k = problem.k == 1 ? problem.vocab : problem.k - 1;
  if (choice.is("before", "other threads"))
    other.options.threads = problem.options.threads == 2 ? 5 : 2;
  if (choice.is("before", "lengths differed")) draw_lengths(rng, other);
  if (choice.is("before", "one entry of each row differed")) change_rows(rng, other, differ);
  if (choice.is("before", "two entries had changed places")) change_rows(rng, other, change_places);
  if (choice.is("before", "full rows of numbers")) {
    // Whoever finds nothing unusual has to look again. No scale takes them out of float.
    for (float& z : other.logits) z = static_cast<float>(rng.uniform(0.25, 0.75));
    std::ranges::fill(other.valid_len, other.vocab);
  }
  if (choice.is("before", "rows of NaN")) std::ranges::fill(other.logits, kit::kNan);
  return other;
}

void ask_call(Probe& probe, const Assignment& choice, Rng& rng) {
  const Problem problem = problem_of(choice, rng);
  if (!choice.is("before", "nothing")) ask(probe, earlier(choice, rng, problem));
  const Answer first = require_right(probe, problem, sums_of(choice));
  if (kit::on_device(probe)) return;  // where deterministic_bits has schedules shuffled
  if (!choice.is("deterministic", "-1") && !choice.is("deterministic", "256")) return;
  // Every value but 0 asks for the same bits in every run. One row is shared out.
  for (int again = 0; again < (problem.rows == 1 ? 5 : 1); ++again)
    if (!same_bits(ask(probe, problem), first))
      probe.fail("the same arguments give other bits, although `deterministic` is not 0");
}

}  // namespace

std::vector<kit::DomainQuestion> domain_questions() {
  return {{&domain(), ask_call}};
}

std::vector<Check> domain_checks() {
  return kit::domain_checks(domain_questions());
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
