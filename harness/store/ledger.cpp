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

/// As earlier versions wrote it.
LedgerEntry entry_from(const JsonFields& in) {
  return {in.text("when"),   in.text("submission"), in.text("challenge"),
          in.text("before"), in.text("after"),      in.texts("because")};
}

/// ["2026-04-02T08:00:00Z", "bravo", "first", "A 95", "C+ 79", ["another grader"]]
LedgerEntry entry_from(const Json& line) {
  const auto text = [&](std::size_t i) { return line.at(i).get<std::string>(); };
  return {text(0), text(1), text(2), text(3), text(4), line.at(5).get<std::vector<std::string>>()};
}

LedgerEntry entry_in(const std::string& line, const std::string& where) {
  Json parsed = parsed_json(line, where);
  if (!parsed.is_array())
    return entry_from(JsonFields::of_document(std::move(parsed), where, kLedgerSchema));
  try {
    return entry_from(parsed);
  } catch (const Json::exception& error) {
    throw UserError(fmt::format("{}: is damaged ({}); get it back from git", where, error.what()));
  }
}

}  // namespace

std::vector<LedgerEntry> load_ledger(const std::filesystem::path& file) {
  std::vector<LedgerEntry> entries;
  if (!std::filesystem::exists(file)) return entries;
  std::istringstream lines(read_file(file, kLedgerFile));
  for (std::string line; std::getline(lines, line);)
    entries.push_back(entry_in(line, fmt::format("{}:{}", file.string(), entries.size() + 1)));
  return entries;
}

void append_to_ledger(const std::filesystem::path& file, const std::vector<LedgerEntry>& entries) {
  std::vector<LedgerEntry> all = load_ledger(file);
  all.insert(all.end(), entries.begin(), entries.end());
  std::string text;
  for (const LedgerEntry& entry : all)
    text += json_line(Json::array({entry.when, entry.submission, entry.challenge, entry.before,
                                   entry.after, Json(entry.because)}));
  const bool there = std::filesystem::exists(file);
  if (there ? read_file(file, kLedgerFile) != text : !text.empty()) write_file(file, text);
}

}  // namespace gauntlet
