// SPDX-License-Identifier: Apache-2.0
#include "footprint.h"

#include <fmt/format.h>

#include "graders/kit/device.h"
#include "graders/kit/memory.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr std::int64_t kMultiprocessors = 108;  // that a solution is told of on a simulated device

std::int64_t saved_bytes_of(Probe& probe, std::int64_t rows) {
  Problem sizes;
  sizes.rows = rows;
  SavedBytesCall call(sizes);
  probe.run(call);
  if (call.returned < 0)
    probe.fail(fmt::format("layernorm_saved_bytes returned {} for {} x 1", call.returned, rows));
  return call.returned;
}

/// What the calls of a row are like that are made many times.
struct Likeness {
  const char* wanted;
  bool parameters, y, dx, dgamma, dbeta;
};

// What is forgotten grows with every call, what is kept on purpose or by an allocator does not:
// what is allowed is more than a thread has of sums here, and half of a row for each call.
void require_nothing_kept_by(Probe& probe, Problem problem, const Likeness& like) {
  constexpr int kWarmUp = 4;
  constexpr int kCalls = 20;
  constexpr std::int64_t kAllowed = std::int64_t{3} << 18;
  if (!like.parameters) {
    problem.gamma.clear();
    problem.beta.clear();
  }
  CallOptions options;
  options.threads = 1;
  options.y = like.y;
  options.dx = like.dx;
  options.dgamma = like.dgamma;
  options.dbeta = like.dbeta;
  Answer ignored;
  const Bytes saved = run_forward(probe, problem, ignored, options);
  std::int64_t before = 0;
  for (int call = 0; call < kWarmUp + kCalls; ++call) {
    ForwardCall forward(problem, std::ssize(saved), options);
    probe.run_ok(forward);
    BackwardCall backward(problem, saved, options);
    if (call + 1 != kWarmUp && call + 1 != kWarmUp + kCalls) {
      probe.run_ok(backward);
      continue;
    }
    const std::int64_t held = kit::peak_bytes(probe, backward);
    if (call + 1 == kWarmUp) before = held;
    if (held > before + kAllowed)
      probe.fail(fmt::format(
          "holds {:.2f} MiB more than {} like calls ago, want {:.2f} or less ({} wanted)",
          kit::mib(held - before), kCalls, kit::mib(kAllowed), like.wanted));
  }
}

}  // namespace

std::int64_t allowed_bytes(Probe& probe, const Problem& problem) {
  constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
  const bool device = kit::on_device(probe);
  const std::int64_t constant = (device ? 1 : 4) * kMebibyte;
  const std::int64_t workers = device ? kMultiprocessors : CallOptions().threads;
  return constant + 64 * workers * problem.cols + kBytesPerRow * problem.rows;
}

void require_no_packing(Probe& probe, Rng& rng) {
  const Gaps gaps{rng.integer(1, 3), rng.integer(4, 6), 0, rng.integer(7, 9)};
  const std::int64_t rows = (kit::on_device(probe) ? 4000 : 1200) + rng.integer(0, 20);
  Problem problem = make_big_problem(rng, rows, 1024, {}, gaps);
  give_drawn_statistics(rng, problem);
  BackwardCall call(problem, {});
  probe.restart();
  const std::int64_t peak = kit::peak_bytes(probe, call);
  if (peak > allowed_bytes(probe, problem))
    probe.fail(fmt::format("holds {:.2f} MiB for an x of {:.2f} MiB with gaps, want {:.2f} or less",
                           kit::mib(peak), kit::mib(4 * problem.rows * problem.cols),
                           kit::mib(allowed_bytes(probe, problem))));
}

// Who frees at the end of a call may have left before where an output is not wanted.
void require_nothing_kept(Probe& probe, Rng& rng) {
  constexpr Likeness kLike[] = {{"all gradients", false, true, true, true, true},
                                {"dx alone", true, true, true, false, false},
                                {"dgamma and dbeta", true, false, false, true, true},
                                {"dgamma alone", true, true, false, true, false},
                                {"dbeta alone", true, true, false, false, true},
                                {"nothing", true, false, false, false, false}};
  const Problem problem = make_big_problem(rng, 1, 16'384 + rng.integer(1, 16));
  for (const Likeness& like : kLike) require_nothing_kept_by(probe, problem, like);
}

// Rows a multiple of 64 and evenly spaced, so that whoever rounds up answers on a line as well. Who
// saves something else for many rows is off that line by 2^32 with a chance of 2^-32.
void require_wide_saved_bytes(Probe& probe, Rng& rng) {
  constexpr std::int64_t kStep = 6400;
  const std::int64_t first = saved_bytes_of(probe, kStep);
  const std::int64_t slope = saved_bytes_of(probe, 2 * kStep) - first;
  for (const int power : {29, 32, 36, 39}) {
    const std::int64_t steps = (std::int64_t{1} << power) / kStep + rng.integer(0, 9999);
    const std::int64_t rows = kStep * (steps + 1);
    const std::int64_t want = first + slope * steps;
    const std::int64_t got = saved_bytes_of(probe, rows);
    if (got != want && (got - want) % (std::int64_t{1} << 32) == 0)
      probe.fail(fmt::format("layernorm_saved_bytes returned {} for {} x 1, want {}: 32 bits of it",
                             got, rows, want));
  }
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
