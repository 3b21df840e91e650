// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "candidates.cuh"
#include "contract.h"
#include "online.cuh"
#include "team.cuh"

namespace fused {

/// The columns of the outputs that one launch writes: there is shared memory for so many winners.
struct Window {
  std::int64_t first;
  int columns;
};

/// A row of logits, and the parts that it is read in.
struct Row {
  const float* z;
  std::int64_t number;
  std::uint32_t length;

  __device__ __forceinline__ Row(const SoftmaxTopkArgs& args, std::int64_t number)
      : z(static_cast<const float*>(args.logits) + number * args.row_stride),
        number(number),
        length(static_cast<std::uint32_t>(args.valid_len ? args.valid_len[number] : args.vocab)) {}
};

/// The entries that are left for a window: those behind the last winner of the one before, which an
/// earlier launch has written down.
__device__ __forceinline__ Key bound_of(const SoftmaxTopkArgs& args, const Row& row,
                                        const Window& window) {
  if (window.first == 0) return kAboveAll;
  const std::int32_t last = args.indices[row.number * args.k + window.first - 1];
  return last < 0 ? kNoKey : key_of(row.z[last], static_cast<std::uint32_t>(last));
}

/// One tile of a row, from entry `begin` on: neighbouring threads read neighbouring entries, and a
/// thread those that are a team's width apart. Of a tile that is not whole, up to `end`.
template <class Team, bool kWhole>
__device__ __forceinline__ void read_tile(const Row& row, std::uint32_t begin, std::uint32_t end,
                                          Online& online, Candidates<Team>& candidates) {
  const std::uint32_t mine = begin + Team::rank();
  float z[Team::kItems];
#pragma unroll
  for (int n = 0; n < Team::kItems; ++n) {
    const std::uint32_t at = mine + n * Team::kThreads;
    z[n] = kWhole || at < end ? row.z[at] : -INFINITY;
  }
  online.add(z);
#pragma unroll
  for (int n = 0; n < Team::kItems; ++n) {
    const std::uint32_t at = mine + n * Team::kThreads;
    if (kWhole || at < end) candidates.offer(z[n], at);
  }
  candidates.settle();
}

/// The one pass over the logits: entries [begin, end) of the row.
template <class Team>
__device__ __forceinline__ void read(const Row& row, std::uint32_t begin, std::uint32_t end,
                                     Online& online, Candidates<Team>& candidates) {
  constexpr std::uint32_t kTile = Candidates<Team>::kTile;
  for (; end - begin >= kTile; begin += kTile)
    read_tile<Team, true>(row, begin, end, online, candidates);
  if (begin < end) read_tile<Team, false>(row, begin, end, online, candidates);
}

template <class Team>
__device__ __forceinline__ void write(const SoftmaxTopkArgs& args, const Row& row,
                                      const Window& window, const Online& online,
                                      const Candidates<Team>& candidates) {
  const std::int64_t at = row.number * args.k + window.first;
  for (int column = Team::rank(); column < window.columns; column += Team::kThreads) {
    const bool known = column < candidates.count();
    const Key key = known ? candidates.keys()[column] : kNoKey;
    args.indices[at + column] = known ? index_of(key) : -1;
    args.probs[at + column] = known ? online.probability_of(logit_of(key)) : 0.0f;
  }
  if (window.first > 0 || Team::rank() > 0) return;
  if (args.lse) args.lse[row.number] = online.log_sum_exp();
  if (args.row_max) args.row_max[row.number] = online.max();
}

/// A team for each row, or for several in turn.
template <class Team>
__global__ void __launch_bounds__(Team::kThreads* Team::kTeams)
    whole_rows(SoftmaxTopkArgs args, Window window) {
  extern __shared__ Key shared[];
  const std::int64_t teams = static_cast<std::int64_t>(gridDim.x) * Team::kTeams;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * Team::kTeams + Team::number();
  for (std::int64_t i = first; i < args.rows; i += teams) {
    const Row row(args, i);
    Online online(args.scale);
    Candidates<Team> candidates(shared, window.columns, bound_of(args, row, window));
    read(row, 0, row.length, online, candidates);
    online.join<Team>();
    candidates.cut();
    write(args, row, window, online, candidates);
  }
}

/// What a block found out about its part of a row: the best keys, padded with kNoKey, and the sum.
struct Part {
  float origin;
  double sum;
};
struct Parts {
  int per_row;
  Part* sums;  // [rows][per_row]
  Key* keys;   // [rows][per_row][columns]
};

/// A block for each part of a row, where there are not enough rows to keep a GPU busy.
__global__ void __launch_bounds__(BlockTeam::kThreads)
    parts_of_rows(SoftmaxTopkArgs args, Window window, Parts parts) {
  extern __shared__ Key shared[];
  const Row row(args, blockIdx.x / parts.per_row);
  const std::int64_t part = blockIdx.x % parts.per_row;
  // Where the row begins at a sector of memory, so does each part: none is read twice.
  const auto begin_of = [&](std::int64_t number) {
    const auto begin = static_cast<std::uint32_t>(row.length * number / parts.per_row);
    return number == parts.per_row ? begin : begin & ~31u;
  };
  Online online(args.scale);
  Candidates<BlockTeam> candidates(shared, window.columns, bound_of(args, row, window));
  read(row, begin_of(part), begin_of(part + 1), online, candidates);
  online.join<BlockTeam>();
  candidates.cut();
  Key* const keys = parts.keys + static_cast<std::int64_t>(blockIdx.x) * window.columns;
  for (int n = BlockTeam::rank(); n < window.columns; n += BlockTeam::kThreads)
    keys[n] = n < candidates.count() ? candidates.keys()[n] : kNoKey;
  if (BlockTeam::rank() == 0) parts.sums[blockIdx.x] = {online.origin(), online.sum()};
}

/// A block for each row.
__global__ void __launch_bounds__(BlockTeam::kThreads)
    join_parts(SoftmaxTopkArgs args, Window window, Parts parts) {
  extern __shared__ Key shared[];
  const Row row(args, blockIdx.x);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * parts.per_row;
  Online online(args.scale);
  Candidates<BlockTeam> candidates(shared, window.columns, kAboveAll);
  const Key* const keys = parts.keys + first * window.columns;
  const std::int64_t count = static_cast<std::int64_t>(parts.per_row) * window.columns;
  for (std::int64_t tile = 0; tile < count; tile += Candidates<BlockTeam>::kTile) {
    for (int n = 0; n < Candidates<BlockTeam>::kTile; n += BlockTeam::kThreads) {
      const std::int64_t at = tile + n + BlockTeam::rank();
      if (at < count) candidates.offer(keys[at]);
    }
    candidates.settle();
  }
  for (int n = BlockTeam::rank(); n < parts.per_row; n += BlockTeam::kThreads) {
    const Part part = parts.sums[first + n];
    online.add_part(part.origin, part.sum);
  }
  online.join<BlockTeam>();
  candidates.cut();
  write(args, row, window, online, candidates);
}

}  // namespace fused
