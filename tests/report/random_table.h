// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <fmt/format.h>
#include <string>

#include "harness/core/rng.h"
#include "tests/report/demo.h"

namespace gauntlet {

/// Checks of one challenge: some critical, some timed, with weights of their own; most ask about
/// correctness and robustness, as graders do.
inline std::vector<CheckInfo> random_checks(Rng& rng, int count) {
  std::vector<CheckInfo> checks;
  for (int i = 0; i < count; ++i) {
    constexpr std::array kSections{Section::correctness, Section::correctness, Section::correctness,
                                   Section::robustness,  Section::robustness,  Section::robustness,
                                   Section::performance, Section::engineering};
    const auto section =
        i < 4 ? static_cast<Section>(i) : kSections.at(static_cast<std::size_t>(rng.integer(0, 7)));
    const auto severity = static_cast<Severity>(rng.integer(0, 2));
    checks.push_back({fmt::format("check_{}", i), fmt::format("fault {}", i), section,
                      rng.uniform(0.5, 3), severity});
  }
  return checks;
}

inline CheckObservation random_check(Rng& rng, const CheckInfo& info, double skill) {
  CheckObservation check = sample::passed(info.id);
  check.info = info;
  if (rng.chance(0.01)) {
    check.verdict = Verdict::unmeasured;
  } else if (!rng.chance(skill)) {
    check.verdict = static_cast<Verdict>(rng.integer(1, 6));
  } else if (info.section == Section::performance) {
    const double ratio = rng.uniform(0.1, 1.4);
    const double noise = rng.uniform(1.001, 1.3);
    check.speeds.push_back({"a case", 9, 1000 / ratio, 1000, ratio, ratio / noise, ratio * noise,
                            0.99, 1.01, ratio / 2, 0.5});
    check.facts.push_back({"peak memory", rng.uniform(1, 100), "MiB"});
  } else if (rng.chance(0.2)) {
    check.earned = rng.uniform();
  }
  if (check.verdict != Verdict::passed)
    check.finding = Finding{check.verdict, "a case", "y[3]: got 1, want 2", {"a row"}, {}};
  return check;
}

/// Submissions of different skill on challenges of three rounds: some did not take part, some did
/// not build.
inline ReportInput random_table(std::uint64_t seed, int submissions, int challenges, int checks) {
  Rng rng(seed);
  ReportInput input = demo::input();
  input.cells.clear();
  input.challenges.clear();
  for (int c = 0; c < challenges; ++c) {
    const std::string id = fmt::format("challenge_{}", c);
    input.challenges.push_back({id, fmt::format("Challenge {}", c), "hard", c / 3 + 1, ""});
    const auto asked = random_checks(rng, checks);
    for (int s = 0; s < submissions; ++s) {
      const double skill = rng.uniform(0.6, 1.02);
      if (rng.chance(0.06)) continue;
      CellObservation cell = sample::cell(fmt::format("model-{:02}", s), id);
      cell.build.ok = !rng.chance(0.03);
      for (const CheckInfo& info : asked)
        if (cell.build.ok) cell.checks.push_back(random_check(rng, info, skill));
      input.cells.push_back(cell);
    }
  }
  return input;
}

/// The same, where every second submission is a further attempt of the one before it.
inline ReportInput random_attempts(std::uint64_t seed, int submissions, int challenges,
                                   int checks) {
  ReportInput input = random_table(seed, submissions, challenges, checks);
  for (auto& cell : input.cells) {
    const int own = std::stoi(cell.key.submission.substr(cell.key.submission.find('-') + 1));
    cell.key.submission = fmt::format("model-{:02}", own / 2);
    cell.key.attempt = own % 2 + 1;
  }
  return input;
}

}  // namespace gauntlet
