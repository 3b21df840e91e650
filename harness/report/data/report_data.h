// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/report/model/grade_changes.h"
#include "harness/store/model_card.h"

namespace gauntlet {

/// The observations that a report is made from, as git keeps them:
///   <root>/<column>.jsonl       a line of what all cells of the challenge have in common, then one
///                               for each check, with every cell's answer; see fold.h
///   <root>/grades.jsonl         a line for each row: the grades that the pages say. Who is
///                               taken out of it is withdrawn with the next report
///   <root>/<submission>.yaml    the model card it was graded with; CellKey says what rows, columns
///                               and generations are, which name the cards
/// How long checks and builds took is left out. Whole results with their receipts stay where they
/// were graded; here are the digests that anybody can hold against such a receipt.
class ReportData {
 public:
  explicit ReportData(std::filesystem::path root) : root_(std::move(root)) {}

  /// By submission, then challenge; none for a missing folder. Throws UserError (file, line) for
  /// what cannot be read.
  std::vector<PublishedCell> load() const;
  std::map<std::string, ModelCard> cards() const;

  /// The cells as load() gives them back once they are saved.
  static std::vector<PublishedCell> as_kept(const std::vector<PublishedCell>& cells);

  /// Replaces everything by these.
  void save(const std::vector<PublishedCell>& cells,
            const std::map<std::string, ModelCard>& cards) const;

 private:
  std::filesystem::path root_;
};

}  // namespace gauntlet
