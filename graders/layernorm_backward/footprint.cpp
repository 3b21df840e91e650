// SPDX-License-Identifier: Apache-2.0
#include "footprint.h"

#include <fmt/format.h>

#include "graders/kit/device.h"
#include "graders/kit/memory.h"
#include "graders/kit/refusals.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr std::int64_t kMultiprocessors = 108;  // that a solution is told of on a simulated device

/// A problem of no arrays.
Problem of_sizes(std::int64_t rows, std::int64_t cols) {
  Problem sizes;
  sizes.rows = rows;
  sizes.cols = cols;
  return sizes;
}

std::int64_t saved_bytes_of(Probe& probe, std::int64_t rows, std::int64_t cols = 1) {
  const Problem sizes = of_sizes(rows, cols);
  SavedBytesCall call(sizes);
  probe.run(call);
  if (call.returned < 0)
    probe.fail(
        fmt::format("layernorm_saved_bytes returned {} for {} x {}", call.returned, rows, cols));
  return call.returned;
}

/// What the calls of a row are like that are made many times.
struct Likeness {
  const char* wanted;
  bool parameters, y, dx, dgamma, dbeta;
  int threads = 1;
  std::int32_t deterministic = 0;
};

// What is forgotten grows with every call, what is kept on purpose or by an allocator does not:
// what is allowed is more than a thread has of sums here, and half of a row for each call. Of a
// device every byte is counted, and rows are fewer by as much as less is allowed.
void require_nothing_kept_by(Probe& probe, Problem problem, const Likeness& like) {
  constexpr int kWarmUp = 4;
  constexpr int kCalls = 20;
  constexpr std::int64_t kAllowed = std::int64_t{3} << 18;
  const std::int64_t allowed = kit::on_device(probe) ? kAllowed / 5 * 3 : kAllowed;
  if (!like.parameters) {
    problem.gamma.clear();
    problem.beta.clear();
  }
  CallOptions options;
  options.threads = like.threads;
  options.deterministic = like.deterministic;
  options.y = like.y;
  options.dx = like.dx;
  options.dgamma = like.dgamma;
  options.dbeta = like.dbeta;
  Answer ignored;
  const Bytes saved = run_forward(probe, problem, ignored, options);
  const Bytes nothing;  // is saved where statistics are given; calls borrow what they are given
  const Bytes& given = problem.mean.empty() ? saved : nothing;
  std::int64_t before = 0;
  for (int call = 0; call < kWarmUp + kCalls; ++call) {
    ForwardCall forward(problem, std::ssize(saved), options);
    probe.run_ok(forward);
    BackwardCall backward(problem, given, options);
    if (call + 1 != kWarmUp && call + 1 != kWarmUp + kCalls) {
      probe.run_ok(backward);
      continue;
    }
    const std::int64_t held = kit::peak_bytes(probe, backward);
    if (call + 1 == kWarmUp) before = held;
    if (held > before + allowed)
      probe.fail(fmt::format(
          "holds {:.2f} MiB more than {} like calls ago, want {:.2f} or less ({} wanted)",
          kit::mib(held - before), kCalls, kit::mib(allowed), like.wanted));
  }
}

void require_little(Probe& probe, const Problem& problem, CallBase& call, const char* wanted) {
  const std::int64_t peak = kit::peak_bytes(probe, call);
  const std::int64_t allowed = allowed_bytes(probe, problem);
  if (peak > allowed)
    probe.fail(fmt::format("holds {:.2f} MiB for an x of {:.2f} MiB, want {:.2f} or less ({})",
                           kit::mib(peak), kit::mib(4 * problem.rows * problem.cols),
                           kit::mib(allowed), wanted));
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
  const bool device = kit::on_device(probe);
  const std::int64_t elements = (device ? 4000 : 1400) * std::int64_t{1024};
  for (const std::int64_t cols : {std::int64_t{1024}, rng.integer(90, 120), rng.integer(12, 20)}) {
    if (device && cols < 1024) continue;  // a block of threads for each of so many rows
    const std::int64_t rows = (cols < 90 ? 2 * elements : elements) / cols + rng.integer(0, 20);
    Problem problem = make_big_problem(rng, rows, cols, {}, gaps);
    give_drawn_statistics(rng, problem);
    BackwardCall call(problem, {});
    probe.restart();
    require_little(probe, problem, call, "all gradients of an x with gaps");
  }
}

// A copy is not small where rows are short, or few and long. A simulated device takes seconds for
// so many of them.
void require_little_for_shapes(Probe& probe, Rng& rng) {
  if (kit::on_device(probe)) return;
  constexpr std::int64_t kElements = std::int64_t{3} << 19;
  for (const std::int64_t cols :
       {rng.integer(90, 120), rng.integer(12, 20), rng.integer(8200, 8400)}) {
    const bool narrow = cols < 90;  // with gaps, without which they may stay where they are
    Problem problem = make_big_problem(rng, (narrow ? 2 : 1) * kElements / cols, cols, {},
                                       narrow ? Gaps{2, 3, 0, 5} : Gaps{});
    probe.restart();
    ForwardCall forward(problem, ask_saved_bytes(probe, problem));
    require_little(probe, problem, forward, "y");
    give_drawn_statistics(rng, problem);
    BackwardCall backward(problem, {});
    require_little(probe, problem, backward, "all gradients, statistics given");
  }
}

