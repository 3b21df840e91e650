#include "ask.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

SoftmaxTopkArgs scalars_of(const Problem& problem) {
  SoftmaxTopkArgs args{};
  args.abi_version = SOFTMAX_TOPK_ABI_VERSION;
  args.struct_size = static_cast<std::int32_t>(sizeof(SoftmaxTopkArgs));
  args.device = SOFTMAX_TOPK_HOST;
  args.num_threads = problem.threads;
  args.deterministic = problem.deterministic ? 1 : 0;
  args.min_align = kit::guaranteed_alignment(problem.placement);
  args.data_type = SOFTMAX_TOPK_F32;
  args.rows = problem.rows;
  args.vocab = problem.vocab;
  args.k = problem.k;
  args.row_stride = problem.stride;
  args.scale = problem.scale;
  return args;
}

Asked::Asked(const Problem& problem, std::string_view without) : call("softmax_topk") {
  SoftmaxTopkArgs& args = call.args;
  args = scalars_of(problem);
  if (problem.rows == 0) return;
  const auto rows = static_cast<std::size_t>(problem.rows);
  const auto count = rows * static_cast<std::size_t>(problem.k);
  if (without != "logits") call.in("logits", args.logits, problem.logits, problem.placement);
  if (!problem.valid_len.empty()) call.in("valid_len", args.valid_len, problem.valid_len);
  if (without != "indices")
    indices = call.out<std::int32_t>("indices", args.indices, count, problem.placement);
  if (without != "probs") probs = call.out<float>("probs", args.probs, count, problem.placement);
  if (problem.wants_lse) lse = call.out<float>("lse", args.lse, rows, problem.placement);
  if (problem.wants_row_max)
    row_max = call.out<float>("row_max", args.row_max, rows, problem.placement);
}

Answer Asked::answer() const {
  Answer answer;
  if (indices) answer.indices = indices->copy();
  if (probs) answer.probs = probs->copy();
  if (lse) answer.lse = lse->copy();
  if (row_max) answer.row_max = row_max->copy();
  return answer;
}

Answer ask(Probe& probe, const Problem& problem) {
  Asked asked(problem);
  probe.run_ok(asked.call);
  return asked.answer();
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
