// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "domain.h"
#include "drawing.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "living.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;

/// A cache that differs from this one in a single size, used once.
void use_another(Probe& probe, const Assignment& choice, Rng& rng, Setup setup) {
  if (choice.is("before", "another group"))
    setup.group = setup.group > 4 ? 4 : setup.group + 1;
  else if (choice.is("before", "another type"))
    setup.stored = setup.stored == KV_F32 ? KV_INT8 : KV_F32;
  else if (choice.is("before", "another page size"))
    setup.page_tokens += 1;
  else if (choice.is("before", "another table width"))
    setup.width += 1;
  else if (choice.is("before", "another number of heads"))
    setup.heads += setup.heads == 1 ? 1 : -1;
  else if (choice.is("before", "another key dim"))
    setup.key_dim += setup.key_dim == 1 ? 1 : -1;
  else
    setup.value_dim += setup.value_dim == 1 ? 1 : -1;
  setup.options.threads = std::min(setup.options.threads, 2);
  Cache other(probe, setup, rng.seed());
  const std::int64_t last = setup.sequences - 1;  // where it lies depends on the table's width
  other.append(last, draw_many_tokens(rng, setup, 2));
  other.require_right(rng, {last}, 1, setup.heads);
}

void refuse_some(Cache& cache) {
  cache.truncate(0, cache.length(0) + 1);
  cache.fork(0, 0);
}

/// What the solution sees before what is judged, mostly at the same addresses.
void ask_before(Probe& probe, const Assignment& choice, Rng& rng, Cache& cache,
                const Problem& problem) {
  if (choice.is("before", "nothing") || choice.is("before", "other tokens there")) return;
  if (choice.is("before", "refusals")) return refuse_some(cache);
  if (choice["before"].name.starts_with("another"))
    return use_another(probe, choice, rng, cache.setup());
  Problem other = problem;
  if (other.q.empty()) return;
  float& one = other.q[static_cast<std::size_t>(rng.integer(0, std::ssize(other.q) - 1))];
  one = one == 0 ? 1 : -one;
  cache.attend(other);
}

void ask_cache(Probe& probe, const Assignment& choice, Rng& rng) {
  const Life life = life_of(choice, rng);
  Cache cache(probe, life.setup, rng.seed());
  live(cache, choice, rng, life.lengths);
  if (choice.is("before", "a token less")) {
    cache.attend(problem_of(choice, rng, cache));
    // The second of two: the first may be spoilt.
    cache.append(0, tokens_of(choice, rng, life.setup, 2).part(life.setup, 1, 1));
  }
  if (choice.is("before", "other tokens there")) {
    cache.attend(problem_of(choice, rng, cache));
    const std::int64_t length = cache.length(0);
    cache.truncate(0, length / 2);
    // The rest of as many: the first may be spoilt.
    cache.append(0, tokens_of(choice, rng, life.setup, length)
                        .part(life.setup, length / 2, length - length / 2));
  }
  const Problem problem = problem_of(choice, rng, cache);
  ask_before(probe, choice, rng, cache, problem);
  cache.require_right(problem);
  cache.require_some_contents();
}

void ask_merge(Probe& probe, const Assignment& choice, Rng& rng) {
  const Parts parts = parts_of(choice, rng);
  const CallOptions options = merge_options_of(choice, rng);
  const bool want_lse = choice.is("merged lse", "wanted");
  if (choice.is("merge before", "another size"))
    require_right(probe,
                  draw_parts(rng, near_to(rng, parts.parts + 1), near_to(rng, parts.rows + 1),
                             near_to(rng, parts.dim + 1), 1, 0.3));
  if (choice.is("merge before", "one number differed") && !parts.lse.empty()) {
    Parts other = parts;
    other.lse[static_cast<std::size_t>(rng.integer(0, std::ssize(other.lse) - 1))] = 2.5f;
    // No smaller than the others: where the part of most weight had zeros, the tolerance would be
    // less than float32 can tell apart.
    const auto size = static_cast<float>(std::max(1e-20, choice["results"].least));
    for (float& x : other.out)
      if (!std::isfinite(x)) x = size;
    require_right(probe, other, want_lse, options);
  }
  if (choice.is("merge before", "a refusal")) {
    MergeCall call(parts, want_lse, options);
    call.args.parts = -1;
    probe.run(call);
  }
  require_right(probe, parts, want_lse, options);
}

}  // namespace

std::vector<Check> domain_checks() {
  return kit::domain_checks({{&domain(), ask_cache}, {&merge_domain(), ask_merge}});
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
