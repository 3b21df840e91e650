// SPDX-License-Identifier: Apache-2.0
#include "judge.h"

#include <cmath>
#include <fmt/format.h>

#include "graders/kit/bits.h"
#include "graders/kit/compare.h"
#include "graders/kit/tolerance.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

std::int64_t vector_budget(const Setup& setup, std::int64_t dim) {
  const std::int64_t groups = (dim - 1) / setup.group + 1;
  if (setup.stored == KV_F32) return 4 * dim;
  if (setup.stored == KV_INT8) return dim + 4 * groups;
  return (dim + 1) / 2 + 8 * groups;
}

/// Numbers up to 1e30 are 2^31.8 floats; half a step to each side of max / 127 leaves 254 codes
/// between -max and max, which is 7.98 bits, and of (max - min) / 15 leaves 15 codes, 3.9 bits, the
/// forgiven 2^-10 included.
std::int64_t least_page_bytes(const Setup& setup) {
  const double bits = setup.stored == KV_F32 ? 31.8 : setup.stored == KV_INT8 ? 7.9 : 3.9;
  const std::int64_t numbers = setup.page_tokens * (setup.key_numbers() + setup.value_numbers());
  return static_cast<std::int64_t>(std::ceil(bits / 8 * static_cast<double>(numbers)));
}

/// -0 where 0 was appended, or the other way round: equal, and not bit for bit.
std::optional<Miss> other_zero(const std::vector<float>& got, const std::vector<double>& want,
                               const kit::IndexNamer& name) {
  for (std::size_t i = 0; i < got.size(); ++i)
    if (std::signbit(got[i]) != std::signbit(want[i]))
      return Miss{name(static_cast<std::int64_t>(i)), got[i], want[i], 0, 1, std::ssize(got)};
  return std::nullopt;
}

}  // namespace

std::int64_t page_budget(const Setup& setup) {
  const std::int64_t token =
      setup.heads * (vector_budget(setup, setup.key_dim) + vector_budget(setup, setup.value_dim));
  return (setup.page_tokens * token + 63) / 64 * 64;
}

std::optional<std::string> page_bytes_fault(const Setup& setup, std::int64_t answer) {
  const std::int64_t least = least_page_bytes(setup);
  const std::int64_t most = page_budget(setup);
  if (answer >= least && answer <= most) return std::nullopt;
  return fmt::format(
      "kv_page_bytes returned {}, want {} to {} ({}: {} tokens, {} heads, dimensions {} and {},"
      " groups of {})",
      answer, least, most, name_of(setup.stored), setup.page_tokens, setup.heads, setup.key_dim,
      setup.value_dim, setup.group);
}

std::int64_t require_page_bytes(Probe& probe, const Setup& setup) {
  PageBytesCall call(setup);
  probe.run(call);
  if (const auto fault = page_bytes_fault(setup, call.returned)) probe.fail(*fault);
  return call.returned;
}

std::optional<Miss> stored_miss(const Setup& setup, std::int64_t sequence, std::int64_t begin,
                                const Tokens& got, const Tokens& given) {
  const auto miss_of = [&](const char* name, const std::vector<float>& numbers,
                           const std::vector<float>& appended, std::int64_t dim) {
    const auto namer = [&](std::int64_t i) {
      const std::int64_t vector = i / dim;
      return fmt::format("{}[{}] of head {} of token {} of sequence {}", name, i % dim,
                         vector % setup.heads, begin + vector / setup.heads, sequence);
    };
    std::vector<double> want(appended.begin(), appended.end());
    std::vector<double> allowed = storage_allowed(setup, appended, dim);
    std::vector<float> judged = numbers;
    for (std::size_t i = 0; i < judged.size(); ++i)
      if (allowed[i] == kit::kInfinity) judged[i] = 0, want[i] = 0;
    if (const auto miss = kit::worst_miss(judged, want, allowed, namer)) return miss;
    return setup.stored == KV_F32 ? other_zero(judged, want, namer) : std::nullopt;
  };
  const auto miss = miss_of("key", got.k, given.k, setup.key_dim);
  return miss ? miss : miss_of("value", got.v, given.v, setup.value_dim);
}

std::optional<Miss> answer_miss(const Answer& answer, const Expected& expected) {
  std::vector<std::int64_t> extents = expected.row_extents;
  const auto lse_name = kit::index_namer("lse", extents);
  extents.push_back(expected.dim);
  const auto out_name = kit::index_namer("out", extents);
  const auto out = kit::worst_miss(answer.out, expected.out, expected.out_allowed, out_name);
  if (out || answer.lse.empty()) return out;
  return kit::worst_miss(answer.lse, expected.lse, expected.lse_allowed, lse_name);
}

bool same_bits(const Answer& a, const Answer& b) {
  return kit::same_bits(a.out, b.out) && kit::same_bits(a.lse, b.lse);
}

void note_share(Probe& probe, const Answer& answer, const Expected& expected) {
  kit::note_share(probe, kit::worst_ratio(answer.out, expected.out, expected.out_allowed, 1));
  if (answer.lse.empty()) return;
  kit::note_share(probe, kit::worst_ratio(answer.lse, expected.lse, expected.lse_allowed, 1));
}

void require_close(Probe& probe, const Answer& answer, const Expected& expected) {
  probe.require(answer_miss(answer, expected));
  note_share(probe, answer, expected);
}

Answer require_right(Probe& probe, const Parts& parts, bool want_lse, const CallOptions& options) {
  MergeCall call(parts, want_lse, options);
  probe.run_ok(call);
  Answer answer = call.answer();
  require_close(probe, answer, expect(parts));
  return answer;
}

void require_same_again(Probe& probe, const Parts& parts, const CallOptions& options,
                        const Answer& first, int times) {
  for (int turn = 0; turn < times; ++turn) {
    MergeCall call(parts, true, options);
    probe.run_ok(call);
    if (!same_bits(call.answer(), first)) probe.fail("the same merge gave other bits than before");
  }
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
