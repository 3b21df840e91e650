// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "harness/score/attempts.h"

namespace gauntlet {

/// The first line of every file that a report writes.
inline constexpr std::string_view kGeneratedMark =
    "<!-- Written by `./gauntlet report`; edits are lost. -->\n";

inline constexpr std::size_t kEvidenceBytes = 4000;  // of one finding, on a page

/// The signs that a cell of the matrix carries. A terminal may not know them all.
struct Signs {
  std::string absent;      // did not take part
  std::string unmeasured;  // nothing could be asked on this machine
  std::string broken;      // our fault
  std::string capped;
  std::string partial;   // some checks or timed cases were not measured
  std::string unproven;  // no receipt vouches for it
  std::string to;        // between the ends of a range
};
const Signs& unicode_signs();
const Signs& ascii_signs();

/// What the sign for it means, and how to mend it.
inline constexpr std::string_view kUnproven =
    "no signed receipt fits this grade, which anybody may have written; ./gauntlet grade --fresh "
    "grades again";

/// What the sign for a partial grade means.
inline constexpr std::string_view kPartial =
    "some checks or timed cases could not be measured and count as failed; where that decides the "
    "letter, a range runs from there to what they might have been worth.";

/// "A- 91", "n/m", "broken"; "B..A, 84 to 100" where what could not be measured decides the letter.
std::string grade_text(const CellScore& score, const Signs& signs);

/// A matrix cell: "B+ 89† (2nd=)"; null: did not take part.
std::string cell_text(const BoardCell* cell, const Signs& signs);

/// How far several attempts lie apart by low ends: "60–91#2", the lowest, the best and which one
/// that is; " of 2" behind it where fewer than `made` took part.
std::string spread_text(const AttemptSummary& summary, std::size_t made, const Signs& signs);

/// What spread_text means.
inline constexpr std::string_view kSpread =
    "how far several attempts lie apart, behind their mean.";

/// "pass@1 0.33, pass@2 0.67"; "0.33..0.67" where what could not be measured may have passed.
std::string pass_text(const AttemptSummary& summary);

/// "1 of 3"; "1 to 2 of 3" where one that could not be measured may have passed.
std::string passed_text(const AttemptSummary& summary);

/// "1 to 2 of 3 passed; pass@1 0.33..0.67; standard deviation 4.2".
std::string attempts_text(const AttemptSummary& summary);

/// "98.4", "75.3 to 98.4" where something is missing, "n/m" where everything is.
std::string section_text(const SectionScore& section, const Signs& signs);

/// "A- 90.9 (8 of 8)", "B+..A-, 88.2 to 91 (8 of 8)".
std::string mean_text(const Rubric& rubric, const std::optional<Mean>& mean, const Signs& signs);

/// "offset_ladder (critical) holds 91.4 down to 79", for a capped score.
std::string cap_text(const CellScore& score);

/// "./gauntlet show bravo CHALLENGE/offset_ladder".
std::string show_command(std::string_view submission, std::string_view challenge,
                         std::string_view check);

/// "./gauntlet rerun bravo CHALLENGE --check offset_ladder --seed 0x...".
std::string rerun_command(const CellObservation& cell, const std::string& check);

/// A ratio of speeds: two decimals, two digits when it is small: "2.35", "0.013".
std::string ratio_text(double ratio);

/// "0.26x (0.25–0.27)".
/// A share of the machine's ceiling, if it is one: above 105 % the ceiling was found too low, and
/// older observations have such.
std::optional<double> ceiling_share(const std::optional<double>& seen);

std::string speed_text(const SpeedMeasurement& speed);

/// A score without needless digits: "79", "91.4".
std::string points(double score);

/// "by 3 points": enough digits for differences and means.
std::string signed_points(double difference);

/// "90.4" where the ends are one, "90.4 to 91.4".
std::string ends_text(const Interval& ends);

/// "90.4–91.4".
std::string range_text(const Interval& range);

}  // namespace gauntlet
