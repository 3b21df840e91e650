// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <fmt/format.h>

#include "graders/kit/memory.h"
#include "harness/grading/grader.h"
#include "lap.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr std::int64_t kNarrow = 40;  // keys before its own that a query sees

/// The contract's own, in MiB.
double limit_for(const kit::AttentionProblem& form) {
  const std::int64_t queries = form.batch * form.q_heads * form.q_len;
  const std::int64_t keys = form.batch * form.kv_heads * form.k_len;
  return 16 + 8 * kit::mib(4 * (queries * form.dim + keys * (form.dim + form.value_dim)));
}

/// Peak memory of one call, whose answer must be right, in MiB. Within the limit at any length: who
/// holds more than it needs of the short one would have the growth of a good one.
double peak_mib(Probe& probe, const Problem& problem, Rng& rng, const CallOptions& options = {}) {
  const JudgedRows rows = some_rows(problem, rng, 10);
  BackwardCall call(problem, options);
  const double peak = kit::mib(kit::fresh_peak_bytes(probe, call));
  probe.require(rows.miss(call.answer()));
  if (const double allowed = limit_for(problem.form); !(peak <= allowed))
    probe.fail(fmt::format("{:.1f} MiB; allowed are {:.1f}", peak, allowed));
  return peak;
}

double peak_mib(Probe& probe, Rng& rng, const Sizes& sizes, const CallOptions& options = {}) {
  Problem problem(sizes);
  fill_quickly(problem, rng);
  return peak_mib(probe, problem, rng, options);
}

/// Few of many pairs are seen, so that it takes little time.
Problem narrow_problem(Rng& rng, const Sizes& sizes, std::int64_t window_right) {
  Problem problem(sizes);
  problem.form.causal = window_right < 0;
  problem.form.window_left = kNarrow;
  problem.form.window_right = window_right;
  fill_quickly(problem, rng);
  return problem;
}

/// Calls with many queries and little else to do, without some of the gradients; where none is left
/// out, such calls without keys as well, and such to refuse. A float for each query is 156 KiB or
/// more.
void require_freed(Probe& probe, std::int64_t keys, const char* left_out) {
  Rng rng = probe.begin_case(
      fmt::format("many queries and {} keys, again and again, {} left out", keys, left_out));
  const auto wants = [&](const char* gradient) { return !std::strstr(left_out, gradient); };
  CallOptions options;
  options.want_dq = wants("dq");
  options.want_dk = wants("dk");
  options.want_dv = wants("dv");
  Problem problem({1, 1, 1, rng.integer(40'000, 42'000), keys, 1, 1});
  fill_quickly(problem, rng);
  BackwardCall call(problem, options);
  kit::require_freed(probe, call);
  if (!options.want_dq || !options.want_dk || !options.want_dv) return;
  problem.form.kv_len = {0};
  BackwardCall empty(problem, options);
  kit::require_freed(probe, empty);
  problem.form.kv_len = {static_cast<std::int32_t>(keys + 1)};
  BackwardCall refused(problem, options);
  kit::require_freed(probe, refused, FLASH_ATTENTION_BAD_ARGUMENT);
}

// Many threads on one head: each of those that share its keys may hold a dq of its own, and each of
// those that share its queries a dk and dv. Of sixteen, one for each 64 of what they share, some
// are more than the contract allows.
void require_few_copies(Probe& probe, int threads) {
  CallOptions options;
  options.threads = threads;
  for (const bool keys : {false, true}) {
    Rng rng =
        probe.begin_case(fmt::format("{} threads on many {}", threads, keys ? "keys" : "queries"));
    const std::int64_t few = rng.integer(1030, 1080);
    const std::int64_t many = rng.integer(28'000, 29'000);
    const Sizes sizes{1, 1, 1, keys ? few : many, keys ? many : few, keys ? 16 : 32, keys ? 16 : 1};
    peak_mib(probe, narrow_problem(rng, sizes, -1), rng, options);
  }
}

/// Little work and many threads allowed: who has scratch memory ready for each of them, used or
/// not, has more than is allowed, of 100 KiB each.
void require_little_for_idle_threads(Probe& probe) {
  Rng rng = probe.begin_case("many threads, little work");
  CallOptions options;
  options.threads = 200;
  peak_mib(probe, rng, {1, 2, 2, rng.integer(5, 20), rng.integer(5, 20), 64, 64}, options);
}

/// Keys, dk or dv of each query head of a group instead of once would be 24 MiB or more.
void require_no_copies_for_heads(Probe& probe) {
  Rng rng = probe.begin_case("many query heads on the keys of one");
  peak_mib(probe, rng, {1, 64, 1, 1, rng.integer(2000, 2100), 64, 64});
}

/// A byte for each pair, seen or not, would be three times what is allowed.
void require_no_mask(Probe& probe) {
  Rng rng = probe.begin_case("a window on both sides");
  const std::int64_t length = rng.integer(8000, 8200);
  const Sizes sizes{1, 1, 1, length, length, 8, 8};
  peak_mib(probe, narrow_problem(rng, sizes, rng.integer(0, 9)), rng);
}

/// All that a call may have, and that others leave out: who needs memory for it has not asked for
/// it there.
void put_extras(Problem& problem, Rng& rng, CallOptions& options) {
  problem.form.softcap = static_cast<float>(rng.uniform(1, 4));
  problem.form.causal = true;
  const auto batch = static_cast<std::size_t>(problem.form.batch);
  problem.form.kv_start.assign(batch, 1);
  problem.form.kv_len.assign(batch, static_cast<std::int32_t>(problem.form.k_len - 2));
  problem.dlse.assign(problem.lse.size(), 0.25f);
  options.deterministic = 1;
  options.want_delta = true;
  options.q.row_gap = options.v.row_gap = options.dk.row_gap = 1;
}

