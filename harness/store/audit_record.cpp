// SPDX-License-Identifier: Apache-2.0
#include "harness/store/audit_record.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/cell_key.h"
#include "harness/core/files.h"
#include "harness/core/text.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kAuditSchema = "gauntlet.audit-record/4";
constexpr std::string_view kOlderSchema = "gauntlet.audit-record/3";  // every row an object

Json to_json(const KillCount& count) {
  return {{"check", count.check}, {"killed", count.killed}, {"asked", count.asked}};
}

Json to_json(const AuditRecord::Row& row) {
  Json named = Json::array();
  for (const KillCount& count : row.named) named.push_back(to_json(count));
  return {{"kind", row.kind},
          {"name", row.name},
          {"note", row.note},
          {"seed", row.seed},
          {"named", named},
          {"failed_checks", Json(row.failed_checks)},
          {"problems", Json(row.problems)}};
}

// What a check did to a row, in a letter each: nothing, failed, had to fail and did.
constexpr char kPassed = '.';
constexpr char kFailed = 'x';
constexpr char kNamed = 'N';

/// A row as a file keeps it, without its seed and note: --json prints them, and mutants.yaml has
/// the note.
Json line_of(const AuditRecord& record, const AuditRecord::Row& row) {
  std::string checks(record.checks.size(), kPassed);
  Json seeds = Json::array();
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (contains(row.failed_checks, record.checks[i])) checks[i] = kFailed;
    for (const KillCount& count : row.named) {
      if (count.check != record.checks[i]) continue;
      if (checks[i] == kFailed && count.killed == 1 && count.asked == 1)
        checks[i] = kNamed;
      else
        seeds.push_back(to_json(count));
    }
  }
  Json line{{row.kind, row.name}};
  if (checks.find_first_not_of(kPassed) != std::string::npos) line["checks"] = checks;
  if (!seeds.empty()) line["seeds"] = seeds;
  if (!row.problems.empty()) line["problems"] = row.problems;
  return line;
}

/// "..xxx." as "2.3x.", and back.
std::string with_counts(const std::string& letters) {
  std::string text;
  for (std::size_t i = 0; i < letters.size();) {
    const std::size_t end = std::min(letters.find_first_not_of(letters[i], i), letters.size());
    if (end - i > 1) text += std::to_string(end - i);
    text += letters[i];
    i = end;
  }
  return text;
}

std::string without_counts(const std::string& text) {
  constexpr std::size_t kMost = 10'000;  // more checks than anybody writes
  std::string letters;
  std::size_t count = 0;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (digit) count = std::min(kMost, 10 * count + static_cast<std::size_t>(c - '0'));
    if (digit) continue;
    letters.append(count == 0 ? 1 : count, c);
    if (letters.size() > kMost) return letters;
    count = 0;
  }
  return letters;
}

/// Most rows are mutants of which nothing else is to be said: a name, and what the checks did.
Json packed(const Json& line) {
  if (line.size() != 2 || !line.contains("mutant") || !line.contains("checks")) return line;
  return Json::array({line.at("mutant"), with_counts(line.at("checks").get<std::string>())});
}

/// With every row an object, as in the schema before. What cannot be read is left to who reads it.
Json unpacked(Json document) {
  if (!document.is_object() || !document.contains("schema")) return document;
  if (document["schema"] == kOlderSchema) document["schema"] = kAuditSchema;
  if (!document.contains("rows") || !document["rows"].is_array()) return document;
  for (Json& row : document["rows"])
    if (row.is_array() && row.size() == 2 && row[0].is_string() && row[1].is_string())
      row = {{"mutant", row[0]}, {"checks", without_counts(row[1].get<std::string>())}};
  return document;
}

