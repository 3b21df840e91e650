// SPDX-License-Identifier: Apache-2.0
#include "call.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

BackwardCall::BackwardCall(const Problem& problem, const CallOptions& options)
    : StridedCall("flash_attention_backward", options, options.inputs) {
  kit::set_header(args, FLASH_ATTENTION_ABI_VERSION, FLASH_ATTENTION_HOST, options);
  kit::set_attention(args, problem.form);
  args.data_type = FLASH_ATTENTION_F32;
  args.causal = problem.form.causal ? options.causal : 0;
  bring(problem, options);
  take(problem, options);
}

void BackwardCall::bring(const Problem& problem, const CallOptions& options) {
  auto& a = args;
  tensor_in("q", a.q, problem.q, options.q, {&a.q_batch_stride, &a.q_head_stride, &a.q_row_stride});
  tensor_in("k", a.k, problem.k, options.k, {&a.k_batch_stride, &a.k_head_stride, &a.k_row_stride});
  tensor_in("v", a.v, problem.v, options.v, {&a.v_batch_stride, &a.v_head_stride, &a.v_row_stride});
  tensor_in("o", a.o, problem.o, options.o, {&a.o_batch_stride, &a.o_head_stride, &a.o_row_stride});
  tensor_in("dout", a.dout, problem.dout, options.dout,
            {&a.dout_batch_stride, &a.dout_head_stride, &a.dout_row_stride});
  if (!options.left_out("lse", problem.q_rows()))
    in("lse", a.lse, problem.lse, options.placed("lse"));
  if (!problem.dlse.empty()) in("dlse", a.dlse, problem.dlse, options.placed("dlse"));
  if (!problem.form.kv_start.empty()) in("kv_start", a.kv_start, problem.form.kv_start);
  if (!problem.form.kv_len.empty()) in("kv_len", a.kv_len, problem.form.kv_len);
}

void BackwardCall::take(const Problem& problem, const CallOptions& options) {
  auto& a = args;
  const auto add = [&](const char* name, auto*& field, const kit::Extents& extents,
                       const kit::Layout& layout, const kit::StrideFields& fields,
                       std::vector<float> Answer::*part) {
    std::vector<float> old;
    if (options.dirty != nullptr) old = options.dirty->*part;
    if (options.old) old.assign(static_cast<std::size_t>(extents.count()), *options.old);
    tensor_out(name, field, extents, layout, fields, old.empty() ? nullptr : &old);
  };
  if (options.want_dq)
    add("dq", a.dq, problem.q.extents, options.dq,
        {&a.dq_batch_stride, &a.dq_head_stride, &a.dq_row_stride}, &Answer::dq);
  if (options.want_dk)
    add("dk", a.dk, problem.k.extents, options.dk,
        {&a.dk_batch_stride, &a.dk_head_stride, &a.dk_row_stride}, &Answer::dk);
  if (options.want_dv)
    add("dv", a.dv, problem.v.extents, options.dv,
        {&a.dv_batch_stride, &a.dv_head_stride, &a.dv_row_stride}, &Answer::dv);
  kit::Extents rows = problem.q.extents;
  rows.columns = 1;
  if (options.want_delta) add("delta", a.delta, rows, {}, {}, &Answer::delta);
}

Answer BackwardCall::answer() const {
  return {result("dq"), result("dk"), result("dv"), result("delta")};
}

Answer ask(Probe& probe, const Problem& problem, const CallOptions& options) {
  BackwardCall call(problem, options);
  probe.run_ok(call);
  probe.require(call.written_gap());
  return call.answer();
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
