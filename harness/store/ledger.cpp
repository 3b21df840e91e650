// SPDX-License-Identifier: Apache-2.0
#include "harness/store/ledger.h"

#include <fmt/format.h>
#include <fstream>
#include <sstream>

#include "harness/core/append.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/store/json_fields.h"

namespace gauntlet {
namespace {

constexpr std::string_view kLedgerSchema = "gauntlet.ledger/1";

/// Why most grades are replaced, so that it need not be said.
const std::vector<std::string> kUsual{"another grader"};

/// As earlier versions wrote it.
LedgerEntry entry_from(const JsonFields& in) {
  return {in.text("when"),   in.text("submission"), in.text("challenge"),
          in.text("before"), in.text("after"),      in.texts("because")};
}

/// ["2026-04-02T08:00:00Z", "bravo", "first", "A 95", "C+ 79", ["another machine"]]
LedgerEntry entry_from(const Json& line) {
  const auto text = [&](std::size_t i) { return line.at(i).get<std::string>(); };
  return {text(0), text(1), text(2),
          text(3), text(4), line.size() == 5 ? kUsual : line.at(5).get<std::vector<std::string>>()};
}

std::vector<LedgerEntry> entries_in(std::string text, const std::filesystem::path& file) {
  text.erase(text.rfind('\n') + 1);  // npos + 1 is 0
  std::vector<LedgerEntry> entries;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    entries.push_back(ledger_entry(line, fmt::format("{}:{}", file.string(), entries.size() + 1)));
  return entries;
}

std::string lines_of(const std::vector<LedgerEntry>& entries) {
  std::string text;
  for (const LedgerEntry& entry : entries) text += ledger_line(entry);
  return text;
}

/// Only the ledger of a report can have such lines, and one process at a time writes a report.
void write_in_present_form(const std::filesystem::path& file) {
  std::ifstream lines;
  lines.rdbuf()->pubsetbuf(nullptr, 0);  // one byte is wanted, for each result that is replaced
  lines.open(file);
  if (lines.peek() == '{') write_file(file, lines_of(load_ledger(file)));
}

}  // namespace

std::string ledger_line(const LedgerEntry& entry) {
  Json line =
      Json::array({entry.when, entry.submission, entry.challenge, entry.before, entry.after});
  if (entry.because != kUsual) line.push_back(entry.because);
  return json_line(line);
}

LedgerEntry ledger_entry(const std::string& line, const std::string& where) {
  Json parsed = parsed_json(line, where);
  if (!parsed.is_array())
    return entry_from(JsonFields::of_document(std::move(parsed), where, kLedgerSchema));
  try {
    return entry_from(parsed);
  } catch (const Json::exception& error) {
    throw UserError(fmt::format("{}: is damaged ({}); get it back from git", where, error.what()));
  }
}

std::vector<LedgerEntry> load_ledger(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return {};
  return entries_in(read_file(file, kLedgerFile), file);
}

void append_to_ledger(const std::filesystem::path& file, const std::vector<LedgerEntry>& entries) {
  write_in_present_form(file);
  if (!entries.empty()) append_lines(file, lines_of(entries));
}

}  // namespace gauntlet
