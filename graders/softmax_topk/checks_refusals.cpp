// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <limits>

#include "call.h"
#include "domain.h"
#include "graders/kit/device.h"
#include "graders/kit/refusals.h"
#include "harness/grading/grader.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;
using Invalid = kit::Invalid<SoftmaxTopkArgs>;

bool has_rows(const Assignment& choice) {
  return choice["rows"].least > 0;
}

/// There are a thousand calls to refuse, and their size hardly matters.
bool is_small(const Assignment& choice) {
  return choice["rows"].most * choice["vocab"].most <= 20'000 && choice["stride"].most < 65'536;
}

std::vector<Invalid> invalid_calls(bool on_device) {
  using Args = SoftmaxTopkArgs;
  constexpr std::int64_t kBad = SOFTMAX_TOPK_BAD_ARGUMENT;
  constexpr std::int64_t kUnsupported = SOFTMAX_TOPK_UNSUPPORTED;
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kNarrowed = std::int64_t{1} << 32;  // gone where 32 bits are kept
  std::vector<Invalid> all;
  kit::add_values(all, "rows", &Args::rows, {std::int64_t{-1}, kLeast}, kBad);
  kit::add_values(all, "vocab", &Args::vocab, {std::int64_t{0}, std::int64_t{-1}, kLeast}, kBad);
  kit::add_values(all, "k", &Args::k, {std::int64_t{0}, std::int64_t{-1}, kLeast}, kBad);
  kit::add_values(all, "threads", &Args::num_threads,
                  {0, -1, std::numeric_limits<std::int32_t>::min(), 1 - kit::kNarrowed16}, kBad);
  kit::add_values(all, "scale", &Args::scale,
                  {0.0f, -0.0f, -1.0f, -0x1p-149f, -std::numeric_limits<float>::max(), kit::kNan,
                   -kit::kNan, kit::kInfinity, -kit::kInfinity},
                  kBad);
  const auto add = [&](const char* name, std::function<void(Args&)> spoil) {
    all.push_back({{name, std::move(spoil)}, kBad});
  };
  add("rows - 2^32", [](Args& a) { a.rows -= kNarrowed; });
  add("vocab - 2^32", [](Args& a) { a.vocab -= kNarrowed; });
  add("k - 2^32", [](Args& a) { a.k -= kNarrowed; });
  add("k + 2^32", [](Args& a) { a.k += kNarrowed; });
  add("k vocab + 1", [](Args& a) { a.k = a.vocab + 1; });
  add("vocab k - 1", [](Args& a) { a.vocab = a.k - 1; });
  add("k largest", [](Args& a) { a.k = std::numeric_limits<std::int64_t>::max(); });
  add("stride vocab - 1", [](Args& a) { a.row_stride = a.vocab - 1; });
  add("stride 0", [](Args& a) { a.row_stride = 0; });
  add("stride -vocab", [](Args& a) { a.row_stride = -a.vocab; });
  add("stride least", [](Args& a) { a.row_stride = kLeast; });
  add("stride vocab - 2^32", [](Args& a) { a.row_stride = a.vocab - kNarrowed; });
  for (const char* array : {"logits", "indices", "probs"})
    all.push_back({{.name = std::string("no ") + array, .missing = array}, kBad, has_rows});
  kit::add_values(all, "abi", &Args::abi_version, {0, 2, -1, 257, 1 + kit::kNarrowed16},
                  kUnsupported);
  kit::add_values(all, "device", &Args::device, {2, -1, 256, kit::kNarrowed16}, kUnsupported);
  if (!on_device)
    kit::add_values(all, "device", &Args::device, {std::int32_t{SOFTMAX_TOPK_CUDA}}, kUnsupported);
  kit::add_values(all, "data type", &Args::data_type, {3, -1, 256, kit::kNarrowed16}, kUnsupported);
  return all;
}

/// `between`: the same call is made before and after, and has to be right both times. Otherwise the
/// first of each kind is asked twice, with that call in between: what was once taken is no less
/// looked at, and a first call may be one to refuse.
std::vector<kit::Refusal> refusals(Probe& probe, bool between) {
  std::vector<kit::Refusal> all;
  for (const Invalid& invalid : invalid_calls(kit::on_device(probe)))
    all.push_back(
        {invalid.flaw.name,
         [=](const Assignment& choice) { return is_small(choice) && invalid.beside(choice); },
         [=, &probe](const Assignment& choice, Rng& rng) {
           const Problem problem = problem_of(choice, rng);
           const auto accepted = [&] { require_right(probe, problem, sums_of(choice)); };
           const auto refused = [&] {
             Problem spoilt = problem;
             spoilt.options.missing = invalid.flaw.missing;
             SoftmaxTopkCall call(spoilt);
             invalid.flaw.spoil(call.args);
             kit::require_refused(probe, call, invalid.want);
           };
           if (between) accepted();
           refused();
           if (!between && !(choice == Assignment(domain().arguments))) return;
           accepted();
           if (!between) refused();
         },
         // What is cleared may not be wanted; of one row a stride may not be looked at.
         {{{"totals", {"lse", "row_max", "none"}}}, {{"rows", {"1"}}}}});
  return all;
}

}  // namespace

std::vector<Check> refusals_checks() {
  return kit::refusal_checks({{&domain(), refusals}});
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
