#include "harness/core/yaml.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"

namespace gauntlet {
namespace {

constexpr std::size_t kShownText = 80;  // bytes of a bad value that an error message repeats

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

}  // namespace

YamlFields::YamlFields(YAML::Node node, std::string file, std::string path)
    : node_(std::move(node)), file_(std::move(file)), path_(std::move(path)) {
  std::vector<std::string> seen;
  for (const auto& entry : node_) {
    if (!entry.first.IsScalar())
      throw UserError(fmt::format("{}:{}: a key must be a word", file_, line_of(entry.first)));
    const std::string key = entry.first.Scalar();
    // yaml-cpp keeps both entries and answers with the first: a silent loss of the second.
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      throw UserError(fmt::format("{}:{}: {}{}: is given twice; keep one", file_,
                                  line_of(entry.first), path_, printable(key, kShownText)));
    seen.push_back(key);
  }
}

YamlFields YamlFields::of_file(const std::filesystem::path& file) {
  return of_text(read_file(file), file.string());
}

YamlFields YamlFields::of_text(const std::string& text, std::string shown_name) {
  YAML::Node node;
  try {
    node = YAML::Load(text);
  } catch (const YAML::Exception& error) {
    const int line = error.mark.is_null() ? 1 : error.mark.line + 1;
    throw UserError(fmt::format("{}:{}: is no YAML: {}", shown_name, line, error.msg));
  }
  if (!node.IsMap())
    throw UserError(
        fmt::format("{}:{}: must be a list of 'key: value' lines", shown_name, line_of(node)));
  return YamlFields(node, std::move(shown_name), "");
}

bool YamlFields::has(const std::string& key) {
  asked_.push_back(key);
  const YAML::Node& mapping = node_;  // the non-const operator[] would add the key
  return mapping[key].IsDefined();
}

YAML::Node YamlFields::required(const std::string& key) {
  if (!has(key)) {
    // The likely cause is a key that was misspelt.
    for (const auto& written : keys())
      if (const auto hint = did_you_mean(written, std::vector<std::string>{key}); !hint.empty())
        refuse(key, fmt::format("is missing; for '{}'{}", printable(written, kShownText), hint));
    refuse(key, "is missing; add it");
  }
  const YAML::Node& mapping = node_;
  return mapping[key];
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
  std::vector<std::string> names;
  for (const auto& entry : node_) names.push_back(entry.first.Scalar());
  return names;
}

void YamlFields::refuse_unknown() const {
  for (const auto& key : keys()) {
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    const std::string hint = did_you_mean(key, asked_);
    refuse(key, "is no known key" + (hint.empty() ? "; known: " + sentence_list(asked_) : hint));
  }
}

void YamlFields::refuse(const std::string& key, const std::string& text) const {
  int line = line_of(node_);
  for (const auto& entry : node_)
    if (entry.first.Scalar() == key) line = line_of(entry.first);
  throw UserError(
      fmt::format("{}:{}: {}{}: {}", file_, line, path_, printable(key, kShownText), text));
}

}  // namespace gauntlet
