// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/report/html/element.h"
#include "harness/report/model/aggregate.h"

namespace gauntlet::html {

/// The grade of a cell as a link to its section.
void add_grade_link(pugi::xml_node parent, const ReportedCell& cell);

/// The section of a cell, which shows when it is the target of a link: sections, findings, claims.
void add_cell(pugi::xml_node parent, const Aggregate& aggregate, const ReportedCell& cell);

}  // namespace gauntlet::html
