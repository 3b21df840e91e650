// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "harness/grading/probe.h"

namespace gauntlet::kit {

/// Rows of a lap to be judged: some that nobody can foresee, of `below` in all; or all.
std::vector<std::int64_t> some_of(Rng& judge, std::int64_t below, int count);
std::vector<std::int64_t> all_of(std::int64_t below);

/// The miss of the first of these rows that has one; `miss_of` is asked on all cores at once.
std::optional<Miss> first_of_rows(
    const std::vector<std::int64_t>& rows,
    const std::function<std::optional<Miss>(std::int64_t row)>& miss_of);

/// Asks how fast the solution is in each of these. An audit races nothing; there one lap of each is
/// judged instead, and in full, so that mutants meet what judges laps as well.
void race(Probe& probe, const std::vector<RaceSpec>& specs, const RaceBudget& budget = {});

/// Has `miss` judge all of a right lap's outputs, of which it keeps what it needs, when the lap
/// becomes the solution's time: see Lap::judge_all.
void judge_all_later(Lap& lap, std::function<std::optional<Miss>()> miss);

/// Runs a timed call, which must return 0 and leave outputs that `miss` has nothing against. It is
/// asked when the clock has stopped, and only of a call that returned 0.
Lap verified_lap(Session& session, CallBase& call,
                 const std::function<std::optional<Miss>()>& miss);

}  // namespace gauntlet::kit
