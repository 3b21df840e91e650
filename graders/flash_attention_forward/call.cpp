// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <algorithm>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr const char* kTogether = "q, k and v";

}  // namespace

CallOptions in_layout(const kit::Layout& layout) {
  CallOptions options;
  options.q = options.k = options.v = options.o = layout;
  return options;
}

kit::Tensor OneMemory::gathered(const kit::Extents& extents, const Place& place) const {
  kit::Tensor tensor(extents);
  kit::for_each_row(tensor, [&](std::span<float> row, auto b, auto h, auto n) {
    const std::int64_t at = place.offset + b * place.batch + h * place.head + n * place.row;
    std::copy_n(numbers.data() + at, row.size(), row.data());
  });
  return tensor;
}

ForwardCall::ForwardCall(const Problem& problem, const CallOptions& options)
    : StridedCall("flash_attention_forward", options), inputs_(options.inputs) {
  auto& a = args;
  kit::set_header(a, FLASH_ATTENTION_ABI_VERSION, FLASH_ATTENTION_HOST, options);
  kit::set_attention(a, problem.form);
  a.data_type = FLASH_ATTENTION_F32;
  if (inputs_) in(kTogether, a.q, inputs_->numbers, options.placement);
  const auto give = [&](const char* name, const void* const& field, const kit::Tensor& tensor,
                        const kit::Layout& layout, OneMemory::Place OneMemory::*place,
                        const kit::StrideFields& fields) {
    if (!inputs_) return tensor_in(name, field, tensor, layout, fields);
    const auto& [offset, batch, head, row] = *inputs_.*place;
    *fields.batch = batch, *fields.head = head, *fields.row = row;
    if (&field != &a.q) in_view<float>(kTogether, field, static_cast<std::size_t>(offset));
  };
  give("q", a.q, problem.q, options.q, &OneMemory::q,
       {&a.q_batch_stride, &a.q_head_stride, &a.q_row_stride});
  give("k", a.k, problem.k, options.k, &OneMemory::k,
       {&a.k_batch_stride, &a.k_head_stride, &a.k_row_stride});
  give("v", a.v, problem.v, options.v, &OneMemory::v,
       {&a.v_batch_stride, &a.v_head_stride, &a.v_row_stride});
  if (!problem.form.kv_start.empty()) in("kv_start", a.kv_start, problem.form.kv_start);
  if (!problem.form.kv_len.empty()) in("kv_len", a.kv_len, problem.form.kv_len);
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
