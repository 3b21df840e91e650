// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "graders/kit/memory.h"
#include "harness/grading/grader.h"
#include "lap.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr double kMostMib = 24;  // the contract's 16 and the libraries that a solution loads
constexpr std::int64_t kManyRows = 1 << 16;  // a float for each is 256 KiB

/// Peak memory of one call, whose answer must be right, in MiB. Within the limit at any length: who
/// holds more than it needs of the short one would have the growth of a good one.
double peak_mib(Probe& probe, const char* name, std::int64_t length) {
  Rng rng = probe.begin_case(name);
  Problem problem({1, 1, 1, length, length, 16, 16});
  fill_sharp(problem, rng);
  ForwardCall call(problem);
  const double peak = kit::mib(kit::fresh_peak_bytes(probe, call));
  probe.require(some_rows(problem, rng, 12).miss(call.answer()));
  probe.fact(fmt::format("peak memory, {}", name), peak, "MiB");
  probe.require(peak <= kMostMib,
                fmt::format("peak memory is {:.1f} MiB, want at most {}", peak, kMostMib));
  return peak;
}

/// Calls without lse, of shapes with many rows, most of which see no key, so that there is little
/// else to do; and such calls to refuse.
void require_freed(Probe& probe, const char* name, const Sizes& sizes) {
  Rng rng = probe.begin_case(name);
  Problem problem(sizes);
  problem.form.causal = true;
  fill_sharp(problem, rng);
  CallOptions options;
  options.want_lse = false;
  ForwardCall call(problem, options);
  kit::require_freed(probe, call);
  // What is wrong with these, only the last of their lists shows.
  problem.form.kv_len.assign(static_cast<std::size_t>(sizes.batch), 1);
  problem.form.kv_len.back() = static_cast<std::int32_t>(sizes.k_len + 1);
  ForwardCall refused(problem, options);
  kit::require_freed(probe, refused, FLASH_ATTENTION_BAD_ARGUMENT);
}

// Linear memory doubles with the length; a matrix of scores grows fourfold, from 16 to 64 MiB here.
void memory_growth(Probe& probe) {
  constexpr double kMostGrowth = 2.3;
  const std::int64_t length = probe.begin_case("length").integer(1900, 2100);
  const double half = peak_mib(probe, "once the length", length);
  probe.workspace_at("length", static_cast<double>(length), half);
  const double full = peak_mib(probe, "twice the length", 2 * length);
  probe.workspace_at("length", static_cast<double>(2 * length), full);
  probe.answer(ClaimKind::peak_workspace, "peak memory, twice the length", full, "MiB");
  // Below 1 MiB a page more or less decides the quotient.
  probe.require(
      full <= kMostGrowth * std::max(half, 1.0),
      fmt::format("peak memory goes from {:.1f} to {:.1f} MiB when the length doubles, want "
                  "at most {} times as much",
                  half, full, kMostGrowth));
  require_freed(probe, "call after call, many queries", {1, 1, 1, kManyRows, 1, 1, 1});
}

void peak_memory(Probe& probe) {
  peak_mib(probe, "long sequence", probe.begin_case("length").integer(3300, 3700));
  require_freed(probe, "call after call, many entries", {32, 8, 2, kManyRows / 256, 1, 1, 1});
}

}  // namespace

std::vector<Check> memory_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"memory_growth", "a stored matrix of scores", performance, 2, critical}, memory_growth},
      {{"peak_memory", "scratch memory far beyond a tile", performance, 1, major}, peak_memory},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