void require_little_for_fewer(Probe& probe, Rng& rng) {
  Problem problem = make_big_problem(rng, 1200 + rng.integer(0, 20), 1024);
  CallOptions options;
  options.y = false;
  probe.restart();
  ForwardCall forward(problem, ask_saved_bytes(probe, problem), options);
  require_little(probe, problem, forward, "statistics alone");
  give_drawn_statistics(rng, problem);
  for (const char* wanted : {"dx", "dgamma", "dbeta"}) {
    const std::string_view name = wanted;
    options.dx = name == "dx";
    options.dgamma = name == "dgamma";
    options.dbeta = name == "dbeta";
    BackwardCall backward(problem, {}, options);
    require_little(probe, problem, backward, wanted);
  }
}

// A null pointer is a multiple of whatever min_align says; what a solution holds need not be. More
// than a page is more than a worker aligns arrays to.
void require_little_for_alignment(Probe& probe, Rng& rng) {
  const Problem problem = of_sizes(0, rng.integer(1, 70));
  CallOptions options;
  options.y = options.dx = options.dgamma = options.dbeta = false;
  const std::int32_t alignment = std::int32_t{1} << rng.integer(24, 30);
  ForwardCall forward(problem, ask_saved_bytes(probe, problem), options);
  forward.args.min_align = alignment;
  require_little(probe, problem, forward, "no rows, no output, a large min_align");
  const Bytes saved = forward.saved();
  BackwardCall backward(problem, saved, options);
  backward.args.min_align = alignment;
  require_little(probe, problem, backward, "no rows, no output, a large min_align");
}

// Refused as many times, by what is judged last or by what is judged first, or as no type that is
// known: what was allocated before is freed as well.
void require_nothing_kept_by_refusals(Probe& probe, const Problem& problem) {
  constexpr int kCalls = 24;
  constexpr std::int64_t kAllowed = std::int64_t{3} << 18;
  Answer answer;
  const Bytes saved = run_forward(probe, problem, answer);
  BackwardCall right(problem, saved);
  const std::int64_t before = kit::peak_bytes(probe, right);
  CallOptions without;
  without.missing = "dy";
  for (int call = 0; call < kCalls; ++call) {
    ForwardCall forward(problem, std::ssize(saved));
    forward.args.eps = -1;
    kit::require_refused(probe, forward, LAYERNORM_BAD_ARGUMENT);
    BackwardCall backward(problem, saved, without);
    kit::require_refused(probe, backward, LAYERNORM_BAD_ARGUMENT);
    for (auto type : {&LayernormArgs::data_type, &LayernormArgs::parameter_type}) {
      BackwardCall unknown(problem, saved);
      unknown.args.*type = 3;
      kit::require_refused(probe, unknown, LAYERNORM_UNSUPPORTED);
    }
  }
  BackwardCall again(problem, saved);
  const std::int64_t held = kit::peak_bytes(probe, again);
  if (held > before + kAllowed)
    probe.fail(fmt::format("holds {:.2f} MiB more than {} refused calls ago, want {:.2f} or less",
                           kit::mib(held - before), 4 * kCalls, kit::mib(kAllowed)));
}

// Who frees at the end of a call may have left before where an output is not wanted. Of many rows
// it is what is held for each of them that counts, of two threads what each of them holds. Given
// statistics, sums over no rows and deterministic ones may be paths of their own.
void require_nothing_kept(Probe& probe, Rng& rng) {
  constexpr Likeness kLike[] = {{"dx alone", true, true, true, false, false},
                                {"dgamma and dbeta", true, false, false, true, true},
                                {"dgamma alone", true, true, false, true, false},
                                {"dbeta alone", true, true, false, false, true},
                                {"nothing", true, false, false, false, false}};
  const Problem problem = make_big_problem(rng, 1, 16'384 + rng.integer(1, 16));
  for (const Likeness& like : kLike) require_nothing_kept_by(probe, problem, like);
  const Problem two = make_big_problem(rng, 2, 16'384 + rng.integer(1, 16));
  require_nothing_kept_by(probe, two, {"all gradients", false, true, true, true, true, 2});
  // A simulated device needs a block for each of them.
  const std::int64_t rows = kit::on_device(probe) ? 12'000 : 20'000;
  const Problem tall = make_big_problem(rng, rows + rng.integer(1, 16), 1);
  require_nothing_kept_by(probe, tall, {"all of many rows", true, true, true, true, true, 2});
  require_nothing_kept_by(probe, make_big_problem(rng, 0, problem.cols),
                          {"all gradients of no rows", true, true, true, true, true});
  Problem given = two;
  give_drawn_statistics(rng, given);
  require_nothing_kept_by(probe, given,
                          {"all, statistics given", true, true, true, true, true, 2, 1});
  require_nothing_kept_by_refusals(probe, problem);
}

// Rows a multiple of 64 and evenly spaced, so that whoever rounds up answers on a line as well. Who
// saves something else for many rows is off that line by 2^32 with a chance of 2^-32. Of
// many columns all that is known of the answer is that it is one.
void require_wide_saved_bytes(Probe& probe, Rng& rng) {
  for (const int power : {31, 32, 38}) {
    const std::int64_t cols = (std::int64_t{1} << power) + rng.integer(0, 9999);
    for (const std::int64_t rows : {std::int64_t{1}, (std::int64_t{1} << 40) / cols})
      saved_bytes_of(probe, rows, cols);
  }
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
