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
///   <root>/<submission>/<challenge>/observation.json   what was seen
///   <root>/<submission>/<challenge>/score.json         what the rubric made of it
///   <root>/<submission>/<challenge>/receipt.json       what proves that it was not arranged
///   <root>/<submission>/<challenge>/opened.json        the receipt of a run that has not ended
/// Every file is replaced as a whole; an interrupted write leaves the old one.
class ResultStore {
 public:
  using Remark = std::function<void(const std::string&)>;

  /// `remark` hears of what lies between the results and is none.
  explicit ResultStore(std::filesystem::path root, Remark remark = {})
      : root_(std::move(root)), remark_(std::move(remark)) {}

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path observation_file(const std::string& submission,
                                         const std::string& challenge) const;
  std::filesystem::path score_file(const std::string& submission,
                                   const std::string& challenge) const;

  std::filesystem::path receipt_file(const std::string& submission,
                                     const std::string& challenge) const;
  std::filesystem::path opened_file(const std::string& submission,
                                    const std::string& challenge) const;

  void save(const CellObservation& cell) const;
  void open_receipt(const Receipt& receipt) const;

  /// Replaces the receipt that was opened. Without a receipt, that of the observation before goes
  /// away: it proves nothing about this one.
  void close_receipt(const CellObservation& cell, const std::optional<Receipt>& receipt) const;

  /// Says that what follows are grades of the submission in `folder`, of a checkout at `checkout`.
  /// Throws UserError when there are grades of a folder elsewhere that has the same name.
  void claim(const std::string& submission, const std::filesystem::path& folder,
             const std::filesystem::path& checkout) const;
  void save_model_card(const std::string& submission, const ModelCard& card) const;

  /// Nothing when there is no such file. Throws UserError for a file that cannot be read, or that
  /// speaks of another cell than its folders do.
  std::optional<CellObservation> load(const std::string& submission,
                                      const std::string& challenge) const;
  std::optional<ModelCard> load_model_card(const std::string& submission) const;
  std::optional<Receipt> load_receipt(const std::string& submission,
                                      const std::string& challenge) const;

  /// Everything that is stored, sorted by submission, then challenge. Empty for a missing folder.
  /// Folders that no submission or challenge can have are remarked on and left out.
  std::vector<CellObservation> load_all() const;
  std::vector<std::string> submissions() const;

 private:
  using Refusal = std::string (*)(std::string_view name);  // empty for a name that is none
  std::vector<std::string> folders_in(const std::filesystem::path& folder, Refusal refuse,
                                      const Remark& remark) const;

  std::filesystem::path root_;
  Remark remark_;
};

/// Names of the folders in a folder, sorted; none when it does not exist. Throws UserError when it
/// cannot be read.
std::vector<std::string> folder_names(const std::filesystem::path& folder);

}  // namespace gauntlet
