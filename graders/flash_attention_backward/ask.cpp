#include "ask.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "cases.h"
#include "graders/kit/compare.h"
#include "graders/kit/inputs.h"
#include "tolerance.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Extent4 {
  Extents q, k, v, o;
};

Extent4 extents_of(const kit::AttentionProblem& form) {
  return {{form.batch, form.q_heads, form.q_len, form.dim},
          {form.batch, form.kv_heads, form.k_len, form.dim},
          {form.batch, form.kv_heads, form.k_len, form.value_dim},
          {form.batch, form.q_heads, form.q_len, form.value_dim}};
}

kit::IndexNamer namer(const std::string& name, const Extents& extents) {
  return kit::index_namer(name, {extents.batch, extents.heads, extents.rows, extents.columns});
}

/// Visits dq, dk, dv and delta.
template <class Visit>
void for_each_result(const Problem& problem, const Visit& visit) {
  const Extent4 extents = extents_of(problem.form);
  visit(&Results<double>::dq, &Answer::dq, namer("dq", extents.q));
  visit(&Results<double>::dk, &Answer::dk, namer("dk", extents.k));
  visit(&Results<double>::dv, &Answer::dv, namer("dv", extents.v));
  visit(&Results<double>::delta, &Answer::delta,
        kit::index_namer("delta", {problem.form.batch, problem.form.q_heads, problem.form.q_len}));
}

std::vector<float> poison(std::size_t count) {
  std::vector<float> memory(count);
  std::fill_n(reinterpret_cast<unsigned char*>(memory.data()), count * sizeof(float), 0xff);
  return memory;
}

}  // namespace

Question::Question(const Problem& problem, const Asking& asking)
    : problem_(problem), asking_(asking) {
  inputs_.reserve(8);  // buffers of the call point into the vectors' memory
  outputs_.reserve(4);
  set_form();
  bring_all();
  take_all();
}

void Question::set_form() {
  FlashAttentionBackwardArgs& args = call.args;
  const kit::AttentionProblem& form = problem_.form;
  args.abi_version = FLASH_ATTENTION_ABI_VERSION;
  args.struct_size = static_cast<std::int32_t>(sizeof args);
  args.device = FLASH_ATTENTION_HOST;
  args.num_threads = asking_.num_threads;
  args.deterministic = asking_.deterministic ? 1 : 0;
  args.min_align = kit::guaranteed_alignment(asking_.placement);
  args.data_type = FLASH_ATTENTION_F32;
  args.causal = form.causal ? 1 : 0;
  args.batch = form.batch;
  args.q_heads = form.q_heads;
  args.kv_heads = form.kv_heads;
  args.q_len = form.q_len;
  args.k_len = form.k_len;
  args.head_dim = form.dim;
  args.value_dim = form.value_dim;
  args.window_left = form.window_left;
  args.window_right = form.window_right;
  args.scale = static_cast<float>(form.scale);
  args.softcap = static_cast<float>(form.softcap);
}

void Question::bring_all() {
  FlashAttentionBackwardArgs& a = call.args;
  const Problem& p = problem_;
  const Extent4 e = extents_of(p.form);
  bring("q", a.q, p.q, e.q, asking_.q, {a.q_batch_stride, a.q_head_stride, a.q_row_stride});
  bring("k", a.k, p.k, e.k, asking_.k, {a.k_batch_stride, a.k_head_stride, a.k_row_stride});
  bring("v", a.v, p.v, e.v, asking_.v, {a.v_batch_stride, a.v_head_stride, a.v_row_stride});
  bring("o", a.o, p.o, e.o, asking_.o, {a.o_batch_stride, a.o_head_stride, a.o_row_stride});
  bring("dout", a.dout, p.dout, e.o, asking_.dout,
        {a.dout_batch_stride, a.dout_head_stride, a.dout_row_stride});
  if (asking_.missing_input != "lse") call.in("lse", a.lse, p.lse, asking_.placement);
  if (!p.dlse.empty()) call.in("dlse", a.dlse, p.dlse, asking_.placement);
  if (!p.form.kv_start.empty()) call.in("kv_start", a.kv_start, p.form.kv_start);
  if (!p.form.kv_len.empty()) call.in("kv_len", a.kv_len, p.form.kv_len);
}

