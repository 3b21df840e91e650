// SPDX-License-Identifier: Apache-2.0
#include "judge.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <span>

#include "graders/kit/compare.h"
#include "graders/kit/memory.h"
#include "graders/kit/tolerance.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

std::string shape_of(const Problem& problem) {
  return fmt::format("{} rows x {} entries, k {}, scale {}, row stride {}, {} threads",
                     problem.rows, problem.vocab, problem.k, problem.scale, problem.stride,
                     problem.options.threads);
}

std::string entry_text(const Problem& problem, std::int64_t row, std::int64_t index) {
  if (index < 0 || index >= problem.len(row)) return "no entry of the row";
  return fmt::format("z[{}] = {:.9g}", index, problem.row(row)[static_cast<std::size_t>(index)]);
}

/// One row of the answer beside the same row of the oracle.
struct RowView {
  const Problem& problem;
  const Answer& answer;
  const Expected& expected;
  std::size_t r;  // in expected

  std::int64_t row() const { return expected.which[r]; }
  std::size_t k() const { return static_cast<std::size_t>(problem.k); }
  template <class T>
  std::span<const T> wanted(const std::vector<T>& all) const {
    return std::span(all).subspan(r * k(), k());
  }
  template <class T>
  std::span<const T> got(const std::vector<T>& all) const {
    return std::span(all).subspan(static_cast<std::size_t>(row()) * k(), k());
  }
};

std::optional<Fault> index_fault(const RowView& view) {
  const auto got = view.got(view.answer.indices);
  const auto want = view.wanted(view.expected.indices);
  const auto miss = kit::first_difference(
      got, want, [&](std::int64_t j) { return fmt::format("indices[{}][{}]", view.row(), j); });
  if (!miss) return std::nullopt;
  const auto at = static_cast<std::size_t>(
      std::mismatch(got.begin(), got.end(), want.begin()).first - got.begin());
  return Fault{
      *miss,
      {shape_of(view.problem), "wanted there: " + entry_text(view.problem, view.row(), want[at]),
       "got there: " + entry_text(view.problem, view.row(), got[at])}};
}

/// A row without a right answer still has min(k, len) different indices, and -1 behind them.
std::optional<Fault> shape_fault(const RowView& view) {
  const auto got = view.got(view.answer.indices);
  const auto known = std::min(view.problem.k, view.problem.len(view.row()));
  std::vector<std::int32_t> seen(got.begin(), got.begin() + known);
  std::sort(seen.begin(), seen.end());
  for (std::size_t j = 0; j < seen.size(); ++j) {
    const bool inside = seen[j] >= 0 && seen[j] < view.problem.len(view.row());
    if (inside && (j == 0 || seen[j] != seen[j - 1])) continue;
    return Fault{{fmt::format("indices[{}] names entry {} {}", view.row(), seen[j],
                              inside ? "twice" : "outside of the row"),
                  double(seen[j]), 0, 0, 1, view.problem.k},
                 {shape_of(view.problem), "the row holds NaN or +inf"}};
  }
  for (auto j = static_cast<std::size_t>(known); j < got.size(); ++j)
    if (got[j] != -1)
      return Fault{{fmt::format("indices[{}][{}], behind the row's length", view.row(), j),
                    double(got[j]), -1, 0, 1, view.problem.k},
                   {shape_of(view.problem), "the row holds NaN or +inf"}};
  return std::nullopt;
}

std::optional<Fault> prob_fault(const RowView& view) {
  const Expected& expected = view.expected;
  if (const auto miss = kit::worst_miss(view.got(view.answer.probs), view.wanted(expected.probs),
                                        view.wanted(expected.probs_allowed), [&](std::int64_t j) {
                                          return fmt::format("probs[{}][{}]", view.row(), j);
                                        }))
    return Fault{*miss, {shape_of(view.problem)}};
  return std::nullopt;
}

std::optional<Fault> total_fault(const RowView& view, const char* name,
                                 const std::vector<float>& got, const std::vector<double>& want,
                                 const std::vector<double>& allowed) {
  if (got.empty()) return std::nullopt;
  const auto row = static_cast<std::size_t>(view.row());
  const auto namer = [&](std::int64_t) { return fmt::format("{}[{}]", name, row); };
  if (const auto miss =
          kit::worst_miss(std::span(got).subspan(row, 1), std::span(want).subspan(view.r, 1),
                          std::span(allowed).subspan(view.r, 1), namer))
    return Fault{*miss, {shape_of(view.problem)}};
  return std::nullopt;
}

