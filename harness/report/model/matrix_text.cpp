// SPDX-License-Identifier: Apache-2.0
#include "harness/report/model/matrix_text.h"

namespace gauntlet {
namespace {

std::string with_spread(const std::string& text, const AttemptSummary& summary,
                        const SubmissionAttempts& several, const Signs& signs) {
  const std::string spread = spread_text(summary, several.rows.size(), signs);
  return spread.empty() ? text : text + " " + spread;
}

}  // namespace

std::string matrix_text(const Aggregate& all, std::string_view row, std::string_view challenge,
                        const Signs& signs) {
  const auto scored = all.score(row, challenge);
  const std::string text = cell_text(scored ? &*scored : nullptr, signs);
  const SubmissionAttempts* several = all.attempts_of(row);
  const AttemptSummary* summary = several ? several->find(challenge) : nullptr;
  return summary ? with_spread(text, *summary, *several, signs) : text;
}

std::string matrix_mean(const Aggregate& all, const ReportedSubmission& submission,
                        const Signs& signs) {
  const std::string text = mean_text(all.rubric, submission.mean, signs);
  const SubmissionAttempts* several = all.attempts_of(submission.name);
  return several && several->overall ? with_spread(text, *several->overall, *several, signs) : text;
}

}  // namespace gauntlet
