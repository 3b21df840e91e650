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

/// What a rank is of, and whether it says anything of how far models vary: whole sentences.
std::string what_is_ranked(const Aggregate& all);

/// What so many challenges and attempts cannot tell, as sentences.
std::string what_data_cannot_tell(const Aggregate& all);

/// When an attempt counts in pass@k, as a sentence.
std::string what_passes(const Aggregate& all);

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
