// SPDX-License-Identifier: Apache-2.0
#include "harness/score/attempt_mean.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

namespace gauntlet {
namespace {

using Scores = std::vector<const CellScore*>;

Interval mean_interval(const Scores& attempts,
                       const std::function<Interval(const CellScore&)>& value) {
  Interval sum;
  for (const CellScore* one : attempts) {
    const Interval own = value(*one);
    sum = {sum.low + own.low, sum.high + own.high};
  }
  const auto count = static_cast<double>(attempts.size());
  return {sum.low / count, sum.high / count};
}

CellStatus status_of(const Scores& attempts) {
  const auto any = [&](CellStatus status) {
    return std::any_of(attempts.begin(), attempts.end(),
                       [&](const CellScore* one) { return one->status == status; });
  };
  if (any(CellStatus::graded)) return CellStatus::graded;
  return any(CellStatus::broken) ? CellStatus::broken : CellStatus::unmeasured;
}

const SectionScore* find_section(const CellScore& score, Section section) {
  for (const SectionScore& one : score.sections)
    if (one.section == section) return &one;
  return nullptr;
}

void add_sections(const Scores& attempts, CellScore& mean) {
  for (const Section section : kAllSections) {
    SectionScore together{section};
    for (const CellScore* one : attempts)
      if (const SectionScore* own = find_section(*one, section)) {
        together.asked = together.asked || own->asked;
        together.measured += own->measured;
        together.total += own->total;
      }
    if (together.total == 0) continue;
    const Interval ends = mean_interval(attempts, [&](const CellScore& one) {
      const SectionScore* own = find_section(one, section);
      return own ? Interval{own->score, own->high} : Interval{0, 100};
    });
    together.score = ends.low;
    together.high = ends.high;
    mean.sections.push_back(together);
  }
}

/// Each check once; it was asked if any attempt was.
void add_caps(const Scores& attempts, CellScore& mean) {
  for (const CellScore* one : attempts)
    for (const Cap& cap : one->caps) {
      const auto known = std::find_if(mean.caps.begin(), mean.caps.end(), [&](const Cap& other) {
        return other.check == cap.check && other.severity == cap.severity;
      });
      if (known == mean.caps.end())
        mean.caps.push_back(cap);
      else
        known->not_asked = known->not_asked && cap.not_asked;
    }
  std::stable_sort(mean.caps.begin(), mean.caps.end(),
                   [](const Cap& a, const Cap& b) { return a.cap < b.cap; });
}

void add_missing(const Scores& attempts, CellScore& mean) {
  for (const CellScore* one : attempts) {
    mean.broken += one->broken;
    for (const auto& what : one->not_measured)
      mean.not_measured.push_back(fmt::format("attempt {}: {}", one->key.attempt, what));
    for (const auto& why : one->reasons)
      mean.reasons.push_back(fmt::format("attempt {}: {}", one->key.attempt, why));
    if (one->score || !one->not_measured.empty()) continue;
    mean.not_measured.push_back(fmt::format("attempt {}", one->key.attempt));
    mean.reasons.push_back(fmt::format("attempt {}: {}", one->key.attempt, name_of(one->status)));
  }
}

void add_scores(const Rubric& rubric, const Scores& attempts, CellScore& mean) {
  const auto ends = mean_interval(attempts, [](const CellScore& one) {
    return one.score ? one.ends() : Interval{0, 100};
  });
  const auto raw = mean_interval(attempts, [](const CellScore& one) {
    return Interval{one.raw.value_or(0), one.high_raw.value_or(100)};
  });
  mean.score = ends.low;
  mean.high = ends.high;
  mean.raw = raw.low;
  mean.high_raw = raw.high;
  mean.grade = grade_of(rubric, ends);
  mean.measured = mean_interval(attempts, [](const CellScore& one) {
    return one.measured.value_or(Interval{0, 0});
  });
  mean.range = mean_interval(attempts, [](const CellScore& one) {
    return one.range.value_or(Interval{0, 100});
  });
  for (const CellScore* one : attempts) mean.attempts.push_back(one->score.value_or(0));
  std::sort(mean.attempts.begin(), mean.attempts.end(), std::greater<>());
}

}  // namespace

CellScore mean_of(const Rubric& rubric, const Scores& attempts) {
  const CellScore& first = *attempts.front();
  const auto all = [&](auto&& holds) {
    return std::all_of(attempts.begin(), attempts.end(),
                       [&](const CellScore* one) { return holds(*one); });
  };
  CellScore mean;
  mean.key = first.key;
  mean.key.attempt = 1;
  mean.status = status_of(attempts);
  mean.failed_to_build = all([](const CellScore& one) { return one.failed_to_build; });
  mean.unproven = !all([](const CellScore& one) { return !one.unproven; });
  mean.grader_digest =
      all([&](const CellScore& one) { return one.grader_digest == first.grader_digest; })
          ? first.grader_digest
          : "several, of " + mean.key.text();  // which no other cell has
  add_sections(attempts, mean);
  add_caps(attempts, mean);
  add_missing(attempts, mean);
  if (mean.status == CellStatus::graded) add_scores(rubric, attempts, mean);
  return mean;
}

}  // namespace gauntlet
