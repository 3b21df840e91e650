// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "graders/kit/memory.h"
#include "harness/grading/grader.h"
#include "lap.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr double kMostMib = 24;  // the contract's 16 and the libraries that a solution loads
const int kUsualThreads = CallOptions().threads;
constexpr int kManyThreads = 4;  // each may hold what it works with, which is not all keys
constexpr std::int64_t kManyRows = 1 << 16;  // a float for each is 256 KiB

/// No more queries than a block has, whose scores for all keys are 56 MiB, beside 7 of tensors; and
/// a query of each head, where a vector of scores for each key takes as much.
constexpr Sizes kFewOfMany{1, 1, 1, 16, 14 * kManyRows, 1, 1};
constexpr Sizes kOneOfMany{1, 4, 1, 1, 16 * kManyRows, 1, 1};

/// Peak memory of one call, whose answer must be right, in MiB.
double peak_mib(Probe& probe, const char* name, Rng& rng, const Problem& problem, double most,
                int threads = kUsualThreads) {
  constexpr std::int64_t kMostJudged = std::int64_t{1} << 20;  // pairs of a query and a key
  const std::int64_t rows = std::min<std::int64_t>(12, kMostJudged / problem.form.k_len);
  CallOptions options;
  options.threads = threads;
  ForwardCall call(problem, options);
  const double peak = kit::mib(kit::peak_bytes(probe, call));
  probe.require(some_rows(problem, rng, static_cast<int>(rows)).miss(call.answer()));
  probe.fact(fmt::format("peak memory, {}", name), peak, "MiB");
  probe.require(peak <= most,
                fmt::format("peak memory is {:.1f} MiB, want at most {:.1f}", peak, most));
  return peak;
}

/// The same of a sequence, in a fresh process. Within the limit at any length: who holds more than
/// it needs of the short one would have the growth of a good one.
double peak_mib(Probe& probe, const char* name, std::int64_t length) {
  Rng rng = probe.begin_case(name);
  Problem problem({1, 1, 1, length, length, 16, 16});
  fill_sharp(problem, rng);
  probe.restart();
  return peak_mib(probe, name, rng, problem, kMostMib);
}

/// The same where four times the tensors is much, or much less than what is made of them: copies of
/// keys for each query head, scores of all heads on the same keys, tiles for each query.
void require_small(Probe& probe, const char* name, const Sizes& sizes,
                   int threads = kUsualThreads) {
  constexpr double kMostShare = 4;
  Rng rng = probe.begin_case(name);
  Problem problem(sizes);
  fill_repeating(problem, rng);
  const std::size_t o = problem.q.data.size() / static_cast<std::size_t>(sizes.dim) *
                        static_cast<std::size_t>(sizes.value_dim);
  const std::size_t numbers =
      problem.q.data.size() + problem.k.data.size() + problem.v.data.size() + o;
  const double tensors = kit::mib(static_cast<std::int64_t>(sizeof(float) * numbers));
  probe.restart();
  peak_mib(probe, name, rng, problem, kMostMib + kMostShare * tensors, threads);
}

/// All that may be wanted of a call, where a byte for each pair, seen or not, would be more than is
/// allowed. Few pairs are seen, so that it takes little time.
void require_no_mask(Probe& probe) {
  Rng rng = probe.begin_case("every option");
  const std::int64_t length = rng.integer(8000, 8200);
  Problem problem({1, 1, 1, length, length, 8, 8});
  problem.form.causal = true;
  problem.form.window_left = rng.integer(0, 60);
  problem.form.softcap = 2;
  problem.form.kv_start = {static_cast<std::int32_t>(rng.integer(1, 9))};
  problem.form.kv_len = {static_cast<std::int32_t>(length - rng.integer(10, 19))};
  fill_repeating(problem, rng);
  probe.restart();
  peak_mib(probe, "every option", rng, problem, kMostMib);
}

/// Masked calls of one length after another: 16 bytes that are kept for each query of each are more
/// than is allowed.
void ask_lengths(Probe& probe, Rng& rng) {
  constexpr int kLengths = 3;
  Problem problem({1, 1, 1, 10 * kManyRows, 1, 1, 1});
  problem.form.causal = true;
  fill_repeating(problem, rng);
  CallOptions options;
  options.want_lse = false;
  ForwardCall call(problem, options);
  for (int n = 0; n < kLengths; ++n) {
    probe.run_ok(call);
    call.args.q_len -= rng.integer(1, 99);
  }
}

