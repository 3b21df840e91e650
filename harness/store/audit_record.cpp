#include "harness/store/audit_record.h"

#include <algorithm>

#include "harness/core/files.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSchema = "gauntlet.audit-record/1";

Json to_json(const AuditRecord::Row& row) {
  return {{"kind", row.kind},
          {"name", row.name},
          {"note", row.note},
          {"seed", row.seed},
          {"expected", Json(row.expected)},
          {"failed_checks", Json(row.failed_checks)},
          {"problems", Json(row.problems)}};
}

AuditRecord from_json(const JsonFields& in) {
  AuditRecord record{in.text("challenge"),
                     in.text("grader_digest"),
                     in.texts("checks"),
                     in.texts("idle_checks"),
                     {}};
  for (const auto& row : in.list("rows"))
    record.rows.push_back({row.text("kind"), row.text("name"), row.text("note"),
                           row.texts("expected"), row.texts("failed_checks"), row.texts("problems"),
                           row.text("seed")});
  return record;
}

}  // namespace

std::size_t AuditRecord::count(std::string_view kind) const {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [&](const Row& row) { return row.kind == kind; }));
}

std::size_t AuditRecord::right(std::string_view kind) const {
  return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [&](const Row& row) {
    return row.kind == kind && row.problems.empty();
  }));
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
  Json document{{"schema", kSchema}};
  document.update(to_json(record));
  write_file(folder / (record.challenge + ".json"), json_text(document));
}

std::vector<AuditRecord> load_audits(const fs::path& folder) {
  std::vector<AuditRecord> records;
  if (!fs::is_directory(folder)) return records;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json")
      records.push_back(from_json(
          JsonFields::of_document(read_file(entry.path()), entry.path().string(), kSchema)));
  std::sort(records.begin(), records.end(),
            [](const auto& a, const auto& b) { return a.challenge < b.challenge; });
  return records;
}

}  // namespace gauntlet
