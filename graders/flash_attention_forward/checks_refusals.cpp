// SPDX-License-Identifier: Apache-2.0
#include "domain.h"
#include "graders/kit/attention_refusals.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;
using Args = FlashAttentionForwardArgs;
using Invalid = kit::InvalidAttention<Args>;

/// There are keys, and outputs that need them.
bool reads_keys(const Assignment& choice) {
  return kit::has_queries(choice) && kit::has_keys(choice);
}

std::vector<Invalid> invalid_calls() {
  kit::InvalidAttentions<Args> invalid({{"q_batch_stride", &Args::q_batch_stride},
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
                                        {"o_row_stride", &Args::o_row_stride}});
  invalid.add_missing({"q", "o"}, kit::has_queries);
  invalid.add_missing({"k", "v"}, reads_keys);
  invalid.add_all_on_device(&Args::q, &Args::k, &Args::v, &Args::o, &Args::lse);
  return invalid.all;
}

void refuse(Probe& probe, const Problem& problem, const CallOptions& options,
            const Invalid& invalid) {
  Problem spoilt = problem;
  if (invalid.misplace) invalid.misplace(spoilt.form);
  CallOptions how = options;
  how.missing = invalid.flaw.missing;
  ForwardCall call(spoilt, how);
  if (invalid.flaw.spoil) invalid.flaw.spoil(call.args);
  if (call.args.q != nullptr) call.buffers().clear();  // its pointers are decided
  kit::require_refused(
      probe, call,
      invalid.unsupported ? FLASH_ATTENTION_UNSUPPORTED : FLASH_ATTENTION_BAD_ARGUMENT);
}

/// `between`: the same problem is asked before and after, and has to be right both times.
std::vector<kit::Refusal> refusals(Probe& probe, bool between) {
  const kit::Corner lists{{"kv_start", {"absent", "0"}}, {"kv_len", {"absent", "to the end"}}};
  const kit::Corner no_keys{{"k_len", {"0"}}};  // of which nothing else is missed
  std::vector<kit::Refusal> all;
  for (const Invalid& invalid : invalid_calls()) {
    all.push_back(
        {invalid.flaw.name, invalid.beside, [=, &probe](const Assignment& choice, Rng& rng) {
           const Problem problem = problem_of(choice, rng);
           const CallOptions options = options_of(choice, rng);
           if (between)
             require_right(probe, problem, options);
           else if (kit::keeps_struct(problem.form, invalid.misplace))
             ask(probe, problem, options);
           refuse(probe, problem, options, invalid);
           if (between) require_right(probe, problem, options);
         }});
    if (invalid.misplace) all.back().always = {lists};
    if (!invalid.flaw.missing.empty()) all.back().always = {no_keys};
  }
  return all;
}

}  // namespace

std::vector<Check> refusals_checks() {
  return kit::refusal_checks({{&domain(), refusals}});
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
