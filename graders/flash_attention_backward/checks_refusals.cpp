// SPDX-License-Identifier: Apache-2.0
#include "domain.h"
#include "graders/kit/attention_refusals.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;
using Args = FlashAttentionBackwardArgs;
using Invalid = kit::InvalidAttention<Args>;

std::vector<Invalid> invalid_calls() {
  std::vector<kit::InvalidAttentions<Args>::NamedField> strides{
      {"q_batch_stride", &Args::q_batch_stride},
      {"q_head_stride", &Args::q_head_stride},
      {"q_row_stride", &Args::q_row_stride},
      {"k_batch_stride", &Args::k_batch_stride},
      {"k_head_stride", &Args::k_head_stride},
      {"k_row_stride", &Args::k_row_stride},
      {"v_batch_stride", &Args::v_batch_stride},
      {"v_head_stride", &Args::v_head_stride},
      {"v_row_stride", &Args::v_row_stride},
      {"o_batch_stride", &Args::o_batch_stride},
      {"o_head_stride", &Args::o_head_stride},
      {"o_row_stride", &Args::o_row_stride},
      {"dout_batch_stride", &Args::dout_batch_stride},
      {"dout_head_stride", &Args::dout_head_stride},
      {"dout_row_stride", &Args::dout_row_stride},
      {"dq_batch_stride", &Args::dq_batch_stride},
      {"dq_head_stride", &Args::dq_head_stride},
      {"dq_row_stride", &Args::dq_row_stride},
      {"dk_batch_stride", &Args::dk_batch_stride},
      {"dk_head_stride", &Args::dk_head_stride},
      {"dk_row_stride", &Args::dk_row_stride},
      {"dv_batch_stride", &Args::dv_batch_stride},
      {"dv_head_stride", &Args::dv_head_stride},
      {"dv_row_stride", &Args::dv_row_stride}};
  kit::InvalidAttentions<Args> invalid(strides);
  invalid.add_values("head_dim", &Args::head_dim, {257, 1 << 20});
  invalid.add_values("value_dim", &Args::value_dim, {257, 1 << 20});
  invalid.add_missing({"q", "o", "dout", "lse"}, kit::has_queries);
  invalid.add_missing({"k", "v"}, kit::has_keys);
  return invalid.all;
}

void refuse(Probe& probe, const Problem& problem, const CallOptions& options,
            const Invalid& invalid) {
  Problem spoilt = problem;
  if (invalid.misplace) invalid.misplace(spoilt.form);
  CallOptions how = options;
  how.missing = invalid.flaw.missing;
  BackwardCall call(spoilt, how);
  if (invalid.flaw.spoil) invalid.flaw.spoil(call.args);
  kit::require_refused(
      probe, call,
      invalid.unsupported ? FLASH_ATTENTION_UNSUPPORTED : FLASH_ATTENTION_BAD_ARGUMENT);
}

/// The same problem is asked before and after, and has to be right both times.
void refuse_between(Probe& probe, const Problem& problem, const CallOptions& options,
                    const Invalid& invalid) {
  const Expected expected = expect(problem);
  require_close(probe, problem, ask(probe, problem, options), expected);
  refuse(probe, problem, options, invalid);
  require_close(probe, problem, ask(probe, problem, options), expected);
}

std::vector<kit::Refusal> refusals(Probe& probe, bool between) {
  std::vector<kit::Refusal> all;
  for (const Invalid& invalid : invalid_calls())
    all.push_back(
        {invalid.flaw.name, invalid.beside, [=, &probe](const Assignment& choice, Rng& rng) {
           if (between)
             refuse_between(probe, problem_of(choice, rng), options_of(choice, rng), invalid);
           else
             refuse(probe, uncomputed_problem_of(choice, rng), options_of(choice, rng), invalid);
         }});
  return all;
}

}  // namespace

std::vector<Check> refusals_checks() {
  return kit::refusal_checks({{&domain(), refusals}});
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
