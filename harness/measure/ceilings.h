// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gauntlet {

/// What this machine can do at best with one thread on every core, measured by ourselves.
struct Ceilings {
  double read_gb_per_s = 0;    // from memory: arrays twice as large as the last-level cache
  double copy_gb_per_s = 0;    // the same, bytes read plus bytes written
  double cache_gb_per_s = 0;   // half of the last-level cache, read again and again; 0: unknown
  double fma_gflop_per_s = 0;  // float32; 2 per fused multiply-add
};

/// The best of every look so far; the first call takes one. Looks are taken on threads that stay,
/// each on its core, and begin when all of them are awake, so that starting them is no part of it;
/// where the system lets us, ahead of other programs, as laps are.
const Ceilings& ceilings();

/// Looks again and keeps what is higher: beside other programs and neighbours a ceiling is found
/// too low, by half within one second, and only ever too low.
const Ceilings& raise_ceilings();

/// The same, unless the last look is too short a time ago: what a race does all along. Looks take a
/// tenth of the time at most, whatever one takes (with a large last-level cache, 100 ms).
void raise_ceilings_now_and_then();

/// The least work of a call. Of `bytes`, `written` are stores.
struct LeastWork {
  double bytes = 0;  // 0: no such bound
  double written = 0;
  double flops = 0;  // 0: no such bound
};

/// What that takes at best, in nanoseconds; 0 without a bound. Bytes that the last-level cache may
/// hold (`cache_bytes`) are held against reading from there, the rest against memory, reads and
/// stores each at their own rate: a copy of one byte takes one of each.
double least_ns(const LeastWork& work, double cache_bytes, const Ceilings& machine);

}  // namespace gauntlet
