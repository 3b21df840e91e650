// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "harness/report/model/report_input.h"

namespace gauntlet {

/// Every file by its path below a folder: "README.md", "submissions/alpha.md", "index.html".
std::map<std::string, std::string> render_report(const ReportInput& input);

/// Whether a file of a report is for git: pages and the plots that they show. The others are for
/// whoever wants everything: one page a pair, all drawings, the page in HTML, JSON.
bool is_for_git(std::string_view path);

}  // namespace gauntlet
