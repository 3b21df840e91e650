// SPDX-License-Identifier: Apache-2.0
#include "harness/core/yaml.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <sstream>
#include <yaml-cpp/eventhandler.h>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"

namespace gauntlet {
namespace {

constexpr std::size_t kShownText = 80;  // bytes of a bad value that an error message repeats
constexpr int kMostNested = 20;  // our deepest file has five lists and mappings in each other

int line_of(const YAML::Node& node) {
  return node.Mark().is_null() ? 1 : node.Mark().line + 1;
}

template <class T>
bool read_scalar(const YAML::Node& node, T& value) {
  return node.IsScalar() && YAML::convert<T>::decode(node, value);
}

std::string shown(const YAML::Node& node) {
  return node.IsScalar() ? fmt::format("'{}'", printable(node.Scalar(), kShownText))
         : node.IsMap()  ? "a mapping"
         : node.IsNull() ? "nothing"
                         : "a list";
}

/// Hears of every part of a document before yaml-cpp builds anything of it, which it does by
/// calling itself for what is nested, and with one node for all aliases of it.
class ShapeGuard : public YAML::EventHandler {
 public:
  explicit ShapeGuard(const std::string& shown_name) : shown_name_(shown_name) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "aliases (*name) are not taken; write the value again");
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    enter(mark);
  }
  void OnSequenceEnd() override { --nested_; }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    enter(mark);
  }
  void OnMapEnd() override { --nested_; }

 private:
  void enter(const YAML::Mark& mark) {
    if (++nested_ > kMostNested)
      refuse(mark,
             fmt::format("nests deeper than {} lists and mappings; write it flatter", kMostNested));
  }
  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& why) const {
    throw UserError(fmt::format("{}:{}: {}", shown_name_, mark.line + 1, why));
  }

  const std::string& shown_name_;
  int nested_ = 0;
};

void require_plain_shape(const std::string& text, const std::string& shown_name) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  ShapeGuard guard(shown_name);
  parser.HandleNextDocument(guard);
}

}  // namespace

YamlFields::YamlFields(const YAML::Node& node, std::string file, std::string path)
    : line_(line_of(node)), file_(std::move(file)), path_(std::move(path)) {
  for (const auto& entry : node) {
    const int line = line_of(entry.first);
    if (!entry.first.IsScalar())
      throw UserError(fmt::format("{}:{}: a key must be a word", file_, line));
    const std::string key = entry.first.Scalar();
    // yaml-cpp keeps both entries and answers with the first: a silent loss of the second.
    if (!entries_.emplace(key, Entry{entry.second, line, false}).second)
      throw UserError(fmt::format("{}:{}: {}{}: is given twice; keep one", file_, line, path_,
                                  printable(key, kShownText)));
    keys_.push_back(key);
  }
}

YamlFields YamlFields::of_file(const std::filesystem::path& file) {
  return of_text(read_file(file), file.string());
}

YamlFields YamlFields::of_text(const std::string& text, std::string shown_name) {
  YAML::Node node;
  try {
    require_plain_shape(text, shown_name);
    node = YAML::Load(text);
  } catch (const YAML::Exception& error) {
    const int line = error.mark.is_null() ? 1 : error.mark.line + 1;
    throw UserError(
        fmt::format("{}:{}: is no YAML: {}", shown_name, line, printable(error.msg, 300)));
  }
  if (!node.IsMap())
    throw UserError(
        fmt::format("{}:{}: must be a list of 'key: value' lines", shown_name, line_of(node)));
  return YamlFields(node, std::move(shown_name), "");
}

bool YamlFields::has(const std::string& key) {
  asked_.push_back(key);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return false;
  found->second.asked = true;
  return true;
}

YAML::Node YamlFields::required(const std::string& key) {
  if (!has(key)) {
    // The likely cause is a key that was misspelt.
    for (const auto& written : keys_)
      if (const auto hint = did_you_mean(written, std::vector<std::string>{key}); !hint.empty())
        refuse(key, fmt::format("is missing; for '{}'{}", printable(written, kShownText), hint));
    refuse(key, "is missing; add it");
  }
  return entries_.at(key).value;
}

std::string YamlFields::text(const std::string& key) {
  const YAML::Node node = required(key);
  if (!node.IsScalar()) refuse(key, fmt::format("must be text, not {}", shown(node)));
  return node.Scalar();
}

double YamlFields::number(const std::string& key) {
  const YAML::Node node = required(key);
  double value = 0;
  if (!read_scalar(node, value) || !std::isfinite(value))
    refuse(key, fmt::format("must be a finite number, not {}", shown(node)));
  return value;
}

std::int64_t YamlFields::integer(const std::string& key) {
  const YAML::Node node = required(key);
  std::int64_t value = 0;
  if (!read_scalar(node, value))
    refuse(key, fmt::format("must be a whole number, not {}", shown(node)));
  return value;
}

bool YamlFields::truth(const std::string& key) {
  const YAML::Node node = required(key);
  bool value = false;
  if (!read_scalar(node, value))
    refuse(key, fmt::format("must be true or false, not {}", shown(node)));
  return value;
}

std::vector<std::string> YamlFields::texts(const std::string& key) {
  const YAML::Node node = required(key);
  if (!node.IsSequence()) refuse(key, fmt::format("must be a list, not {}", shown(node)));
  std::vector<std::string> values;
  for (const auto& item : node) {
    if (!item.IsScalar())
      refuse(key, fmt::format("must be a list of texts, not of {}", shown(item)));
    values.push_back(item.Scalar());
  }
  return values;
}

std::vector<double> YamlFields::numbers(const std::string& key) {
  const YAML::Node node = required(key);
  if (!node.IsSequence()) refuse(key, fmt::format("must be a list, not {}", shown(node)));
  std::vector<double> values;
  for (const auto& item : node) {
    double value = 0;
    if (!read_scalar(item, value) || !std::isfinite(value))
      refuse(key, fmt::format("must be a list of finite numbers; {} is none", shown(item)));
    values.push_back(value);
  }
  return values;
}

YamlFields YamlFields::fields(const std::string& key) {
  const YAML::Node node = required(key);
  if (!node.IsMap()) refuse(key, fmt::format("must be a mapping, not {}", shown(node)));
  return YamlFields(node, file_, path_ + key + ".");
}

std::vector<YamlFields> YamlFields::list(const std::string& key) {
  const YAML::Node node = required(key);
  if (!node.IsSequence()) refuse(key, fmt::format("must be a list, not {}", shown(node)));
  std::vector<YamlFields> items;
  for (const auto& item : node) {
    if (!item.IsMap())
      refuse(key, fmt::format("must be a list of mappings, not of {}", shown(item)));
    items.push_back(YamlFields(item, file_, fmt::format("{}{}[{}].", path_, key, items.size())));
  }
  return items;
}

std::vector<std::string> YamlFields::keys() const {
  return keys_;
}

void YamlFields::refuse_unknown() const {
  for (const auto& key : keys_) {
    if (entries_.at(key).asked) continue;
    const std::string hint = did_you_mean(key, asked_);
    refuse(key, "is no known key" + (hint.empty() ? "; known: " + sentence_list(asked_) : hint));
  }
}

void YamlFields::refuse(const std::string& key, const std::string& text) const {
  const auto found = entries_.find(key);
  throw UserError(fmt::format("{}:{}: {}{}: {}", file_,
                              found == entries_.end() ? line_ : found->second.line, path_,
                              printable(key, kShownText), text));
}

}  // namespace gauntlet
