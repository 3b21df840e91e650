// SPDX-License-Identifier: Apache-2.0
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

constexpr std::string_view kAttempts = "attempts";  // folder of those after the first

/// Of a cell's folder, "first.small@cuda".
std::string why_no_cell_name(std::string_view name) {
  std::string why;
  try {
    if (is_plain_name(CellKey::of("", name).column()) && name.find('#') == name.npos) return "";
  } catch (const UserError& error) {
    why = fmt::format(": {}", error.what());
  }
  return fmt::format("'{}' is no name of a challenge{}", one_line(name, 80), why);
}

/// Of an attempt's folder: "2".
std::string why_no_attempt(std::string_view name) {
  try {
    if (CellKey::of("#" + std::string(name)).attempt > 1) return "";
  } catch (const UserError&) {
  }
  return fmt::format("'{}' is no number of a further attempt", one_line(name, 80));
}

void require_submission(const std::string& name) {
  if (const std::string why = why_no_submission_name(name); !why.empty()) throw UserError(why);
}

bool has_cells(const fs::path& generation) {
  std::vector<std::string> names = folder_names(generation);
  std::erase(names, kAttempts);
  return !names.empty();
}

void require_key(const CellKey& key) {
  require_submission(key.submission);
  if (!is_plain_name(key.column()) || key.column() == kAttempts)
    throw UserError(fmt::format("'{}' is no name of a challenge", one_line(key.column(), 80)));
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

fs::path ResultStore::generation_folder(const CellKey& key) const {
  const fs::path folder = root_ / key.submission;
  return key.attempt == 1 ? folder : folder / kAttempts / std::to_string(key.attempt);
}

fs::path ResultStore::cell_folder(const CellKey& key) const {
  const std::string device =
      key.device == Device::cpu ? "" : fmt::format("@{}", name_of(key.device));
  return generation_folder(key) / (key.column() + device);
}

fs::path ResultStore::observation_file(const CellKey& key) const {
  return cell_folder(key) / "observation.json";
}

fs::path ResultStore::score_file(const CellKey& key) const {
  return cell_folder(key) / "score.json";
}

fs::path ResultStore::receipt_file(const CellKey& key) const {
  return cell_folder(key) / "receipt.json";
}

fs::path ResultStore::opened_file(const CellKey& key) const {
  return cell_folder(key) / "opened.json";
}

void ResultStore::open_receipt(const Receipt& receipt) const {
  require_key(receipt.key);
  write_file(opened_file(receipt.key), to_json(receipt));
}

void ResultStore::close_receipt(const CellObservation& cell,
                                const std::optional<Receipt>& receipt) const {
  const fs::path closed = receipt_file(cell.key);
  if (receipt)
    write_file(closed, to_json(*receipt));
  else
    fs::remove(closed);
  fs::remove(opened_file(cell.key));
}

void ResultStore::save(const CellObservation& cell) const {
  require_key(cell.key);
  write_file(observation_file(cell.key), to_json(cell));
}

void ResultStore::claim(const CellKey& generation, const fs::path& folder,
                        const fs::path& checkout) const {
  require_submission(generation.submission);
  const fs::path graded = generation_folder(generation);
  const fs::path here = fs::absolute(folder).lexically_normal();
  const fs::path within = here.lexically_relative(fs::absolute(checkout).lexically_normal());
  const bool inside = !within.empty() && *within.begin() != "..";
  const fs::path now = inside ? within : here;  // so that a checkout may be moved
  fs::path before = now;
  if (const auto written = graded_from(generation))
    before = *written;
  else if (generation.attempt == 1 && has_cells(graded))
    before = fs::path("submissions") / generation.submission;  // from before this was written down
  std::error_code gone;
  if (before != now && !fs::equivalent(checkout / before, folder, gone))
    throw UserError(fmt::format(
        "{} has grades of {}, not of {}: rename the folder, or keep its grades apart with "
        "--results FOLDER",
        graded.string(), printable(before.string(), 400), printable(here.string(), 400)));
  save_graded_from(generation, before.string());
}

fs::path ResultStore::graded_from_file(const CellKey& generation) const {
  return generation_folder(generation) / "graded_from";
}

std::optional<std::string> ResultStore::graded_from(const CellKey& generation) const {
  require_submission(generation.submission);
  const fs::path file = graded_from_file(generation);
  if (!fs::exists(file)) return std::nullopt;
  return read_file(file, kModelCardFile);
}

void ResultStore::save_graded_from(const CellKey& generation, const std::string& folder) const {
  require_submission(generation.submission);
  write_file(graded_from_file(generation), folder);
}

void ResultStore::save_model_card(const CellKey& generation, const ModelCard& card) const {
  require_submission(generation.submission);
  write_file(generation_folder(generation) / "model.yaml", model_card_to_yaml(card));
}

std::optional<CellObservation> ResultStore::load(const CellKey& key) const {
  require_key(key);
  const fs::path file = observation_file(key);
  if (!fs::exists(file)) return std::nullopt;
  CellObservation cell = observation_from_json(read_file(file, kResultFile), file.string());
  if (cell.key != key)
    throw UserError(fmt::format("{}: is about {}; move it back or remove it", file.string(),
                                printable(cell.key.text(), 160)));
  return cell;
}

std::optional<ModelCard> ResultStore::load_model_card(const CellKey& generation) const {
  require_submission(generation.submission);
  const fs::path file = generation_folder(generation) / "model.yaml";
  if (!fs::exists(file)) return std::nullopt;
  return model_card_from_yaml(read_file(file, {kModelCardFile.most_bytes}), file.string());
}

std::optional<Receipt> ResultStore::load_receipt(const CellKey& key) const {
  const fs::path file = receipt_file(key);
  if (!fs::exists(file)) return std::nullopt;
  return receipt_from_json(read_file(file, kReceiptFile), file.string());
}

void ResultStore::add_keys(const CellKey& generation, std::vector<CellKey>& keys) const {
  const fs::path folder = generation_folder(generation);
  for (const auto& name : folders_in(folder, why_no_cell_name, remark_)) {
    if (generation.attempt == 1 && name == kAttempts) continue;
    keys.push_back(CellKey::of("", name));
    keys.back().submission = generation.submission;
    keys.back().attempt = generation.attempt;
  }
}

std::vector<CellKey> ResultStore::keys() const {
  std::vector<CellKey> keys;
  for (const auto& submission : folders_in(root_, why_no_submission_name, remark_)) {
    add_keys({submission, ""}, keys);
    for (const auto& attempt : folders_in(root_ / submission / kAttempts, why_no_attempt, remark_))
      add_keys(CellKey::of(submission + "#" + attempt), keys);
  }
  return keys;
}

std::vector<CellObservation> ResultStore::load_all(const Wanted& wanted) const {
  std::vector<CellObservation> cells;
  for (const CellKey& key : keys())
    if (!wanted || wanted(key))
      if (auto cell = load(key)) cells.push_back(*std::move(cell));
  return cells;
}

std::vector<std::string> ResultStore::submissions() const {
  return folders_in(root_, why_no_submission_name, {});
}

std::vector<std::string> ResultStore::folders_in(const fs::path& folder, const Refusal& refuse,
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
