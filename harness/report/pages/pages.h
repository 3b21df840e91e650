// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/report/model/aggregate.h"
#include "harness/report/model/claims.h"

namespace gauntlet {

/// Contents by their path below the report's folder.
using Files = std::map<std::string, std::string>;

// Each page is whole; the sentences that it asserts go through `claims`. It shows those `plots`
// that there are.
std::string render_index(const Aggregate& all, Claims& claims, const Files& plots);
std::string render_ranking(const Aggregate& all, Claims& claims);
std::string render_rounds(const Aggregate& all, Claims& claims, const Files& plots);
std::string render_pairs(const Aggregate& all, Claims& claims);  // the list of all pairs
std::string render_pair(const Aggregate& all, Claims& claims, const ReportedPair& pair);
std::string render_challenge(const Aggregate& all, Claims& claims, const ReportedChallenge& column,
                             const Files& plots);
std::string render_submission(const Aggregate& all, Claims& claims,
                              const ReportedSubmission& submission);
/// The page of a submission that made several attempts, and so has no cells of its own.
std::string render_attempts(const Aggregate& all, Claims& claims,
                            const ReportedSubmission& submission);
std::string render_differentiators(const Aggregate& all, Claims& claims);
std::string render_picks(const Aggregate& all, Claims& claims);
std::string render_ledger(const Aggregate& all);

/// The page of published judgements, by the names of their files: letters, and what follows from
/// them.
std::string render_judged(const std::map<std::string, Judgement>& judgements, const Aggregate& all);

// Where pages are, below the report's folder.
std::string submission_page(std::string_view name);
std::string challenge_page(std::string_view name);
std::string pair_page(std::string_view a, std::string_view b);  // in any order

// Parts that several pages have. `up` leads from the page to the report's folder: "../".

/// The mark of generated files, the title and the way back.
std::string page_head(std::string_view title, std::string_view up);

/// Ends in one newline.
std::string finished(std::string page);

std::string submission_link(std::string_view name, std::string_view up);
std::string challenge_link(const Aggregate& all, std::string_view name, std::string_view up);

std::string cell_text(const ReportedCell* cell);
std::string section_text(const CellScore& score, Section section);

/// How it does by section, as a table; empty for the reference.
std::string profile_table(const ReportedSubmission& submission);

/// A link, and behind it how many attempts it made where those are several.
std::string matrix_name(const Aggregate& all, std::string_view name, std::string_view up);

/// "offset_ladder in [Layer norm](...)".
std::string check_text(const Aggregate& all, std::string_view challenge, std::string_view check,
                       std::string_view up);

/// Equally long runs of `names`, none longer than `widest`: GitHub scrolls tables beyond 8 columns.
std::vector<std::vector<std::string>> column_groups(const std::vector<std::string>& names,
                                                    std::size_t widest = 6);

/// A drawing as part of a page, with the words that stand for it; nothing when there is none.
std::string picture(const Files& plots, const std::string& path, std::string_view words,
                    std::string_view up);

/// What only the whole report holds, which is not kept in git: "`build/report/aggregate.json`".
std::string site_file(std::string_view path);

/// The rows that have cells, see Aggregate::rows, without the reference.
std::vector<std::string> contestants(const Aggregate& all);

}  // namespace gauntlet