AuditRecord::Row row_from(const JsonFields& in, const std::vector<std::string>& checks) {
  AuditRecord::Row row;
  for (const char* kind : {"mutant", "honest"})
    if (in.has(kind)) row = {kind, in.text(kind), "", {}, {}, {}, ""};
  if (row.kind.empty()) in.refuse("mutant", "is missing, and so is honest");
  const std::string letters = in.has("checks") ? in.text("checks") : "";
  if (!letters.empty() && letters.size() != checks.size())
    in.refuse("checks", "must have a letter for each check");
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (letters[i] != kPassed) row.failed_checks.push_back(checks[i]);
    if (letters[i] == kNamed) row.named.push_back({checks[i], 1, 1});
  }
  if (in.has("seeds"))
    for (const auto& count : in.list("seeds"))
      row.named.push_back({count.text("check"), static_cast<int>(count.integer("killed")),
                           static_cast<int>(count.integer("asked"))});
  if (in.has("problems")) row.problems = in.texts("problems");
  return row;
}

AuditRecord from_json(const JsonFields& in) {
  AuditRecord record{
      in.text("challenge"),     in.has("device") ? in.word("device", device_named) : Device::cpu,
      in.text("grader_digest"), in.texts("checks"),
      in.texts("idle_checks"),  {}};
  for (const auto& row : in.list("rows")) {
    const std::int64_t runs = row.has("runs") ? row.integer("runs") : 1;
    if (runs < 1 || runs > 10'000) row.refuse("runs", "must lie between 1 and 10000");
    record.rows.insert(record.rows.end(), static_cast<std::size_t>(runs),
                       row_from(row, record.checks));
  }
  return record;
}

}  // namespace

std::string in_words(const KillCount& count) {
  if (count.killed == count.asked) return count.check;
  return fmt::format("{} ({} of {} seeds)", count.check, count.killed, count.asked);
}

std::string AuditRecord::entry() const {
  return CellKey{"", challenge, "", device}.entry();
}

std::size_t AuditRecord::count(std::string_view kind) const {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [&](const Row& row) { return row.kind == kind; }));
}

std::size_t AuditRecord::right(std::string_view kind) const {
  return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [&](const Row& row) {
    return row.kind == kind && row.problems.empty();
  }));
}

std::size_t AuditRecord::missed_once() const {
  std::size_t pairs = 0;
  for (const Row& row : rows)
    pairs += static_cast<std::size_t>(
        std::count_if(row.named.begin(), row.named.end(),
                      [](const KillCount& count) { return count.killed < count.asked; }));
  return pairs;
}

Json to_json(const AuditRecord& record) {
  Json document{{"challenge", record.challenge},
                {"grader_digest", record.grader_digest},
                {"checks", Json(record.checks)},
                {"idle_checks", Json(record.idle_checks)},
                {"rows", Json::array()}};
  if (record.device != Device::cpu) document["device"] = name_of(record.device);
  for (const auto& row : record.rows) document["rows"].push_back(to_json(row));
  return document;
}

void save_audit(const fs::path& folder, const AuditRecord& record) {
  Json head{{"schema", kAuditSchema}};
  head.update(to_json(record));
  head.erase("rows");
  std::string text = head.dump();
  text.pop_back();  // its brace, for the rows, one a line
  text += ",\"rows\":[";
  std::vector<std::pair<Json, int>> lines;  // with how many rows they stand for
  for (const auto& row : record.rows) {
    if (row.kind != "mutant" && row.kind != "honest") continue;
    Json line = line_of(record, row);
    if (lines.empty() || lines.back().first != line) lines.emplace_back(std::move(line), 0);
    ++lines.back().second;
  }
  for (auto& [line, runs] : lines) {
    if (runs > 1) line["runs"] = runs;
    text += (&line == &lines.front().first ? "\n" : ",\n") + packed(line).dump();
  }
  text += "\n]}\n";
  const fs::path file = folder / (record.entry() + ".json");
  if (!fs::exists(file) || read_file(file, kResultFile) != text) write_file(file, text);
}

std::vector<AuditRecord> load_audits(const fs::path& folder) {
  std::vector<AuditRecord> records;
  if (!fs::is_directory(folder)) return records;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const std::string name = entry.path().string();
    Json document = unpacked(parsed_json(read_file(entry.path(), kResultFile), name));
    records.push_back(from_json(JsonFields::of_document(std::move(document), name, kAuditSchema)));
  }
  std::sort(records.begin(), records.end(),
            [](const auto& a, const auto& b) { return a.entry() < b.entry(); });
  return records;
}

}  // namespace gauntlet
