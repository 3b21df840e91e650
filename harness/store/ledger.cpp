// SPDX-License-Identifier: Apache-2.0
#include "harness/store/ledger.h"

#include <fmt/format.h>
#include <fstream>
#include <sstream>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/store/json_fields.h"

namespace gauntlet {
namespace {

constexpr std::string_view kLedgerSchema = "gauntlet.ledger/1";

LedgerEntry entry_from(const JsonFields& in) {
  return {in.text("when"),   in.text("submission"), in.text("challenge"),
          in.text("before"), in.text("after"),      in.texts("because")};
}

}  // namespace

std::vector<LedgerEntry> load_ledger(const std::filesystem::path& file) {
  std::vector<LedgerEntry> entries;
  if (!std::filesystem::exists(file)) return entries;
  std::istringstream lines(read_file(file, kLedgerFile));
  for (std::string line; std::getline(lines, line);)
    entries.push_back(entry_from(JsonFields::of_document(
        line, fmt::format("{}:{}", file.string(), entries.size() + 1), kLedgerSchema)));
  return entries;
}

void append_to_ledger(const std::filesystem::path& file, const std::vector<LedgerEntry>& entries) {
  if (entries.empty()) return;
  std::string text = std::filesystem::exists(file) ? read_file(file, kLedgerFile) : "";
  for (const auto& entry : entries)
    text += Json{{"schema", kLedgerSchema},        {"when", entry.when},
                 {"submission", entry.submission}, {"challenge", entry.challenge},
                 {"before", entry.before},         {"after", entry.after},
                 {"because", Json(entry.because)}}
                .dump(-1, ' ', false, Json::error_handler_t::replace) +
            "\n";
  write_file(file, text);
}

}  // namespace gauntlet
