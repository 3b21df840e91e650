// SPDX-License-Identifier: Apache-2.0
#include "harness/report/data/report_data.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <sstream>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/report/data/cell_lines.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

constexpr const char* kGrades = "grades.jsonl";
constexpr const char* kLedger = "ledger.jsonl";  // of others, in the same folder
constexpr std::string_view kGradesSchema = "gauntlet.grades/1";

std::vector<fs::path> files_in(const fs::path& folder, const char* kind) {
  std::vector<fs::path> files;
  if (!fs::is_directory(folder)) return files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename();
    if (entry.path().extension() == kind && name != kGrades && name != kLedger)
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Undoes file_word: no device is "1", "2" and so on.
std::string generation_in(std::string file) {
  std::replace(file.begin(), file.end(), '@', '#');
  return file;
}

void add_grades(const fs::path& file, std::vector<PublishedCell>& cells) {
  if (!fs::exists(file)) return;
  std::map<std::string, std::vector<PublishedCell*>> rows;
  for (PublishedCell& cell : cells) rows[cell.seen.key.row()].push_back(&cell);
  std::istringstream lines(read_file(file, kResultFile));
  for (std::string line; std::getline(lines, line);) {
    const auto in = JsonFields::of_document(line, file.string(), kGradesSchema);
    const JsonFields grades = in.fields("grades");
    for (PublishedCell* cell : rows[in.text("submission")]) {
      const std::string column = cell->seen.key.column();
      if (!grades.has(column)) continue;
      cell->grade = grades.text(column);
      cell->rubric = in.text("rubric");
    }
  }
}

std::string grade_lines(const std::vector<PublishedCell>& cells) {
  std::map<std::string, Json> lines;
  for (const PublishedCell& cell : cells) {
    Json& line = lines[cell.seen.key.row()];
    line["schema"] = kGradesSchema;
    line["submission"] = cell.seen.key.row();
    line["rubric"] = cell.rubric;
    line["grades"][cell.seen.key.column()] = cell.grade;
  }
  std::string text;
  for (const auto& [submission, line] : lines) text += line.dump() + "\n";
  return text;
}

std::map<std::string, std::string> lines_by_challenge(const std::vector<PublishedCell>& cells) {
  std::map<std::string, std::vector<PublishedCell>> challenges;
  for (const auto& cell : cells) challenges[cell.seen.key.column()].push_back(cell);
  std::map<std::string, std::string> lines;
  for (const auto& [challenge, column] : challenges) lines[challenge] = lines_of(column);
  return lines;
}

/// Writes what is new; what is the same keeps its time of change.
void write_changed(const fs::path& file, const std::string& text) {
  if (!fs::exists(file) || read_file(file) != text) write_file(file, text);
}

}  // namespace

std::vector<PublishedCell> ReportData::load() const {
  std::vector<PublishedCell> cells;
  for (const auto& file : files_in(root_, ".jsonl"))
    for (auto& cell : cells_from_lines(read_file(file, kResultFile), file.string()))
      cells.push_back(std::move(cell));
  add_grades(root_ / kGrades, cells);
  std::sort(cells.begin(), cells.end(), by_name);
  return cells;
}

std::vector<PublishedCell> ReportData::as_kept(const std::vector<PublishedCell>& cells) {
  std::vector<PublishedCell> kept = cells;
  std::map<CellKey, PublishedCell*> places;
  for (PublishedCell& cell : kept) places.emplace(cell.seen.key, &cell);
  for (const auto& [challenge, lines] : lines_by_challenge(cells))
    for (auto& read : cells_from_lines(lines, challenge))
      if (const auto place = places.find(read.seen.key); place != places.end())
        place->second->seen = std::move(read.seen);
  return kept;
}

std::map<std::string, ModelCard> ReportData::cards() const {
  std::map<std::string, ModelCard> cards;
  for (const auto& file : files_in(root_, ".yaml"))
    cards[generation_in(file.stem().string())] =
        model_card_from_yaml(read_file(file, kModelCardFile), file.string());
  return cards;
}

void ReportData::save(const std::vector<PublishedCell>& cells,
                      const std::map<std::string, ModelCard>& cards) const {
  std::map<fs::path, std::string> files;
  for (const auto& [challenge, lines] : lines_by_challenge(cells))
    files[root_ / (challenge + ".jsonl")] = lines;
  for (const auto& [generation, its] : cards)
    files[root_ / (file_word(generation) + ".yaml")] = model_card_to_yaml(its);
  for (const char* kind : {".jsonl", ".yaml"})
    for (const auto& old : files_in(root_, kind))
      if (!files.contains(old)) fs::remove(old);
  files[root_ / kGrades] = grade_lines(cells);
  for (const auto& [file, text] : files) write_changed(file, text);
}

}  // namespace gauntlet
