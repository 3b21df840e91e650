#include <algorithm>
#include <fmt/format.h>

#include "ask.h"
#include "generate.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "sampled.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kMostMib = 24;  // the contract's 16 and the libraries that a solution loads

/// Peak private memory of one call of a fresh process, whose answer must be right. Within the limit
/// at any length: who holds more than it needs of the short one would have the slope of a good one.
double peak_mib(Probe& probe, const char* name, std::int64_t length) {
  Rng rng = probe.begin_case(name);
  Sizes sizes;
  sizes.q_len = sizes.k_len = length;
  sizes.dim = sizes.value_dim = 16;
  Problem problem(sizes, rng);
  fill_sharp(problem, rng);
  probe.restart();
  ForwardCall call(problem);
  call.measure_memory = true;
  probe.run_ok(call);
  if (!call.peak_bytes) probe.unmeasured("this worker cannot tell its peak memory");
  const double peak = static_cast<double>(*call.peak_bytes) / kMiB;
  if (const auto miss = sampled_miss(problem, call.answer(probe), rng, 12)) probe.fail(*miss);
  probe.fact(fmt::format("peak memory, {}", name), peak, "MiB");
  probe.require(peak <= kMostMib,
                fmt::format("peak memory is {:.1f} MiB, want at most {}", peak, kMostMib));
  return peak;
}

// Linear memory doubles with the length; a matrix of scores grows fourfold, from 16 to 64 MiB here.
void memory_slope(Probe& probe) {
  constexpr double kMostSlope = 2.3;
  const std::int64_t length = probe.begin_case("length").integer(1900, 2100);
  const double half = peak_mib(probe, "once the length", length);
  probe.workspace_at("length", static_cast<double>(length), half);
  const double full = peak_mib(probe, "twice the length", 2 * length);
  probe.workspace_at("length", static_cast<double>(2 * length), full);
  probe.answer(ClaimKind::peak_workspace, "peak memory, twice the length", full, "MiB");
  // Below 1 MiB a page more or less decides the quotient.
  probe.require(
      full <= kMostSlope * std::max(half, 1.0),
      fmt::format("peak memory goes from {:.1f} to {:.1f} MiB when the length doubles, want "
                  "at most {} times as much",
                  half, full, kMostSlope));
}

void peak_memory(Probe& probe) {
  peak_mib(probe, "long sequence", probe.begin_case("length").integer(3300, 3700));
}

}  // namespace

std::vector<Check> memory_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"memory_slope", "a stored matrix of scores", performance, 2, critical}, memory_slope},
      {{"peak_memory", "scratch memory far beyond a tile", performance, 1, major}, peak_memory},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
