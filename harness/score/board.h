// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/score/compare.h"

namespace gauntlet {

/// The folder of the reference solutions stands in the matrix under this name and takes no place.
inline constexpr std::string_view kReferenceName = "reference";

/// True for a row of the reference, on whatever device.
bool is_reference_row(std::string_view row);

/// Mean score of a submission over the challenges in which it took part, at both ends of its range
/// (see Grade). A cell that broke, or in which nothing could be measured, may be worth anything: it
/// is 0 at the low end and 100 at the high end until it is graded again.
struct Mean {
  double score = 0;  // the low end
  double high = 0;
  int graded = 0;
  int broken = 0;
  int unmeasured = 0;
  int of = 0;            // challenges there are
  bool partial = false;  // some of the scores are

  int counted() const { return graded + broken + unmeasured; }
  Interval ends() const { return {score, high}; }
};

struct BoardCell {
  CellScore score;
  std::optional<Place> placement;  // among the comparable cells of its challenge
};

/// The low ends of its attempts, falling; its own where it is one attempt.
std::vector<double> low_ends_of(const CellScore& score);

/// Places in one challenge on one device, among those that the grader of most cells graded.
std::vector<std::optional<Place>> column_places(const Rubric& rubric,
                                                const std::vector<const CellScore*>& scores);

/// Whether several attempts of a submission are one row, or one each.
enum class Attempts { together, apart };

/// The grade matrix: everything that follows from the scores of many cells together. Its columns
/// are CellKey::column(). A row is a submission on a device; where that has one attempt only, or
/// attempts are apart, it is CellKey::row(). Where it has several, "bravo" is all of them together,
/// mean_of each challenge, and takes the places; "bravo#1", "bravo#2" are the single ones, which
/// take none, so that nobody is pushed down by how often another tried.
class Board {
 public:
  /// `challenges`: columns in the order to show; a challenge that only `cells` knows comes last.
  Board(const Rubric& rubric, const std::vector<CellObservation>& cells,
        std::vector<std::string> challenges, Attempts attempts = Attempts::together);

  /// The rows that take places, device by device: best mean first among those that were graded
  /// everywhere, then the others the same way, the reference last.
  const std::vector<std::string>& submissions() const { return submissions_; }

  /// The rows of its single attempts, by number; empty where it is one itself.
  const std::vector<std::string>& attempts(const std::string& submission) const;

  /// The row in which a cell stands itself, and the one that takes the places for it.
  std::string row(const CellKey& key) const;
  std::string submission(const CellKey& key) const;
  const std::vector<std::string>& challenges() const { return challenges_; }

  /// Those that count in the means of a device. All on the CPU; elsewhere those in which anybody
  /// has a cell there, the reference included, since few challenges are graded on it.
  std::vector<std::string> challenges_on(Device device) const;

  /// What was graded at another size than the standard one. It has places of its own and counts in
  /// no mean and no record.
  const std::vector<std::string>& other_sizes() const { return other_sizes_; }

  /// Of any row. Null when it did not take part.
  const BoardCell* find(const std::string& row, const std::string& challenge) const;
  const BoardCell* find(const CellKey& key) const { return find(row(key), key.column()); }

  /// Nothing when no cell was graded.
  std::optional<Mean> mean(const std::string& row) const;

  PairVerdict compare(const std::string& first, const std::string& second,
                      const std::string& challenge) const;
  Record record(const std::string& first, const std::string& second) const;

 private:
  void find_attempts(const std::vector<CellObservation>& cells);
  void add_means();
  /// `rows`: sorted, those that may have a place.
  void place(const std::string& challenge, Device device, const std::set<std::string>& rows);
  void order_submissions();

  Rubric rubric_;
  std::vector<std::string> submissions_;
  std::vector<std::string> challenges_;
  std::vector<std::string> other_sizes_;
  std::map<std::string, std::vector<std::string>> attempts_;  // of submissions that have several
  std::map<std::pair<std::string, std::string>, BoardCell> cells_;  // (row, column)
};

}  // namespace gauntlet