/// What is kept of calls counts in later ones: of tiny tensors, after large ones. Those have more
/// than 32 MiB: an allocator gives back at once what is freed of that size. Rows of keys are not
/// adjacent: who makes them so may keep what that took.
void require_forgotten(Probe& probe) {
  constexpr std::int64_t kColumns = 144;
  constexpr float kAny = 0.5f;
  Rng rng = probe.begin_case("a small call after large ones");
  probe.restart();
  for (const Sizes& sizes :
       {Sizes{1, 1, 1, 1, kManyRows, kColumns, 1}, Sizes{1, 1, 1, kManyRows, 1, 1, kColumns},
        Sizes{2, 2, 2, 1, kManyRows / 4, kColumns, 1}}) {
    Problem large(sizes);
    for (kit::Tensor* tensor : {&large.q, &large.k, &large.v})
      std::ranges::fill(tensor->data, kAny);
    ForwardCall call(large, in_layout({.rows_outside = true, .row_gap = 1}));
    probe.run_ok(call);
  }
  ask_lengths(probe, rng);
  Problem tiny({1, 1, 1, 3, 4, 5, 6});
  fill_sharp(tiny, rng);
  peak_mib(probe, "tiny after large", rng, tiny, kMostMib);
}

/// Scratch memory that is ready for each of so many threads, used or not, is more than is allowed,
/// of 50 KiB each.
void require_little_for_idle_threads(Probe& probe) {
  require_small(probe, "many threads, little work", {1, 2, 2, 7, 9, 64, 64}, kit::kManyThreads);
}

/// Calls without lse, of shapes with many rows, most of which see no key, so that there is little
/// else to do; such calls of entries that have none; and such calls to refuse.
void require_freed(Probe& probe, const char* name, const Sizes& sizes) {
  Rng rng = probe.begin_case(name);
  Problem problem(sizes);
  problem.form.causal = true;
  fill_sharp(problem, rng);
  CallOptions options;
  options.want_lse = false;
  ForwardCall call(problem, options);
  kit::require_freed(probe, call);
  problem.form.kv_len.assign(static_cast<std::size_t>(sizes.batch), 0);
  ForwardCall empty(problem, options);
  kit::require_freed(probe, empty);
  // What is wrong with these, only the last of their lists shows.
  problem.form.kv_len.assign(static_cast<std::size_t>(sizes.batch), 1);
  problem.form.kv_len.back() = static_cast<std::int32_t>(sizes.k_len + 1);
  ForwardCall refused(problem, options);
  kit::require_freed(probe, refused, FLASH_ATTENTION_BAD_ARGUMENT);
  problem.form.kv_len.back() = 1;
  options.want_lse = true;
  for (const char* missing : {"q", "v"}) {
    options.missing = missing;
    ForwardCall incomplete(problem, options);
    kit::require_freed(probe, incomplete, FLASH_ATTENTION_BAD_ARGUMENT);
  }
}

/// The same with all that those leave out, and work that is no more: a row sees one key.
void require_all_freed(Probe& probe) {
  Rng rng = probe.begin_case("call after call, everything wanted");
  constexpr std::int64_t kBatch = 16;
  Problem problem({kBatch, 8, 8, kManyRows / 256, kManyRows / 256, 1, 1});
  problem.form.window_left = problem.form.window_right = 0;
  problem.form.causal = true;
  problem.form.softcap = 1;
  problem.form.kv_start.assign(kBatch, 1);
  problem.form.kv_len.assign(kBatch, static_cast<std::int32_t>(problem.form.k_len - 1));
  fill_sharp(problem, rng);
  CallOptions options = in_layout({.row_gap = 1});
  for (const int threads : {1, kManyThreads}) {
    options.threads = threads;
    ForwardCall call(problem, options);
    kit::require_freed(probe, call);
  }
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
  require_small(probe, "more query heads on one of keys", {1, 96, 1, 1, 2 * kManyRows, 1, 1});
  require_small(probe, "few queries, many keys", kFewOfMany);
  require_small(probe, "one query of each head, many keys", kOneOfMany, kManyThreads);
  require_forgotten(probe);
  require_no_mask(probe);
  require_little_for_idle_threads(probe);
  require_freed(probe, "call after call, many queries", {1, 1, 1, kManyRows, 1, 1, 1});
  require_all_freed(probe);
}

void peak_memory(Probe& probe) {
  peak_mib(probe, "long sequence", probe.begin_case("length").integer(3300, 3700));
  require_small(probe, "many query heads on one of keys", {1, 48, 1, 1, 4 * kManyRows, 1, 1});
  require_small(probe, "many short sequences", {kManyRows / 4, 4, 2, 1, 3, 1, 1});
  require_small(probe, "few queries, many keys", kFewOfMany);
  require_small(probe, "one query of each head, many keys", kOneOfMany, kManyThreads);
  require_forgotten(probe);
  require_no_mask(probe);
  require_little_for_idle_threads(probe);
  require_freed(probe, "call after call, many entries", {32, 8, 2, kManyRows / 256, 1, 1, 1});
  require_all_freed(probe);
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
