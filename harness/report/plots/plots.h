// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "harness/report/model/aggregate.h"
#include "harness/store/audit_record.h"

namespace gauntlet {

/// The drawings of the whole report, as SVG files. Each says in its description what it shows.

/// Grade matrix as a heat map, with letters in the boxes.
std::string draw_matrix(const Aggregate& aggregate);

/// Mean score by round, a line for each of the first submissions.
std::string draw_trajectory(const Aggregate& aggregate);

/// Timed cases of a challenge against the reference, with 99 % intervals and the machine's ceiling,
/// on a logarithmic axis. Empty when nothing was timed.
std::string draw_speed(const Aggregate& aggregate, const std::string& challenge);

/// How near each timed case comes to the machine's ceiling, by challenge. Empty when nothing is
/// known of ceilings.
std::string draw_ceilings(const Aggregate& aggregate);

/// Which check failed which known-wrong solution.
std::string draw_kills(const AuditRecord& audit);

/// All of them, and the curves of checks, by their path below the report folder; empty ones are
/// left out.
std::map<std::string, std::string> draw_plots(const Aggregate& aggregate);

}  // namespace gauntlet
