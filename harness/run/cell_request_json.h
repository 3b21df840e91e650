// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "harness/grading/cell.h"

namespace gauntlet {

/// Schema "gauntlet.cell-request/1": all that another process needs to grade a cell, on this
/// machine or another one that has the same checkout. The solution's files travel whole; the
/// challenge is named, and its limits are those of the checkout. Where a receipt is opened is not
/// said: that is a place of whoever grades.
std::string to_json(const CellRequest& request);

/// Reads what to_json wrote, and nothing else: throws UserError "<shown_name>: <field>: ..." for
/// unknown fields, for unknown challenges and checks, for files that are not those that were handed
/// in, and for the request of another grader than this program has.
CellRequest cell_request_from_json(const std::string& text, const std::string& shown_name,
                                   const std::filesystem::path& root);

}  // namespace gauntlet
