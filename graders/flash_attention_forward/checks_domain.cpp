// SPDX-License-Identifier: Apache-2.0
#include "domain.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;

void ask_domain(Probe& probe, const Assignment& choice, Rng& rng) {
  const Problem problem = problem_of(choice, rng);
  const CallOptions options = options_of(choice, rng);
  if (!choice.is("before", "nothing")) {
    CallOptions then = options;
    if (choice.is("before", "other threads")) then.threads = options.threads == 2 ? 5 : 2;
    if (choice.is("before", "another size") || choice.is("before", "another group"))
      then.far.reset();
    if (choice.is("before", "lse or not")) then.want_lse = !options.want_lse;
    ask(probe, earlier(choice, rng, problem), then);
  }
  require_right(probe, problem, options);
}

}  // namespace

std::vector<Check> domain_checks() {
  return kit::domain_checks({{&domain(), ask_domain}});
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
