// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/core/cell_key.h"
#include "harness/core/seed.h"

namespace gauntlet {

/// Keys keep the order in which they were written, so that the same data gives the same bytes.
using Json = nlohmann::ordered_json;

/// A finite number as a number; "nan", "inf" and "-inf" as text, because JSON has no word for them
/// and nlohmann would write null.
Json json_number(double value);

/// 64-bit numbers as "0x...": as JSON numbers they would lose digits in half of all readers.
std::string hex_number(std::uint64_t value);

/// The fields "submission", "challenge", "device" and, for further ones, "attempt".
void put_cell_key(Json& document, const CellKey& key);

/// Two spaces of indent, newline at the end. Invalid UTF-8 becomes U+FFFD.
std::string json_text(const Json& document);

/// The same on one line.
std::string json_line(const Json& document);

/// Throws UserError naming `shown_name` for text that is no JSON, nests deep or repeats a key.
Json parsed_json(const std::string& text, const std::string& shown_name);

/// A JSON object that is read key by key. Every complaint is a UserError that names file and field:
/// "results/a/b/observation.json: checks[3].weight: is missing". Unknown keys are ignored: a file
/// may be newer than the program, within one schema.
class JsonFields {
 public:
  /// Parses a document whose "schema" must be `schema`, "gauntlet.observation/2".
  static JsonFields of_document(const std::string& text, std::string shown_name,
                                std::string_view schema);
  static JsonFields of_document(Json parsed, std::string shown_name, std::string_view schema);

  bool has(const std::string& key) const;  // present and not null
  std::string text(const std::string& key) const;
  double number(const std::string& key) const;  // reads what json_number writes
  std::int64_t integer(const std::string& key) const;
  bool truth(const std::string& key) const;
  std::uint64_t hex(const std::string& key) const;
  Seed seed(const std::string& key) const;

  /// Of which cell the document is: what put_cell_key writes.
  CellKey cell_key() const;
  std::vector<std::string> texts(const std::string& key) const;
  JsonFields fields(const std::string& key) const;
  std::vector<JsonFields> list(const std::string& key) const;  // an array of objects

  /// A word of a closed set, read with its parser: fields.word("verdict", verdict_named).
  template <class Parse>
  auto word(const std::string& key, Parse parse) const {
    const std::string written = text(key);
    try {
      return parse(written);
    } catch (const std::invalid_argument& error) {
      refuse(key, error.what());
    }
  }

  /// Throws for a key that is not among these, with the nearest of them. For documents that are
  /// asked for, where a misspelt wish must not be passed over.
  void refuse_unknown(const std::vector<std::string>& known) const;

  /// Throws UserError "<file>: <path><key>: <text>".
  [[noreturn]] void refuse(const std::string& key, const std::string& text) const;

 private:
  JsonFields(Json node, std::string file, std::string path);
  const Json& required(const std::string& key) const;

  Json node_;
  std::string file_;
  std::string path_;
};

}  // namespace gauntlet
