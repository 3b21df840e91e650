#include "harness/store/result_store.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/names.h"
#include "harness/core/text.h"
#include "harness/store/observation_json.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

std::string why_no_challenge_name(std::string_view name) {
  if (is_plain_name(name)) return "";
  return fmt::format("'{}' is no name of a challenge", one_line(name, 80));
}

void require_submission(const std::string& name) {
  if (const std::string why = why_no_submission_name(name); !why.empty()) throw UserError(why);
}

void require_challenge_name(const std::string& name) {
  if (const std::string why = why_no_challenge_name(name); !why.empty()) throw UserError(why);
}

}  // namespace

std::vector<std::string> folder_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code no_folder;  // a link that leads nowhere
    if (entry->is_directory(no_folder)) names.push_back(entry->path().filename().string());
  }
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
    throw UserError(fmt::format("cannot read the folder {}: {}; make it readable, or move it away",
                                printable(folder.string(), 400), error.message()));
  std::sort(names.begin(), names.end());
  return names;
}

fs::path ResultStore::observation_file(const std::string& submission,
                                       const std::string& challenge) const {
  return root_ / submission / challenge / "observation.json";
}

fs::path ResultStore::score_file(const std::string& submission,
                                 const std::string& challenge) const {
  return root_ / submission / challenge / "score.json";
}

fs::path ResultStore::receipt_file(const std::string& submission,
                                   const std::string& challenge) const {
  return root_ / submission / challenge / "receipt.json";
}

fs::path ResultStore::opened_file(const std::string& submission,
                                  const std::string& challenge) const {
  return root_ / submission / challenge / "opened.json";
}

void ResultStore::open_receipt(const Receipt& receipt) const {
  require_submission(receipt.submission);
  require_challenge_name(receipt.challenge);
  write_file(opened_file(receipt.submission, receipt.challenge), to_json(receipt));
}

void ResultStore::close_receipt(const CellObservation& cell,
                                const std::optional<Receipt>& receipt) const {
  const fs::path closed = receipt_file(cell.submission, cell.challenge);
  if (receipt)
    write_file(closed, to_json(*receipt));
  else
    fs::remove(closed);
  fs::remove(opened_file(cell.submission, cell.challenge));
}

void ResultStore::save(const CellObservation& cell) const {
  require_submission(cell.submission);
  require_challenge_name(cell.challenge);
  write_file(observation_file(cell.submission, cell.challenge), to_json(cell));
}

void ResultStore::claim(const std::string& submission, const fs::path& folder,
                        const fs::path& checkout) const {
  require_submission(submission);
  const fs::path file = root_ / submission / "graded_from";
  const fs::path here = fs::absolute(folder).lexically_normal();
  const fs::path within = here.lexically_relative(fs::absolute(checkout).lexically_normal());
  const bool inside = !within.empty() && *within.begin() != "..";
  const fs::path now = inside ? within : here;  // so that a checkout may be moved
  fs::path before = now;
  if (fs::exists(file))
    before = read_file(file, kModelCardFile);
  else if (!folder_names(root_ / submission).empty())
    before = fs::path("submissions") / submission;  // graded before this was written down
  std::error_code gone;
  if (before != now && !fs::equivalent(checkout / before, folder, gone))
    throw UserError(fmt::format(
        "{} has grades of {}, not of {}: rename the folder, or keep its grades apart with "
        "--results FOLDER",
        (root_ / submission).string(), printable(before.string(), 400),
        printable(here.string(), 400)));
  write_file(file, before.string());
}

void ResultStore::save_model_card(const std::string& submission, const ModelCard& card) const {
  require_submission(submission);
  write_file(root_ / submission / "model.yaml", model_card_to_yaml(card));
}

std::optional<CellObservation> ResultStore::load(const std::string& submission,
                                                 const std::string& challenge) const {
  require_submission(submission);
  require_challenge_name(challenge);
  const fs::path file = observation_file(submission, challenge);
  if (!fs::exists(file)) return std::nullopt;
  CellObservation cell = observation_from_json(read_file(file, kResultFile), file.string());
  if (cell.submission != submission || cell.challenge != challenge)
    throw UserError(fmt::format("{}: is about {}/{}; move it back or remove it", file.string(),
                                printable(cell.submission, 80), printable(cell.challenge, 80)));
  return cell;
}

std::optional<ModelCard> ResultStore::load_model_card(const std::string& submission) const {
  require_submission(submission);
  const fs::path file = root_ / submission / "model.yaml";
  if (!fs::exists(file)) return std::nullopt;
  return model_card_from_yaml(read_file(file, {kModelCardFile.most_bytes}), file.string());
}

std::optional<Receipt> ResultStore::load_receipt(const std::string& submission,
                                                 const std::string& challenge) const {
  const fs::path file = receipt_file(submission, challenge);
  if (!fs::exists(file)) return std::nullopt;
  return receipt_from_json(read_file(file, kReceiptFile), file.string());
}

std::vector<CellObservation> ResultStore::load_all() const {
  std::vector<CellObservation> cells;
  for (const auto& submission : folders_in(root_, why_no_submission_name, remark_))
    for (const auto& challenge : folders_in(root_ / submission, why_no_challenge_name, remark_))
      if (auto cell = load(submission, challenge)) cells.push_back(*std::move(cell));
  return cells;
}

std::vector<std::string> ResultStore::submissions() const {
  return folders_in(root_, why_no_submission_name, {});
}

std::vector<std::string> ResultStore::folders_in(const fs::path& folder, Refusal refuse,
                                                 const Remark& remark) const {
  std::vector<std::string> names = folder_names(folder);
  std::erase_if(names, [&](const std::string& name) {
    const std::string why = refuse(name);
    if (why.empty()) return false;
    if (remark)
      remark(fmt::format("{} is no folder of results and is left out; move it away ({})",
                         one_line((folder / name).string(), 400), why));
    return true;
  });
  return names;
}

}  // namespace gauntlet
