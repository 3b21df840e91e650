// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/exit_codes.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

namespace gauntlet {
namespace {

constexpr std::array<ExitCodeMeaning, 9> kMeanings{{
    {kExitDone, "did what was asked; a bad grade alone is no failure"},
    {kExitGateFailed,
     "a gate that was asked for failed: --fail-under, --min-grade, --no-regression, report "
     "--check, "
     "audit, verify; of sanitize: something may not be published yet"},
    {kExitUsage, "usage or configuration error: unknown option, challenge or key"},
    {kExitInvalidSubmission, "invalid submission: a required file is missing or malformed"},
    {kExitNothingMatched, "nothing matched what was named"},
    {kExitIncomplete,
     "incomplete: the grader could not do its part, or verify did not confirm all; never a "
     "submission's fault"},
    {kExitInternal, "internal error: a bug in Gauntlet"},
    {kExitInterrupted, "interrupted by Ctrl-C; grade keeps the cells that it finished"},
    {kExitTerminated, "terminated; grade keeps the cells that it finished"},
}};

constexpr std::array kWorstFirst{kExitInterrupted,    kExitTerminated,        kExitInternal,
                                 kExitUsage,          kExitInvalidSubmission, kExitIncomplete,
                                 kExitNothingMatched, kExitGateFailed,        kExitDone};

}  // namespace

int worse_exit_code(int a, int b) {
  const auto rank = [](int code) {
    return std::find(kWorstFirst.begin(), kWorstFirst.end(), code) - kWorstFirst.begin();
  };
  return rank(a) <= rank(b) ? a : b;
}

std::span<const ExitCodeMeaning> exit_code_meanings() {
  return kMeanings;
}

std::string exit_codes_text() {
  std::string text;
  for (const auto& row : kMeanings) text += fmt::format("{:>4}  {}\n", row.code, row.meaning);
  return text;
}

}  // namespace gauntlet
