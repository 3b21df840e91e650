// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "harness/audit/wild.h"
#include "harness/report/terminal/terminal.h"
#include "harness/store/json_fields.h"

namespace gauntlet {

/// What a report on wild mutants is about, for its texts.
struct WildFrame {
  std::string challenge;
  Seed seed;
  std::filesystem::path root;   // of the checkout, which paths are told from
  std::filesystem::path cache;  // where mutants that are worth reading are kept
};

/// The mutant as a submission of one challenge, in a folder that `rerun` takes.
std::filesystem::path wild_folder(const WildFrame& frame, const WildMutant& mutant);
void keep_wild(const WildFrame& frame, const WildMutant& mutant);

/// A mutant with what became of it, where it is, its line before and after, and for one that fewer
/// than two checks noticed a command that shows the change and one that asks it again.
std::string wild_row_text(const WildFrame& frame, const WildRow& row, const TerminalStyle& style);

/// One line. Of a report that is not whole, it says so.
std::string wild_summary(const WildFrame& frame, const WildReport& report);

Json wild_document(const WildFrame& frame, const WildReport& report);

}  // namespace gauntlet