void Question::take_all() {
  FlashAttentionBackwardArgs& a = call.args;
  const Extent4 e = extents_of(problem_.form);
  if (asking_.want_dq)
    take("dq", a.dq, &Answer::dq, e.q, asking_.dq,
         {a.dq_batch_stride, a.dq_head_stride, a.dq_row_stride});
  if (asking_.want_dk)
    take("dk", a.dk, &Answer::dk, e.k, asking_.dk,
         {a.dk_batch_stride, a.dk_head_stride, a.dk_row_stride});
  if (asking_.want_dv)
    take("dv", a.dv, &Answer::dv, e.v, asking_.dv,
         {a.dv_batch_stride, a.dv_head_stride, a.dv_row_stride});
  if (!asking_.want_delta) return;
  const Extents rows{e.q.batch, e.q.heads, e.q.rows, 1};
  outputs_.push_back(
      {"delta",
       &Answer::delta,
       Placed(rows, {}),
       call.out<float>("delta", a.delta, static_cast<std::size_t>(rows.count()), asking_.placement),
       {}});
}

void Question::bring(const char* name, const void* const& field, const std::vector<float>& dense,
                     const Extents& extents, const Layout& layout, Strides strides) {
  const Placed placed(extents, layout);
  strides.batch = placed.batch_stride;
  strides.head = placed.head_stride;
  strides.row = placed.row_stride;
  if (asking_.missing_input == name) return;
  inputs_.push_back(placed.scatter(dense, kNan));
  call.in(name, field, inputs_.back(), asking_.placement);
}

void Question::take(const char* name, void* const& field, std::vector<float> Answer::*part,
                    const Extents& extents, const Layout& layout, Strides strides) {
  const Placed placed(extents, layout);
  strides.batch = placed.batch_stride;
  strides.head = placed.head_stride;
  strides.row = placed.row_stride;
  std::vector<float> initial;
  if (asking_.dirty != nullptr) initial = placed.scatter(asking_.dirty->*part, 0.5f);
  const auto output =
      asking_.dirty == nullptr
          ? call.out<float>(name, field, static_cast<std::size_t>(placed.count), asking_.placement)
          : call.inout(name, field, initial, asking_.placement);
  outputs_.push_back({name, part, placed, output, std::move(initial)});
}

Answer Question::answer() const {
  Answer answer;
  for (const Taken& taken : outputs_) answer.*taken.part = taken.placed.gather(taken.output.view());
  return answer;
}

Answer Question::answer(Probe& probe) const {
  for (const Taken& taken : outputs_) {
    const auto memory = taken.output.view();
    const auto touched =
        taken.placed.touched(memory, taken.initial.empty() ? poison(memory.size()) : taken.initial);
    if (touched)
      probe.fail(fmt::format("{}: element {} of the memory was written, but lies between the rows",
                             taken.name, *touched));
  }
  return answer();
}

Answer ask(Probe& probe, const Problem& problem, const Asking& asking) {
  Question question(problem, asking);
  probe.run_ok(question.call);
  return question.answer(probe);
}

void note_share(Probe& probe, double share) {
  constexpr const char* kName = "largest share of the tolerance";
  for (const Fact& fact : probe.observation().facts)
    if (fact.name == kName) share = std::max(share, fact.value);
  probe.fact(kName, share, "");
}

void require_close(Probe& probe, const Problem& problem, const Answer& got,
                   const Expected& expected) {
  for_each_result(problem, [&](auto wanted, auto part, const kit::IndexNamer& name) {
    if ((got.*part).empty()) return;
    const std::vector<double> allowed = allowed_for(expected.bound.*wanted);
    if (const auto miss = kit::worst_miss(got.*part, expected.value.*wanted, allowed, name))
      probe.fail(*miss, {describe(problem)});
    note_share(probe, kit::worst_ratio(got.*part, expected.value.*wanted, allowed, 1));
  });
}

Answer require_right(Probe& probe, const Problem& problem, const Asking& asking) {
  Answer got = ask(probe, problem, asking);
  require_close(probe, problem, got, expected_of(problem));
  return got;
}

void require_equal(Probe& probe, const Problem& problem, const Answer& got, const Answer& want) {
  for_each_result(problem, [&](auto, auto part, const kit::IndexNamer& name) {
    probe.require(kit::first_difference(got.*part, want.*part, name));
  });
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
