// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/simt/decode/instr.h"

namespace gauntlet::simt {

/// Traffic of one kind. A request is one warp's execution of one load or store for at least one
/// lane.
struct Traffic {
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;  // of all lanes that took part: two that read the same byte count twice
  std::uint64_t sectors = 0;  // distinct aligned blocks of 32 bytes in each request, summed

  Traffic& operator+=(const Traffic& other) {
    requests += other.requests;
    bytes += other.bytes;
    sectors += other.sectors;
    return *this;
  }
};

struct BufferTraffic {
  Traffic read;
  Traffic written;
  Traffic atomic;
};

/// Shared memory is 32 banks of 4 bytes. Lanes of up to 4 bytes are served together, lanes of 8 by
/// half warps, lanes of 16 by quarter warps; a wavefront gives each bank one word, to any number of
/// lanes.
struct SharedTraffic {
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;
  std::uint64_t wavefronts = 0;
  std::uint64_t least_wavefronts = 0;  // what the same words would need without bank conflicts

  std::uint64_t conflicts() const { return wavefronts - least_wavefronts; }
};

/// What one launch did. PTX is counted, before any assembler optimises it: compare counts of
/// instructions only between kernels that the same front end compiled.
struct Counters {
  std::uint64_t blocks = 0;
  std::uint64_t warps = 0;
  std::uint64_t warp_instructions = 0;    // one for a warp, however many lanes are active
  std::uint64_t thread_instructions = 0;  // one for each active lane, its guard true or not
  std::array<std::uint64_t, kClasses> by_class{};  // of thread_instructions; index is a Class

  BufferTraffic global;  // the sum over all buffers and __device__ and __constant__ variables
  std::vector<std::pair<std::string, BufferTraffic>>
      buffers;  // those that were touched, by address
  SharedTraffic shared_loads, shared_stores, shared_atomics;
  Traffic local_loads, local_stores;  // no sectors: how a GPU lays out local memory is its own

  std::uint64_t barriers = 0;            // a warp's arrivals at a barrier of its block
  std::uint64_t branches = 0;            // a warp's conditional branches
  std::uint64_t divergent_branches = 0;  // those that its active lanes took both ways

  /// Active lanes of 32, over all executed instructions: 1 where no lane ever idles.
  double lane_efficiency() const;
};

}  // namespace gauntlet::simt
