// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/check.h"
#include "harness/core/stats.h"
#include "harness/store/observation.h"

namespace gauntlet {

/// The declared function from observations to grades: harness/score/rubric.yaml, which explains
/// every field. Scores are 0..100.
struct Rubric {
  struct Band {
    std::string letter;
    double at_least = 0;
  };

  std::array<double, 4> section_weights{};  // by Section
  std::array<double, 4> caps{};             // by Severity; never rising from minor to fatal
  std::vector<Band> letters;                // falling; the last begins at 0
  double tie_band = 0;
  double mean_band = 0;
  double narrow_below = 0;
  double moderate_below = 0;
  double full_ratio = 0;
  double zero_ratio = 0;
  double different_beyond = 0;
  double equal_within = 0;
  double most_noise = 0;
  std::vector<Section> passing;  // whose checks an attempt has to pass all, to count in pass@k
  int resamples = 0;
  double confidence = 0;  // 0..1
  std::string digest;     // of the file that it was read from

  double weight_of(Section section) const;
  double cap_of(Severity severity) const;
  const std::string& letter_of(double score) const;

  /// The integer that stands for a score: the nearest one that has the same letter.
  int printed(double score) const;

  /// Share of a timed check's points, 0..1, for reference time / solution time. NaN earns nothing.
  double speed_share(double ratio) const;

  /// True when the interval of the reference against itself spans no more than `most_noise` of the
  /// points.
  bool quiet(const SpeedMeasurement& speed) const;

  /// The 99 % interval of the ratio, widened by the factor by which the reference seemed to differ
  /// from itself where its own interval excludes 1, or by all of its noise in a race that was not
  /// quiet: so much of any other difference is not the solution's either.
  Interval ratio_interval(const SpeedMeasurement& speed) const;

  /// True when the race was quiet, or when its noise could not have moved this solution's points by
  /// more than `most_noise`, as of one far too slow. Only noise of the reference can leave a case
  /// out, that of the solution cannot: whoever is slow in a case could make some on purpose.
  bool counts(const SpeedMeasurement& speed) const;

  /// "faster", "slower", "as fast", "undecided" or "too noisy".
  std::string_view speed_verdict(const SpeedMeasurement& speed) const;
};

/// Throws UserError (file, line, key).
Rubric load_rubric(const std::filesystem::path& file);
Rubric rubric_from_yaml(const std::string& text, const std::string& shown_name);

}  // namespace gauntlet
