#include "ask.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

#include "graders/kit/compare.h"
#include "graders/kit/inputs.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

void set_sizes(FlashAttentionForwardArgs& args, const Problem& problem) {
  args.abi_version = FLASH_ATTENTION_ABI_VERSION;
  args.struct_size = sizeof args;
  args.device = FLASH_ATTENTION_HOST;
  args.num_threads = problem.threads;
  args.data_type = FLASH_ATTENTION_F32;
  args.min_align = kit::guaranteed_alignment(problem.placement);
  args.batch = problem.sizes.batch;
  args.q_heads = problem.sizes.q_heads;
  args.kv_heads = problem.sizes.kv_heads;
  args.q_len = problem.sizes.q_len;
  args.k_len = problem.sizes.k_len;
  args.head_dim = problem.sizes.dim;
  args.value_dim = problem.sizes.value_dim;
}

void set_strides(FlashAttentionForwardArgs& args, const Problem& problem) {
  args.q_batch_stride = problem.q.batch_stride;
  args.q_head_stride = problem.q.head_stride;
  args.q_row_stride = problem.q.row_stride;
  args.k_batch_stride = problem.k.batch_stride;
  args.k_head_stride = problem.k.head_stride;
  args.k_row_stride = problem.k.row_stride;
  args.v_batch_stride = problem.v.batch_stride;
  args.v_head_stride = problem.v.head_stride;
  args.v_row_stride = problem.v.row_stride;
  args.o_batch_stride = problem.o.batch_stride;
  args.o_head_stride = problem.o.head_stride;
  args.o_row_stride = problem.o.row_stride;
}

void set_options(FlashAttentionForwardArgs& args, const Problem& problem) {
  args.causal = problem.causal ? 1 : 0;
  args.window_left = problem.window_left;
  args.window_right = problem.window_right;
  args.scale = problem.scale;
  args.softcap = problem.softcap;
}

/// The largest share of its tolerance that any number used; exact answers of empty rows have none.
double share_used(const std::vector<float>& got, const std::vector<double>& want,
                  const std::vector<double>& allowed) {
  double share = 0;
  for (std::size_t at = 0; at < got.size(); ++at)
    if (allowed[at] > 0) share = std::max(share, std::abs(got[at] - want[at]) / allowed[at]);
  return share;
}

bool is_poison(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits == 0xffffffffu;
}

}  // namespace

double allowance(const Problem& problem) {
  constexpr double kUnit = 0x1p-24;
  return kUnit * (24 + static_cast<double>(problem.sizes.k_len) / 64);
}

void note_share(Probe& probe, double share) {
  constexpr const char* kName = "tolerance used at most";
  for (const Fact& fact : probe.observation().facts)
    if (fact.name == kName) share = std::max(share, fact.value);
  probe.fact(kName, share, "");
}

ForwardCall::ForwardCall(const Problem& asked, std::string_view missing)
    : Call("flash_attention_forward"), problem(asked) {
  set_sizes(args, problem);
  set_strides(args, problem);
  set_options(args, problem);
  if (missing != "q") in("q", args.q, problem.q.data, problem.placement);
  if (missing != "k") in("k", args.k, problem.k.data, problem.placement);
  if (missing != "v") in("v", args.v, problem.v.data, problem.placement);
  if (!problem.kv_start.empty()) in("kv_start", args.kv_start, problem.kv_start);
  if (!problem.kv_len.empty()) in("kv_len", args.kv_len, problem.kv_len);
  if (missing != "o")
    outputs_.push_back(out<float>("o", args.o, problem.o.data.size(), problem.placement));
  if (problem.want_lse) {
    const Sizes& sizes = problem.sizes;
    outputs_.push_back(out<float>(
        "lse", args.lse, static_cast<std::size_t>(sizes.batch * sizes.q_heads * sizes.q_len),
        problem.placement));
  }
}

Answer ForwardCall::answer() const {
  Answer answer;
  const auto raw = outputs_[0].view();
  const Tensor& o = problem.o;
  answer.o.reserve(static_cast<std::size_t>(o.batch * o.heads * o.rows * o.dim));
  for (std::int64_t b = 0; b < o.batch; ++b)
    for (std::int64_t h = 0; h < o.heads; ++h)
      for (std::int64_t n = 0; n < o.rows; ++n) {
        const float* row = raw.data() + b * o.batch_stride + h * o.head_stride + n * o.row_stride;
        answer.o.insert(answer.o.end(), row, row + o.dim);
      }
  if (problem.want_lse) answer.lse = outputs_[1].copy();
  return answer;
}

std::optional<std::string> ForwardCall::written_gap() const {
  std::vector<float> raw = outputs_[0].copy();
  const Tensor& o = problem.o;
  for (std::int64_t b = 0; b < o.batch; ++b)
    for (std::int64_t h = 0; h < o.heads; ++h)
      for (std::int64_t n = 0; n < o.rows; ++n)
        std::memset(raw.data() + b * o.batch_stride + h * o.head_stride + n * o.row_stride, 0xff,
                    sizeof(float) * static_cast<std::size_t>(o.dim));
  for (std::size_t i = 0; i < raw.size(); ++i)
    if (!is_poison(raw[i])) return fmt::format("o + {} lies between rows and was written", i);
  return std::nullopt;
}

Answer ForwardCall::answer(Probe& probe) const {
  if (const auto gap = written_gap()) probe.fail(*gap, {problem.describe()});
  return answer();
}

Answer ask(Probe& probe, const Problem& problem) {
  ForwardCall call(problem);
  probe.run_ok(call);
  return call.answer(probe);
}

void check_against(Probe& probe, const Problem& problem, const Answer& answer,
                   const kit::AttentionForward& wanted, double slack) {
  const double unit = slack * allowance(problem);
  const auto compare = [&](const std::vector<float>& got, const std::vector<double>& want,
                           std::vector<double> bound, const kit::IndexNamer& name) {
    for (double& allowed : bound) allowed *= unit;
    note_share(probe, share_used(got, want, bound));
    if (const auto miss = kit::worst_miss(std::span<const float>(got), want, bound, name))
      probe.fail(*miss, {problem.describe()});
  };
  const Sizes& sizes = problem.sizes;
  compare(answer.o, wanted.o, wanted.o_bound,
          kit::index_namer("o", {sizes.batch, sizes.q_heads, sizes.q_len, sizes.value_dim}));
  if (problem.want_lse)
    compare(answer.lse, wanted.lse, wanted.lse_bound,
            kit::index_namer("lse", {sizes.batch, sizes.q_heads, sizes.q_len}));
}

void check_answer(Probe& probe, const Problem& problem, const Answer& answer) {
  check_against(probe, problem, answer, kit::attention_forward(problem.oracle_view()));
}

void ask_and_check(Probe& probe, const Problem& problem) {
  check_answer(probe, problem, ask(probe, problem));
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
