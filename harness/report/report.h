#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/score/board.h"
#include "harness/score/needs.h"
#include "harness/store/audit_record.h"
#include "harness/store/judgement.h"
#include "harness/store/ledger.h"
#include "harness/store/papers.h"

namespace gauntlet {

/// A column of the matrix, as challenges/<id>/challenge.yaml describes it.
struct ChallengeTitle {
  std::string id;
  std::string title;
  std::string difficulty;
  int round = 0;
  std::string asks = {};  // the first paragraph of PROMPT.md
};

/// All that a report is made from. The same value gives the same bytes, whatever the order of
/// cells.
struct ReportInput {
  Rubric rubric;
  std::vector<ChallengeTitle> challenges;  // columns in order
  std::vector<CellObservation> cells;
  std::map<std::string, Papers> papers;  // by submission; the reference has none
  std::vector<Need> needs;
  std::vector<LedgerEntry> ledger;
  std::map<std::string, Judgement> judgements;  // published grades by the name of their file
  std::vector<AuditRecord> audits;
};

/// Every file by its path below the report folder: "README.md", "submissions/alpha.md". Throws
/// Broken when a number or a sentence in them does not hold when it is judged again.
std::map<std::string, std::string> render_report(const ReportInput& input);

/// Where the curve of a check is drawn: "plots/alpha/first_speed_0.svg".
std::string plot_path(std::string_view submission, std::string_view challenge,
                      std::string_view check, std::size_t curve);

/// The first line of every file that was written by this program.
inline constexpr std::string_view kGeneratedMark =
    "<!-- Written by `./gauntlet report`; edits are lost. -->\n";

}  // namespace gauntlet
