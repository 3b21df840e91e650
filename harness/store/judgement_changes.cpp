// SPDX-License-Identifier: Apache-2.0
#include "harness/store/judgement_changes.h"

namespace gauntlet {

std::vector<LedgerEntry> judgement_changes(const Judgement& before, const Judgement& after,
                                           const std::string& when, const std::string& because) {
  std::vector<LedgerEntry> entries;
  for (const Judgement::Grade& grade : before.grades) {
    const Judgement::Grade* now = after.find(grade.model, grade.challenge);
    if (now && now->letter == grade.letter) continue;
    entries.push_back({when,
                       grade.model,
                       grade.challenge,
                       "judged " + grade.letter,
                       now ? "judged " + now->letter : "withdrawn",
                       {because}});
  }
  return entries;
}

}  // namespace gauntlet
