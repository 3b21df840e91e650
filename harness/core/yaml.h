// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>
#include <yaml-cpp/yaml.h>

namespace gauntlet {

/// A YAML mapping that is read key by key. Every complaint is a UserError that says file, line and
/// key; a key that nobody asked for is an error with the nearest known key. Strangers write such
/// files: reading takes time in proportion to the text, and what nests deep or refers to itself is
/// refused.
///
///   YamlFields fields = YamlFields::of_file("challenge.yaml");
///   title = fields.text("title");
///   fields.refuse_unknown();
class YamlFields {
 public:
  static YamlFields of_file(const std::filesystem::path& file);
  static YamlFields of_text(const std::string& text, std::string shown_name);

  bool has(const std::string& key);
  std::string text(const std::string& key);
  double number(const std::string& key);  // finite
  std::int64_t integer(const std::string& key);
  bool truth(const std::string& key);
  std::vector<std::string> texts(const std::string& key);
  std::vector<double> numbers(const std::string& key);
  YamlFields fields(const std::string& key);             // a mapping
  std::vector<YamlFields> list(const std::string& key);  // a sequence of mappings
  std::vector<std::string> keys() const;                 // in file order

  /// Ends the reading: throws for a key that was never asked for.
  void refuse_unknown() const;

  /// Throws UserError "<file>:<line>: <key>: <text>".
  [[noreturn]] void refuse(const std::string& key, const std::string& text) const;

 private:
  struct Entry {
    YAML::Node value;
    int line = 1;
    bool asked = false;
  };

  YamlFields(const YAML::Node& node, std::string file, std::string path);
  YAML::Node required(const std::string& key);

  std::map<std::string, Entry> entries_;  // yaml-cpp searches a mapping from its beginning
  std::vector<std::string> keys_;
  int line_ = 1;
  std::string file_;
  std::string path_;  // of this mapping inside the file: "limits."
  std::vector<std::string> asked_;
};

}  // namespace gauntlet
