// SPDX-License-Identifier: Apache-2.0
#include "call.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

CallOptions in_layout(const kit::Layout& layout) {
  CallOptions options;
  options.q = options.k = options.v = options.o = layout;
  return options;
}

ForwardCall::ForwardCall(const Problem& problem, const CallOptions& options)
    : StridedCall("flash_attention_forward", options, options.inputs) {
  auto& a = args;
  kit::set_header(a, FLASH_ATTENTION_ABI_VERSION, FLASH_ATTENTION_HOST, options);
  kit::set_attention(a, problem.form);
  a.data_type = FLASH_ATTENTION_F32;
  tensor_in("q", a.q, problem.q, options.q, {&a.q_batch_stride, &a.q_head_stride, &a.q_row_stride});
  tensor_in("k", a.k, problem.k, options.k, {&a.k_batch_stride, &a.k_head_stride, &a.k_row_stride});
  tensor_in("v", a.v, problem.v, options.v, {&a.v_batch_stride, &a.v_head_stride, &a.v_row_stride});
  // The contract promises no alignment of these but that of their elements.
  constexpr Placement kElement{16, 4};
  if (!problem.form.kv_start.empty()) in("kv_start", a.kv_start, problem.form.kv_start, kElement);
  if (!problem.form.kv_len.empty()) in("kv_len", a.kv_len, problem.form.kv_len, kElement);
  const auto take = [&](const char* name, auto*& field, std::int64_t columns,
                        const kit::Layout& layout, const kit::StrideFields& fields) {
    kit::Extents extents = problem.q.extents;
    extents.columns = columns;
    std::vector<float> old;
    if (options.old) old.assign(static_cast<std::size_t>(extents.count()), *options.old);
    tensor_out(name, field, extents, layout, fields, options.old ? &old : nullptr);
  };
  take("o", a.o, problem.form.value_dim, options.o,
       {&a.o_batch_stride, &a.o_head_stride, &a.o_row_stride});
  if (options.want_lse) take("lse", a.lse, 1, {}, {});
}

Answer ForwardCall::answer() const {
  return {result("o"), result("lse")};
}

Answer ask(Probe& probe, const Problem& problem, const CallOptions& options) {
  ForwardCall call(problem, options);
  probe.run_ok(call);
  probe.require(call.written_gap());
  return call.answer();
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
