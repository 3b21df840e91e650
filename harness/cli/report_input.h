#pragma once

#include "harness/cli/context.h"
#include "harness/report/report.h"

namespace gauntlet {

/// What every report is made from besides results: rubric, needs, challenges.
ReportInput report_frame(const Context& context);

/// The frame with everything that the folder of a report holds.
ReportInput report_input(const Context& context, const std::filesystem::path& folder);

/// Of a folder of report data: the grades that were replaced.
std::filesystem::path ledger_file(const ResultStore& data);

}  // namespace gauntlet
