#pragma once

#include <string>
#include <vector>

#include "harness/report/report.h"

namespace gauntlet {

/// What the report of `now` says otherwise than the one whose aggregate.json is `published`: a line
/// for each grade or solution that was replaced, with what is different about the later result.
/// `today` is when a changed rubric is applied. Throws UserError (file, field) for a damaged file.
std::vector<LedgerEntry> replaced_grades(const std::string& published,
                                         const std::string& shown_name, const ReportInput& now,
                                         const std::string& today);

}  // namespace gauntlet
