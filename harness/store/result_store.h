// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/store/model_card.h"
#include "harness/store/observation.h"
#include "harness/store/receipt.h"

namespace gauntlet {

/// The results of many submissions in a folder:
///   <root>/<submission>/model.yaml                     the model card it was graded with
///   <root>/<submission>/graded_from                    the folder that these are grades of
///   <root>/<submission>/<cell>/observation.json        what was seen
///   <root>/<submission>/<cell>/score.json              what the rubric made of it
///   <root>/<submission>/<cell>/receipt.json            what proves that it was not arranged
///   <root>/<submission>/<cell>/opened.json             the receipt of a run that has not ended
///   <root>/<submission>/attempts/<N>/...               the same for each attempt after the first
/// where <cell> is <challenge>[.SIZE][@DEVICE], without what is usual.
/// Every file is replaced as a whole; an interrupted write leaves the old one.
class ResultStore {
 public:
  using Remark = std::function<void(const std::string&)>;

  /// `remark` hears of what lies between the results and is none.
  explicit ResultStore(std::filesystem::path root, Remark remark = {})
      : root_(std::move(root)), remark_(std::move(remark)) {}

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path observation_file(const CellKey& key) const;
  std::filesystem::path score_file(const CellKey& key) const;
  std::filesystem::path receipt_file(const CellKey& key) const;
  std::filesystem::path opened_file(const CellKey& key) const;

  void save(const CellObservation& cell) const;
  void open_receipt(const Receipt& receipt) const;

  /// Replaces the receipt that was opened. Without a receipt, that of the observation before goes
  /// away: it proves nothing about this one.
  void close_receipt(const CellObservation& cell, const std::optional<Receipt>& receipt) const;

  /// Says that what follows are grades of the submission's attempt in `folder`, of a checkout at
  /// `checkout`; challenge and device of the key say nothing. Throws UserError when there are
  /// grades of a folder elsewhere that has the same name.
  void claim(const CellKey& generation, const std::filesystem::path& folder,
             const std::filesystem::path& checkout) const;
  /// What claim() wrote down: a folder within the checkout, or a whole path; nothing where it never
  /// did.
  std::optional<std::string> graded_from(const CellKey& generation) const;
  void save_graded_from(const CellKey& generation, const std::string& folder) const;

  void save_model_card(const CellKey& generation, const ModelCard& card) const;

  /// Nothing when there is no such file. Throws UserError for a file that cannot be read, or that
  /// speaks of another cell than its folders do.
  std::optional<CellObservation> load(const CellKey& key) const;
  std::optional<ModelCard> load_model_card(const CellKey& generation) const;
  std::optional<Receipt> load_receipt(const CellKey& key) const;

  /// Of which cells there are folders, sorted by submission, then attempt. Empty for a missing
  /// folder. What no submission, attempt or challenge can be called is remarked on and left out.
  std::vector<CellKey> keys() const;

  /// Everything that is stored, in that order, or what is asked for of it.
  using Wanted = std::function<bool(const CellKey&)>;
  std::vector<CellObservation> load_all(const Wanted& wanted = {}) const;
  std::vector<std::string> submissions() const;

 private:
  using Refusal = std::function<std::string(std::string_view name)>;  // empty for a good name
  std::vector<std::string> folders_in(const std::filesystem::path& folder, const Refusal& refuse,
                                      const Remark& remark) const;
  std::filesystem::path generation_folder(const CellKey& key) const;
  std::filesystem::path graded_from_file(const CellKey& generation) const;
  std::filesystem::path cell_folder(const CellKey& key) const;
  void add_keys(const CellKey& generation, std::vector<CellKey>& keys) const;

  std::filesystem::path root_;
  Remark remark_;
};

/// Names of the folders in a folder, sorted; none when it does not exist. Throws UserError when it
/// cannot be read.
std::vector<std::string> folder_names(const std::filesystem::path& folder);

}  // namespace gauntlet
