#include "harness/store/audit_record.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/files.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kAuditSchema = "gauntlet.audit-record/2";

Json to_json(const AuditRecord::Row& row) {
  Json named = Json::array();
  for (const KillCount& count : row.named)
    named.push_back({{"check", count.check}, {"killed", count.killed}, {"asked", count.asked}});
  return {{"kind", row.kind},
          {"name", row.name},
          {"note", row.note},
          {"seed", row.seed},
          {"named", named},
          {"failed_checks", Json(row.failed_checks)},
          {"problems", Json(row.problems)}};
}

std::vector<KillCount> named_checks(const JsonFields& row) {
  std::vector<KillCount> named;
  for (const auto& count : row.list("named"))
    named.push_back({count.text("check"), static_cast<int>(count.integer("killed")),
                     static_cast<int>(count.integer("asked"))});
  return named;
}

AuditRecord from_json(const JsonFields& in) {
  AuditRecord record{in.text("challenge"),
                     in.text("grader_digest"),
                     in.texts("checks"),
                     in.texts("idle_checks"),
                     {}};
  for (const auto& row : in.list("rows"))
    record.rows.push_back({row.text("kind"), row.text("name"), row.text("note"), named_checks(row),
                           row.texts("failed_checks"), row.texts("problems"), row.text("seed")});
  return record;
}

}  // namespace

std::string in_words(const KillCount& count) {
  if (count.killed == count.asked) return count.check;
  return fmt::format("{} ({} of {} seeds)", count.check, count.killed, count.asked);
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
  for (const auto& row : record.rows) document["rows"].push_back(to_json(row));
  return document;
}

void save_audit(const fs::path& folder, const AuditRecord& record) {
  Json document{{"schema", kAuditSchema}};
  document.update(to_json(record));
  write_file(folder / (record.challenge + ".json"), json_text(document));
}

std::vector<AuditRecord> load_audits(const fs::path& folder) {
  std::vector<AuditRecord> records;
  if (!fs::is_directory(folder)) return records;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json")
      records.push_back(from_json(JsonFields::of_document(read_file(entry.path(), kResultFile),
                                                          entry.path().string(), kAuditSchema)));
  std::sort(records.begin(), records.end(),
            [](const auto& a, const auto& b) { return a.challenge < b.challenge; });
  return records;
}

}  // namespace gauntlet
