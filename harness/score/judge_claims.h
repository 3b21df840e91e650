// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/stats.h"
#include "harness/store/json_fields.h"
#include "harness/store/observation.h"

namespace gauntlet {

/// What measurement says of a submission's own claim. It touches no score.
enum class ClaimVerdict { holds, refuted, not_verifiable };

/// "true", "false", "not verifiable".
std::string_view name_of(ClaimVerdict verdict);

struct JudgedClaim {
  StatedClaim claim;
  ClaimVerdict verdict = ClaimVerdict::not_verifiable;
  std::string measured;              // "8 B (saved bytes per row)"; empty: nothing answers
  std::string why;                   // how the verdict follows, or what it would have needed
  std::optional<Interval> possible;  // a claimed number outside is false; absent for words
};

/// "memory", "8", "at most 0.5" for a bound.
std::string claimed_text(const StatedClaim& claim);

/// Every claim of the cell, in the order of its file's kinds. Pure: another rule judges the same
/// observation anew.
std::vector<JudgedClaim> judge_claims(const CellObservation& cell);

/// The claim with its verdict, as aggregate.json and --json carry it.
Json to_json(const JudgedClaim& judged);

}  // namespace gauntlet