/// A float for each pair, seen or not, is more than is allowed; in the first, a byte is as well.
void require_no_scores_beside_extras(Probe& probe) {
  Rng rng = probe.begin_case("a window and all extras");
  CallOptions options;
  const std::int64_t length = rng.integer(5000, 5200);
  Problem narrow({2, 2, 1, length, length, 1, 1});
  narrow.form.window_left = kNarrow;
  put_extras(narrow, rng, options);
  fill_quickly(narrow, rng);
  peak_mib(probe, narrow, rng, options);
  rng = probe.begin_case("causal");
  const std::int64_t shorter = rng.integer(2300, 2400);
  Problem causal({1, 1, 1, shorter, shorter, 1, 1});
  causal.form.causal = true;
  fill_quickly(causal, rng);
  peak_mib(probe, causal, rng);
}

/// Few queries see a key, so that it takes little time. A float for each is 128 KiB or more. And
/// few keys are seen of many, half of which do not exist: two floats for each of either half are
/// more than 70 KiB a head, of which there are four.
void require_extras_freed(Probe& probe) {
  for (const bool queries : {true, false}) {
    Rng rng = probe.begin_case(
        fmt::format("all extras of many {}, again and again", queries ? "queries" : "keys"));
    const std::int64_t many = queries ? rng.integer(4000, 4200) : rng.integer(20'000, 20'500);
    CallOptions options;
    Problem problem({2, 4, 2, queries ? many : 3, queries ? 6 : many, 1, 1});
    problem.form.window_left = 1;
    put_extras(problem, rng, options);
    if (!queries) {
      problem.form.kv_start.assign(2, static_cast<std::int32_t>(rng.integer(4000, 6000)));
      problem.form.kv_len.assign(2, static_cast<std::int32_t>(rng.integer(9000, 11'000)));
    }
    fill_quickly(problem, rng);
    BackwardCall call(problem, options);
    kit::require_freed(probe, call);
  }
}

// Twice the length may take twice the scratch memory, not four times.
void memory_growth(Probe& probe) {
  Rng rng = probe.begin_case("length doubled");
  const std::int64_t length = rng.integer(1250, 1350);  // twice that breaks the limit
  double peak[2]{};
  for (int turn = 0; turn < 2; ++turn) {
    const std::int64_t rows = (turn + 1) * length;
    peak[turn] = peak_mib(probe, rng, {1, 1, 1, rows, rows, 8, 8});
    probe.workspace_at("length", static_cast<double>(rows), peak[turn]);
    probe.answer(ClaimKind::peak_workspace, "peak memory", peak[turn], "MiB");
  }
  const auto [once, twice] = peak;
  const double allowed = 2.3 * once + 1;  // a MiB for stacks and the allocator
  if (!(twice <= allowed))
    probe.fail(
        fmt::format("{:.1f} MiB at {} queries and keys, {:.1f} MiB at twice as many; allowed "
                    "are {:.1f}",
                    once, length, twice, allowed));
  rng = probe.begin_case("many queries of several heads on one");
  peak_mib(probe, rng, {1, 8, 1, rng.integer(8000, 8100), 3, 1, 1});
  rng = probe.begin_case("many keys");
  peak_mib(probe, rng, {1, 1, 1, 3, rng.integer(64'000, 65'000), 1, 1});
  rng = probe.begin_case("many heads of several entries");
  const std::int64_t heads = rng.integer(8000, 8200);
  peak_mib(probe, rng, {8, heads, heads, 1, 1, 1, 1});
  for (const char* left_out : {"none", "dq", "dk and dv"}) require_freed(probe, 3, left_out);
  require_freed(probe, 0, "none");
  require_no_mask(probe);
  require_no_scores_beside_extras(probe);
  require_extras_freed(probe);
  require_little_for_idle_threads(probe);
  require_few_copies(probe, 16);
  require_no_copies_for_heads(probe);
}

// Many of one thing and little of all else, where results are small: what is held for each of them
// may be 260 bytes.
void require_small(Probe& probe) {
  struct Shape {
    const char* name;
    Sizes sizes;
  };
  const std::int64_t many = probe.begin_case("size").integer(64'000, 66'000);
  for (const auto& [name, sizes] :
       {Shape{"queries", {1, 1, 1, many, 3, 1, 1}}, Shape{"keys", {1, 1, 1, 3, many, 1, 1}},
        Shape{"heads", {1, many, many, 1, 1, 1, 1}},
        Shape{"batch entries", {many, 1, 1, 1, 1, 1, 1}}}) {
    Rng rng = probe.begin_case(fmt::format("many {}", name));
    CallOptions options;
    if (sizes.batch == many) options.threads = 1;  // they may be started for each entry
    peak_mib(probe, rng, sizes, options);
  }
}

// The contract's own limit, which the scores in float32 alone would break.
void peak_memory(Probe& probe) {
  require_small(probe);
  require_no_mask(probe);
  require_no_scores_beside_extras(probe);
  require_extras_freed(probe);
  require_little_for_idle_threads(probe);
  require_few_copies(probe, 64);
  require_no_copies_for_heads(probe);
  Rng rng = probe.begin_case("16 MiB and eight times the results");
  peak_mib(probe, rng, {1, 1, 1, rng.integer(1500, 1600), rng.integer(4400, 4500), 8, 8});
  for (const char* left_out : {"none", "dq", "dk", "dv", "dk and dv"})
    require_freed(probe, 1, left_out);
  require_freed(probe, 0, "none");
}

}  // namespace

std::vector<Check> memory_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"memory_growth", "a matrix of all scores in memory", performance, 1, critical},
       memory_growth},
      {{"peak_memory", "more scratch memory than the contract allows", performance, 1, major},
       peak_memory},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
