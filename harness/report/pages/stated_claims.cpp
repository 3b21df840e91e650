// SPDX-License-Identifier: Apache-2.0
#include "harness/report/pages/stated_claims.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/report/pages/pages.h"
#include "harness/report/text/markdown.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

using markdown::Table;

std::vector<std::string> columns_of(const JudgedClaim& judged) {
  const std::string measured =
      judged.measured.empty() ? unicode_signs().absent : markdown::text(judged.measured);
  return {std::string(name_of(judged.claim.kind)), markdown::text(claimed_text(judged.claim)),
          measured, std::string(name_of(judged.verdict)), markdown::text(judged.why)};
}

std::string fault_of(const ReportedCell& cell) {
  if (cell.claims_fault.empty()) return "";
  return fmt::format("Its claims cannot be read: {}\n\n", markdown::code(cell.claims_fault));
}

std::size_t count_of(const ReportedCell& cell, ClaimVerdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(cell.stated_claims.begin(), cell.stated_claims.end(),
                    [verdict](const JudgedClaim& one) { return one.verdict == verdict; }));
}

/// How many of the claims are true and how many false.
std::string tally(Claims& claims, const ReportedCell& cell, const std::string& id) {
  std::vector<std::string> verdicts;
  for (std::size_t i = 0; i < cell.stated_claims.size(); ++i)
    verdicts.push_back(fmt::format("{}/stated_claims/{}/verdict", claims.at(cell), i));
  const std::size_t held = count_of(cell, ClaimVerdict::holds);
  const std::size_t refuted = count_of(cell, ClaimVerdict::refuted);
  return claims.say(id,
                    fmt::format("Claims about this solution: {}; true: {}, false: {}, not "
                                "verifiable: {}.",
                                verdicts.size(), held, refuted, verdicts.size() - held - refuted),
                    predicate::all({predicate::count(verdicts, "true", held),
                                    predicate::count(verdicts, "false", refuted)}));
}

/// A claim that measurement contradicts, for a reader who looks for nothing else.
std::string contradiction(Claims& claims, const ReportedCell& cell, std::size_t i,
                          const std::string& id) {
  const JudgedClaim& judged = cell.stated_claims[i];
  const std::string at = fmt::format("{}/stated_claims/{}", claims.at(cell), i);
  std::vector<Json> parts{predicate::equal(at + "/verdict", name_of(ClaimVerdict::refuted))};
  if (judged.possible) parts.push_back(predicate::outside(at));
  return claims.say(fmt::format("{}/{}", id, name_of(judged.claim.kind)),
                    fmt::format("{} {} is false: measured {}.", name_of(judged.claim.kind),
                                claimed_text(judged.claim), judged.measured),
                    predicate::all(parts));
}

}  // namespace

std::string stated_claims_of(Claims& claims, const ReportedCell& cell) {
  if (cell.stated_claims.empty()) return fault_of(cell);
  const std::string id = fmt::format("stated/{}/{}", cell.submission(), cell.challenge());
  std::string text = "### What it claims\n\n" + tally(claims, cell, id) + "\n\n";
  std::string list;
  Table table({"Claim", "Claimed", "Measured", "Verdict", "Why"}, 5);
  for (std::size_t i = 0; i < cell.stated_claims.size(); ++i) {
    table.row(columns_of(cell.stated_claims[i]));
    if (cell.stated_claims[i].verdict == ClaimVerdict::refuted)
      list += "- " + contradiction(claims, cell, i, id) + "\n";
  }
  return text + (list.empty() ? "" : list + "\n") + table.str() + "\n";
}

}  // namespace gauntlet
