// SPDX-License-Identifier: Apache-2.0
#include "call.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

SoftmaxTopkCall::SoftmaxTopkCall(const Problem& problem) : Call("softmax_topk") {
  const CallOptions& options = problem.options;
  kit::set_header(args, SOFTMAX_TOPK_ABI_VERSION, SOFTMAX_TOPK_HOST, options);
  args.data_type = SOFTMAX_TOPK_F32;
  args.rows = problem.rows;
  args.vocab = problem.vocab;
  args.k = problem.k;
  args.row_stride = problem.stride;
  args.scale = problem.scale;
  if (problem.rows == 0) return;
  const auto rows = static_cast<std::size_t>(problem.rows);
  const auto count = rows * static_cast<std::size_t>(problem.k);
  const Placement& placement = options.placement;
  if (options.missing != "logits") in("logits", args.logits, problem.logits, placement);
  if (!problem.valid_len.empty()) in("valid_len", args.valid_len, problem.valid_len);
  if (options.missing != "indices")
    indices = out<std::int32_t>("indices", args.indices, count, placement);
  if (options.missing != "probs") probs = out<float>("probs", args.probs, count, placement);
  if (options.lse) lse = out<float>("lse", args.lse, rows, placement);
  if (options.row_max) row_max = out<float>("row_max", args.row_max, rows, placement);
}

Answer SoftmaxTopkCall::answer() const {
  Answer answer;
  if (indices) answer.indices = indices->copy();
  if (probs) answer.probs = probs->copy();
  if (lse) answer.lse = lse->copy();
  if (row_max) answer.row_max = row_max->copy();
  return answer;
}

Answer ask(Probe& probe, const Problem& problem) {
  SoftmaxTopkCall call(problem);
  probe.run_ok(call);
  return call.answer();
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
