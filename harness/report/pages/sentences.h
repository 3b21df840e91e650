// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "harness/report/model/aggregate.h"
#include "harness/report/model/claims.h"

namespace gauntlet {

// Sentences that more than one page says. `page` makes the claim's id unique.

/// Who has the first place on each device, as paragraphs.
std::string leaders(const Aggregate& all, Claims& claims, std::string_view page);

/// What a rank is of, to begin a sentence on how far models vary: "One attempt each: this ranks
/// submissions".
std::string_view what_is_ranked(const Aggregate& all);

std::string differentiator_sentence(Claims& claims, const Differentiator& one,
                                    std::string_view page);
std::string pick_sentence(Claims& claims, const Pick& pick, std::string_view page);

/// "alpha leads bravo: 3 won, 2 lost, 3 tied, 0 not comparable."
std::string record_sentence(Claims& claims, const ReportedPair& pair);

/// Records of all pairs, `linked` to their pages or not.
std::string pair_table(const Aggregate& all, bool linked);

/// "the same", "not the same: thinking_level", "model card missing", as Markdown.
std::string conditions_text(const ReportedPair& pair);

/// A value of a need's measure, with its unit.
std::string measure_text(Measure measure, double value);

}  // namespace gauntlet
