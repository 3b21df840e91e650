// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/cli/context.h"
#include "harness/report/data/report_data.h"
#include "harness/report/model/report_input.h"

namespace gauntlet {

/// What every report is made from besides results: rubric, needs, challenges.
ReportInput report_frame(const Context& context);

/// The frame with everything that the folder of a report holds.
ReportInput report_input(const Context& context, const std::filesystem::path& folder);

/// What the checkout's own report was made from, without what was withdrawn.
std::vector<CellObservation> published_cells(const Context& context);

// Parts of a report's folder.
ReportData report_data(const std::filesystem::path& folder);
std::filesystem::path ledger_file(
    const std::filesystem::path& folder);  // grades that were replaced

}  // namespace gauntlet
