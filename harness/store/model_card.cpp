// SPDX-License-Identifier: Apache-2.0
#include "harness/store/model_card.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "harness/core/files.h"
#include "harness/core/yaml.h"

namespace gauntlet {
namespace {

struct Key {
  std::string_view name;
  std::string ModelCard::*value;
  bool condition;  // of the generation: two models differ fairly only when these are equal
};

constexpr std::array<Key, 10> kKeys{{{"name", &ModelCard::name, false},
                                     {"provider", &ModelCard::provider, false},
                                     {"date", &ModelCard::date, false},
                                     {"prompt_digest", &ModelCard::prompt_digest, true},
                                     {"attempt", &ModelCard::attempt, true},
                                     {"agent_harness", &ModelCard::agent_harness, true},
                                     {"thinking_level", &ModelCard::thinking_level, true},
                                     {"quantisation", &ModelCard::quantisation, true},
                                     {"tokens", &ModelCard::tokens, false},
                                     {"wall_time", &ModelCard::wall_time, false}}};

// Written again, a control character takes six bytes: what was read must stay readable.
constexpr std::size_t kLongestValue = 400;

bool is_one_short_line(std::string_view value) {
  return value.size() <= kLongestValue && std::none_of(value.begin(), value.end(), [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
         });
}

}  // namespace

std::vector<std::pair<std::string_view, std::string>> ModelCard::entries() const {
  std::vector<std::pair<std::string_view, std::string>> all;
  for (const Key& key : kKeys) all.emplace_back(key.name, this->*key.value);
  return all;
}

ModelCard read_model_card(const std::filesystem::path& file) {
  return model_card_from_yaml(read_file(file, kModelCardFile), file.string());
}

ModelCard model_card_from_yaml(const std::string& text, const std::string& shown_name) {
  YamlFields fields = YamlFields::of_text(text, shown_name);
  ModelCard card;
  for (const Key& key : kKeys) {
    card.*key.value = fields.text(std::string(key.name));
    if ((card.*key.value).empty())
      fields.refuse(std::string(key.name), "is empty; write 'unknown' when nobody knows");
    if (!is_one_short_line(card.*key.value))
      fields.refuse(std::string(key.name),
                    fmt::format("must be one line of at most {} bytes without control characters",
                                kLongestValue));
  }
  fields.refuse_unknown();
  return card;
}

std::string model_card_to_yaml(const ModelCard& card) {
  YAML::Emitter yaml;
  yaml << YAML::BeginMap;
  for (const auto& [key, value] : card.entries())
    yaml << YAML::Key << std::string(key) << YAML::Value << value;
  yaml << YAML::EndMap;
  return std::string(yaml.c_str()) + "\n";
}

std::vector<std::string> unequal_conditions(const ModelCard& a, const ModelCard& b) {
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