std::optional<Fault> row_fault(const RowView& view) {
  const Expected& expected = view.expected;
  if (expected.spoiled[view.r]) return shape_fault(view);
  if (auto fault = index_fault(view)) return fault;
  if (auto fault = prob_fault(view)) return fault;
  if (auto fault = total_fault(view, "lse", view.answer.lse, expected.lse, expected.lse_allowed))
    return fault;
  return total_fault(view, "row_max", view.answer.row_max, expected.row_max,
                     expected.row_max_allowed);
}

}  // namespace

std::optional<Fault> fault_in(const Problem& problem, const Answer& answer,
                              const Expected& expected) {
  for (std::size_t r = 0; r < expected.which.size(); ++r)
    if (auto fault = row_fault({problem, answer, expected, r})) return fault;
  return std::nullopt;
}

double share_used(const Problem& problem, const Answer& answer, const Expected& expected) {
  double worst = 0;
  for (std::size_t r = 0; r < expected.which.size(); ++r) {
    if (expected.spoiled[r]) continue;
    const RowView view{problem, answer, expected, r};
    worst = std::max(worst, kit::worst_ratio(view.got(answer.probs), view.wanted(expected.probs),
                                             view.wanted(expected.probs_allowed), 1));
    if (!answer.lse.empty() && std::isfinite(expected.lse[r]))
      worst = std::max(
          worst, std::abs(answer.lse[static_cast<std::size_t>(view.row())] - expected.lse[r]) /
                     expected.lse_allowed[r]);
  }
  return worst;
}

void require_rows(Probe& probe, const Problem& problem, const Answer& answer,
                  const Expected& expected) {
  if (auto fault = fault_in(problem, answer, expected))
    probe.fail(fault->miss, std::move(fault->evidence));
  kit::note_share(probe, share_used(problem, answer, expected));
}

Answer require_right(Probe& probe, const Problem& problem, Sums sums) {
  Answer answer = ask(probe, problem);
  require_rows(probe, problem, answer, expect(problem, sums));
  return answer;
}

std::int64_t logit_bytes(const Problem& problem) {
  return problem.rows * problem.vocab * static_cast<std::int64_t>(sizeof(float));
}

void require_scratch(Probe& probe, const Problem& problem, std::int64_t bytes) {
  constexpr std::int64_t kConstant = std::int64_t{16} << 20;
  const std::int64_t logits = logit_bytes(problem);
  const auto allowed =
      kConstant + static_cast<std::int64_t>(kScratchShare * static_cast<double>(logits));
  if (bytes > allowed)
    probe.fail(
        fmt::format("holds {:.2f} MiB of scratch memory for {:.2f} MiB of logits, want "
                    "{:.2f} or less",
                    kit::mib(bytes), kit::mib(logits), kit::mib(allowed)));
}

void require_freed_of_every_kind(Probe& probe, Outputs first) {
  // One copy of their winners is 5 MiB when it was kept 25 times; a page each of one kind, where no
  // more was written, is 2.3 MiB.
  constexpr float kKinds[] = {-kit::kInfinity, kit::kInfinity, kit::kNan};
  constexpr std::int64_t kUsual = 16, kOfEach = 24;
  Rng rng = probe.begin_case("rows of every kind, again and again");
  Problem problem = make_problem(rng, kUsual + 5 * kOfEach, rng.integer(1030, 1100), 1024);
  problem.valid_len.assign(static_cast<std::size_t>(problem.rows), problem.vocab);
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const std::int64_t kind = i / kOfEach;
    if (kind < 3) std::ranges::fill(problem.row(i), kKinds[kind]);
    if (kind == 3) problem.valid_len[static_cast<std::size_t>(i)] = 0;
    if (kind == 4) problem.valid_len[static_cast<std::size_t>(i)] = 5;
  }
  const auto require_freed = [&](Outputs outputs, std::int64_t k) {
    problem.options.lse = problem.options.row_max = outputs == Outputs::all;
    problem.k = k;
    SoftmaxTopkCall call(problem);
    kit::require_freed(probe, call);
  };
  require_freed(first, 1024);
  require_freed(first == Outputs::all ? Outputs::fewest : Outputs::all, problem.vocab - 3);
  require_freed(first, rng.integer(1, 9));
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
