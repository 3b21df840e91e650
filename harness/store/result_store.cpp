#include "harness/store/result_store.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/store/observation_json.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

void require_plain(std::string_view what, const std::string& name) {
  if (!is_plain_name(name))
    throw UserError(
        fmt::format("{} '{}' is no name for a result folder: use up to 64 lower-case "
                    "letters, digits, '.', '-' and '_', beginning with a letter or digit",
                    what, printable(name, 80)));
}

}  // namespace

std::vector<std::string> folder_names(const fs::path& folder) {
  std::vector<std::string> names;
  if (fs::is_directory(folder))
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.is_directory()) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

bool is_plain_name(std::string_view name) {
  const auto first = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const auto later = [&](char c) { return first(c) || c == '.' || c == '-' || c == '_'; };
  return !name.empty() && name.size() <= 64 && first(name[0]) &&
         std::all_of(name.begin(), name.end(), later);
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
  require_plain("submission", receipt.submission);
  require_plain("challenge", receipt.challenge);
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
  require_plain("submission", cell.submission);
  require_plain("challenge", cell.challenge);
  write_file(observation_file(cell.submission, cell.challenge), to_json(cell));
}

void ResultStore::save_papers(const std::string& submission, const Papers& papers) const {
  require_plain("submission", submission);
  write_file(root_ / submission / "model.yaml", papers_to_yaml(papers));
}

std::optional<CellObservation> ResultStore::load(const std::string& submission,
                                                 const std::string& challenge) const {
  require_plain("submission", submission);
  require_plain("challenge", challenge);
  const fs::path file = observation_file(submission, challenge);
  if (!fs::exists(file)) return std::nullopt;
  CellObservation cell = observation_from_json(read_file(file, kResultFile), file.string());
  if (cell.submission != submission || cell.challenge != challenge)
    throw UserError(fmt::format("{}: is about {}/{}; move it back or remove it", file.string(),
                                printable(cell.submission, 80), printable(cell.challenge, 80)));
  return cell;
}

std::optional<Papers> ResultStore::load_papers(const std::string& submission) const {
  require_plain("submission", submission);
  const fs::path file = root_ / submission / "model.yaml";
  if (!fs::exists(file)) return std::nullopt;
  return read_papers(file);
}

std::optional<Receipt> ResultStore::load_receipt(const std::string& submission,
                                                 const std::string& challenge) const {
  const fs::path file = receipt_file(submission, challenge);
  if (!fs::exists(file)) return std::nullopt;
  return receipt_from_json(read_file(file, kReceiptFile), file.string());
}

std::vector<CellObservation> ResultStore::load_all() const {
  std::vector<CellObservation> cells;
  for (const auto& submission : submissions())
    for (const auto& challenge : folder_names(root_ / submission))
      if (auto cell = load(submission, challenge)) cells.push_back(*std::move(cell));
  return cells;
}

std::vector<std::string> ResultStore::submissions() const {
  return folder_names(root_);
}

}  // namespace gauntlet
