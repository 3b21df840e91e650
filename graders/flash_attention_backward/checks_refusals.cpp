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

/// One entry of so many heads, and 2^20 rows of queries or of keys, in dense tensors. Nothing of
/// the kind is there: who has to turn a call down for a missing input reads none.
void enlarge(Args& a, std::int64_t heads, std::int64_t Args::*rows) {
  a.batch = 1;
  a.q_heads = a.kv_heads = heads;
  a.*rows = std::int64_t{1} << 20;
  const auto lay = [&](std::int64_t count, std::int64_t columns, const kit::StrideFields& fields) {
    fields.set(kit::Strides({1, heads, count, columns}, {}));
  };
  lay(a.q_len, a.head_dim, {&a.q_batch_stride, &a.q_head_stride, &a.q_row_stride});
  lay(a.k_len, a.head_dim, {&a.k_batch_stride, &a.k_head_stride, &a.k_row_stride});
  lay(a.k_len, a.value_dim, {&a.v_batch_stride, &a.v_head_stride, &a.v_row_stride});
  lay(a.q_len, a.value_dim, {&a.o_batch_stride, &a.o_head_stride, &a.o_row_stride});
  lay(a.q_len, a.value_dim, {&a.dout_batch_stride, &a.dout_head_stride, &a.dout_row_stride});
  lay(a.q_len, a.head_dim, {&a.dq_batch_stride, &a.dq_head_stride, &a.dq_row_stride});
  lay(a.k_len, a.head_dim, {&a.dk_batch_stride, &a.dk_head_stride, &a.dk_row_stride});
  lay(a.k_len, a.value_dim, {&a.dv_batch_stride, &a.dv_head_stride, &a.dv_row_stride});
}

/// An array that is missing while there are so many rows of its kind that 32 bits make a negative
/// number of their count, or none.
void add_missing_of_many(std::vector<Invalid>& all) {
  for (const int exponent : {31, 32})
    for (const char* array : {"q", "o", "dout", "lse", "k", "v"}) {
      const bool of_keys = array[0] == 'k' || array[0] == 'v';
      const auto rows = of_keys ? &Args::k_len : &Args::q_len;
      const std::int64_t heads = std::int64_t{1} << (exponent - 20);
      all.push_back({.flaw = {.name = fmt::format("no {} of 2^{} rows", array, exponent),
                              .spoil = [=](Args& a) { enlarge(a, heads, rows); },
                              .missing = array},
                     .beside = of_keys ? kit::has_keys : kit::has_queries});
    }
}

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
  add_missing_of_many(invalid.all);
  invalid.add_all_on_device(&Args::q, &Args::k, &Args::v, &Args::o, &Args::dout, &Args::lse,
                            &Args::dlse, &Args::dq, &Args::dk, &Args::dv, &Args::delta);
  return invalid.all;
}

/// The lists that it spoils are there, and right.
kit::Corner right_lists(const Invalid& invalid) {
  kit::AttentionProblem form = kit::with_sizes({});
  invalid.misplace(form);
  return {{"kv_start", {form.kv_start.empty() ? "absent" : "0"}},
          {"kv_len", {form.kv_len.empty() ? "absent" : "to the end"}}};
}

void refuse(Probe& probe, const Problem& problem, const CallOptions& options,
            const Invalid& invalid) {
  Problem spoilt = problem;
  if (invalid.misplace) invalid.misplace(spoilt.form);
  CallOptions how = options;
  how.missing = invalid.flaw.missing;
  BackwardCall call(spoilt, how);
  if (invalid.flaw.spoil) invalid.flaw.spoil(call.args);
  if (call.args.q != nullptr) call.buffers().clear();  // its pointers are decided
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

/// Without more around it than the same call with its lists right, where that has the same struct.
void refuse_alone(Probe& probe, const Problem& problem, const CallOptions& options,
                  const Invalid& invalid) {
  if (kit::keeps_struct(problem.form, invalid.misplace)) ask(probe, problem, options);
  refuse(probe, problem, options, invalid);
}

std::vector<kit::Refusal> refusals(Probe& probe, bool between) {
  std::vector<kit::Refusal> all;
  for (const Invalid& invalid : invalid_calls()) {
    all.push_back(
        {invalid.flaw.name, invalid.beside, [=, &probe](const Assignment& choice, Rng& rng) {
           if (between)
             refuse_between(probe, problem_of(choice, rng), options_of(choice, rng), invalid);
           else
             refuse_alone(probe, uncomputed_problem_of(choice, rng), options_of(choice, rng),
                          invalid);
         }});
    if (invalid.misplace) all.back().always = {right_lists(invalid)};
  }
  return all;
}

}  // namespace

std::vector<Check> refusals_checks() {
  return kit::refusal_checks({{&domain(), refusals}});
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
