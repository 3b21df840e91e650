#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/report/aggregate.h"
#include "harness/report/claims.h"

namespace gauntlet {

inline constexpr std::size_t kEvidenceBytes = 4000;  // of one finding, on a page

// Each page is whole; the sentences that it asserts go through `claims`.
std::string render_index(const Aggregate& all, Claims& claims);
std::string render_ranking(const Aggregate& all, Claims& claims);
std::string render_rounds(const Aggregate& all, Claims& claims);
std::string render_pairs(const Aggregate& all, Claims& claims);  // the list of all pairs
std::string render_pair(const Aggregate& all, Claims& claims, const ReportedPair& pair);
std::string render_challenge(const Aggregate& all, Claims& claims, const ReportedChallenge& column);
std::string render_submission(const Aggregate& all, Claims& claims,
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

std::string cell_text(const Aggregate& all, const ReportedCell* cell);

/// "offset_ladder in [Layer norm](...)".
std::string check_text(const Aggregate& all, std::string_view challenge, std::string_view check,
                       std::string_view up);

/// "by 3 points": enough digits for differences and means.
std::string signed_points(double difference);

/// "90.4–91.4".
std::string range_text(const Interval& range);

/// Equally long runs of `names`, none longer than `widest`: GitHub scrolls tables beyond 8 columns.
std::vector<std::vector<std::string>> column_groups(const std::vector<std::string>& names,
                                                    std::size_t widest = 6);

/// What one check saw of one submission, in few words: "wrong: dx[0]: got 1, want 2", "passed". As
/// hostile as the finding is.
std::string outcome_text(const ReportedCell* cell, std::string_view check);

/// A drawing as part of a page, with the words that stand for it; nothing for an empty drawing.
std::string picture(std::string_view words, std::string_view path, const std::string& drawing);

/// "0.26x (0.25–0.27)".
std::string speed_text(const SpeedMeasurement& speed);

/// "mutants that its own tests kill: 68 of 75".
std::string fact_text(const Fact& fact);

/// Names of the submissions without the reference.
std::vector<std::string> contestants(const Aggregate& all);

}  // namespace gauntlet
