// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "harness/build/challenge.h"
#include "harness/cli/report_input.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/hold_interrupts.h"
#include "harness/core/machine.h"
#include "harness/core/names.h"
#include "harness/core/text.h"
#include "harness/score/recount.h"
#include "harness/store/judgement_changes.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

/// A judgement may speak of challenges that this checkout has, under their ids, and of no other.
void require_known_challenges(const Context& context, const Judgement& judgement,
                              const fs::path& file) {
  const auto known = context.challenges();
  for (const auto& challenge : judgement.challenges) {
    if (std::find(known.begin(), known.end(), challenge.id) != known.end()) continue;
    const std::string hint = did_you_mean(challenge.id, known);
    throw UserError(fmt::format("{}: challenges: '{}' is no challenge{}", file.string(),
                                challenge.id,
                                hint.empty() ? "; known: " + sentence_list(known) : hint));
  }
}

/// What the ledger is told of the grades that lie there already.
std::vector<LedgerEntry> replaced_grades(const Context& context, const fs::path& kept,
                                         const Judgement& judgement) {
  if (!fs::exists(kept)) return {};
  try {
    const auto entries =
        judgement_changes(read_judgement(kept), judgement, utc_now(),
                          fmt::format("{} was imported again", kept.filename().string()));
    if (!entries.empty())
      context.remark(fmt::format("{} held other grades; they are replaced", kept.string()));
    return entries;
  } catch (const UserError& error) {
    context.remark(fmt::format("what it replaces cannot be read: {}", error.what()));
    return {};
  }
}

}  // namespace

VerbResult import_judgement(const Context& context, const ImportOptions& options) {
  const std::string name = options.file.stem().string();
  if (!is_plain_name(name) || options.file.extension() != ".yaml")
    throw UserError(
        fmt::format("{}: must be named NAME.yaml, NAME of lower-case letters, digits, "
                    "'.', '-' and '_'",
                    printable(options.file.string(), 300)));
  const std::string text = read_file(options.file, kJudgementFile);
  const Judgement judgement = judgement_from_yaml(text, options.file.string());
  require_known_challenges(context, judgement, options.file);
  const Recount recount(judgement);
  int contradicted = 0;
  for (const auto& statement : judgement.statements)
    contradicted += examine(recount, statement).truth == Truth::contradicted ? 1 : 0;
  const fs::path kept = options.folder / "judged" / (name + ".yaml");
  const HoldInterrupts hold;  // the grades and the ledger belong together
  append_to_ledger(ledger_file(options.folder), replaced_grades(context, kept, judgement));
  write_file(kept, text);
  VerbResult answer;
  answer.text = fmt::format(
      "{}\n{} grades of {} models, judged, not measured; {} of {} statements contradict them.\n"
      "Next: ./gauntlet report\n",
      kept.string(), judgement.grades.size(), judgement.models.size(), contradicted,
      judgement.statements.size());
  answer.document = {{"schema", "gauntlet.import/1"},
                     {"file", kept.string()},
                     {"models", judgement.models.size()},
                     {"grades", judgement.grades.size()},
                     {"statements", judgement.statements.size()},
                     {"contradicted", contradicted}};
  return answer;
}

}  // namespace gauntlet
