// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/score/board.h"
#include "harness/store/judgement.h"

namespace gauntlet {

/// What follows from the letters of a published judgement, computed by the rules that measured
/// scores are ranked by, with grade points in place of scores and no tie band: equal letters tie.
class Recount {
 public:
  explicit Recount(Judgement judgement) : judgement_(std::move(judgement)) {}

  const Judgement& judgement() const { return judgement_; }

  /// Best mean first among those that took everything, then the others; equal ones by name.
  std::vector<std::string> models() const;

  /// Grade points; nothing without a grade.
  std::optional<Mean> mean(const std::string& model) const;
  std::optional<Mean> mean(const std::string& model, int round) const;
  bool complete(const std::string& model) const;

  /// Rounds in which the model has a grade, ascending.
  std::vector<int> rounds(const std::string& model) const;

  std::optional<Place> place(const std::string& model, const std::string& challenge) const;
  std::optional<Place> place(const std::string& model, int round) const;  // by mean
  std::optional<Place> rank(const std::string& model) const;  // by mean, of complete models

  /// By letters over `challenges`; those that either did not take are not comparable.
  Record record(const stated::Two& models, const std::vector<std::string>& challenges) const;

  /// By the winners that the document itself names; nothing when it compares the two nowhere.
  std::optional<Record> named_record(const std::string& document, const stated::Two& models) const;

  /// +1 the first has the better letter, -1 the second, 0 the same; nothing without both.
  std::optional<int> better(const stated::Two& models, const std::string& challenge) const;

 private:
  Judgement judgement_;
};

/// A winner that the letters of the same judgement deny.
struct DeniedWinner {
  const Judgement::Pair* pair = nullptr;
  const Judgement::Winner* winner = nullptr;
  std::string letters;  // "A- and A"
};
std::vector<DeniedWinner> denied_winners(const Recount& recount);

/// Two graded and scored cells of which the one with the lower score, or the same, has the better
/// letter: no function from scores to letters gives both.
struct Inversion {
  const Judgement::Score* lower = nullptr;
  const Judgement::Score* higher = nullptr;
};
std::vector<Inversion> inversions(const Judgement& judgement);

/// Whether the judgement's own figures bear a statement out.
enum class Truth { holds, contradicted, cannot_tell };

struct Examined {
  Truth truth = Truth::cannot_tell;
  std::string figures;  // what the figures say instead, or to confirm it
};
Examined examine(const Recount& recount, const Judgement::Statement& statement);

}  // namespace gauntlet
