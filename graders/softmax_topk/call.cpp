// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include "graders/kit/bits.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// `old` is where the output's former contents are kept, when there are some.
template <class T>
std::optional<Output<T>> add_output(Call<SoftmaxTopkArgs>& call, const char* name, T* const& field,
                                    std::size_t count, const CallOptions& options,
                                    std::vector<T>& old) {
  if (options.missing == name) return std::nullopt;
  if (!options.old) return call.out<T>(name, field, count, options.placed(name));
  old.assign(count, std::is_same_v<T, float> ? static_cast<T>(*options.old) : T{7});
  return call.inout(name, field, old, options.placed(name));
}

void add_far_logits(Call<SoftmaxTopkArgs>& call, const Problem& problem) {
  std::vector<std::span<const float>> rows;
  for (std::int64_t i = 0; i < problem.rows; ++i) rows.push_back(problem.row(i));
  call.args.row_stride = problem.options.far->stride;
  call.in_parts("logits", call.args.logits, rows, call.args.row_stride,
                problem.options.placed("logits"));
}

}  // namespace

SoftmaxTopkCall::SoftmaxTopkCall(const Problem& problem) : Call("softmax_topk") {
  const CallOptions& options = problem.options;
  constexpr std::uint64_t kHostCopyBytes = 4096;  // by the contract
  kit::set_header(*this, SOFTMAX_TOPK_ABI_VERSION, SOFTMAX_TOPK_HOST, SOFTMAX_TOPK_CUDA,
                  kHostCopyBytes, options);
  args.data_type = SOFTMAX_TOPK_F32;
  args.rows = problem.rows;
  args.vocab = problem.vocab;
  args.k = problem.k;
  args.row_stride = problem.stride;
  args.scale = problem.scale;
  if (problem.rows == 0 && options.null_when_empty) return;
  const auto rows = static_cast<std::size_t>(problem.rows);
  const auto count = rows * static_cast<std::size_t>(problem.k);
  if (options.is_far("logits") && problem.rows > 0)
    add_far_logits(*this, problem);
  else if (options.missing != "logits")
    in("logits", args.logits, problem.logits, options.placed("logits"));
  // Lengths are aligned to themselves, whatever min_align is.
  const Placement& placement = options.placement;
  const bool narrow = kit::guaranteed_alignment(placement) < 8;
  if (!problem.valid_len.empty())
    in("valid_len", args.valid_len, problem.valid_len, narrow ? Placement{16, 8} : placement);
  indices = add_output(*this, "indices", args.indices, count, options, old_indices);
  probs = add_output(*this, "probs", args.probs, count, options, old_probs);
  if (options.lse) lse = add_output(*this, "lse", args.lse, rows, options, old_lse);
  if (options.row_max)
    row_max = add_output(*this, "row_max", args.row_max, rows, options, old_row_max);
}

Answer SoftmaxTopkCall::answer() const {
  Answer answer;
  if (indices) answer.indices = indices->copy();
  if (probs) answer.probs = probs->copy();
  if (lse) answer.lse = lse->copy();
  if (row_max) answer.row_max = row_max->copy();
  return answer;
}

bool same_bits(const Answer& a, const Answer& b) {
  return kit::same_bits(a.indices, b.indices) && kit::same_bits(a.probs, b.probs) &&
         kit::same_bits(a.lse, b.lse) && kit::same_bits(a.row_max, b.row_max);
}

Answer ask(Probe& probe, const Problem& problem) {
  SoftmaxTopkCall call(problem);
  probe.run_ok(call);
  return call.answer();
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
