#include "harness/store/papers.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "harness/core/files.h"
#include "harness/core/yaml.h"

namespace gauntlet {
namespace {

struct Key {
  std::string_view name;
  std::string Papers::*value;
  bool condition;  // of the generation: two models differ fairly only when these are equal
};

constexpr std::array<Key, 10> kKeys{{{"name", &Papers::name, false},
                                     {"provider", &Papers::provider, false},
                                     {"date", &Papers::date, false},
                                     {"prompt_digest", &Papers::prompt_digest, true},
                                     {"attempt", &Papers::attempt, true},
                                     {"agent_harness", &Papers::agent_harness, true},
                                     {"thinking_level", &Papers::thinking_level, true},
                                     {"quantisation", &Papers::quantisation, true},
                                     {"tokens", &Papers::tokens, false},
                                     {"wall_time", &Papers::wall_time, false}}};

// Written again, a control character takes six bytes: what was read must stay readable.
constexpr std::size_t kLongestValue = 400;

bool is_one_short_line(std::string_view value) {
  return value.size() <= kLongestValue && std::none_of(value.begin(), value.end(), [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
         });
}

}  // namespace

std::vector<std::pair<std::string_view, std::string>> Papers::entries() const {
  std::vector<std::pair<std::string_view, std::string>> all;
  for (const Key& key : kKeys) all.emplace_back(key.name, this->*key.value);
  return all;
}

Papers read_papers(const std::filesystem::path& file) {
  return papers_from_yaml(read_file(file, kPapersFile), file.string());
}

Papers papers_from_yaml(const std::string& text, const std::string& shown_name) {
  YamlFields fields = YamlFields::of_text(text, shown_name);
  Papers papers;
  for (const Key& key : kKeys) {
    papers.*key.value = fields.text(std::string(key.name));
    if ((papers.*key.value).empty())
      fields.refuse(std::string(key.name), "is empty; write 'unknown' when nobody knows");
    if (!is_one_short_line(papers.*key.value))
      fields.refuse(std::string(key.name),
                    fmt::format("must be one line of at most {} bytes without control characters",
                                kLongestValue));
  }
  fields.refuse_unknown();
  return papers;
}

std::string papers_to_yaml(const Papers& papers) {
  YAML::Emitter yaml;
  yaml << YAML::BeginMap;
  for (const auto& [key, value] : papers.entries())
    yaml << YAML::Key << std::string(key) << YAML::Value << value;
  yaml << YAML::EndMap;
  return std::string(yaml.c_str()) + "\n";
}

std::vector<std::string> unequal_conditions(const Papers& a, const Papers& b) {
  std::vector<std::string> reasons;
  for (const Key& key : kKeys) {
    if (!key.condition) continue;
    const std::string& left = a.*key.value;
    const std::string& right = b.*key.value;
    if (left == kUnknown || right == kUnknown)
      reasons.push_back(fmt::format("{} unknown", key.name));
    else if (left != right)
      reasons.push_back(std::string(key.name));
  }
  return reasons;
}

}  // namespace gauntlet
