// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/core/yaml.h"
#include "harness/store/judgement.h"

namespace gauntlet {

inline constexpr std::size_t kShownText = 80;  // bytes of a bad value that a message repeats

/// The ids that a judgement introduces, and the reading of values that must be among them. Every
/// complaint is the UserError of the fields that were read.
struct JudgementNames {
  std::vector<std::string> documents;
  std::vector<std::string> models;
  std::vector<std::string> challenges;

  std::string document(YamlFields& in) const;   // of the key "document"
  std::string model(YamlFields& in) const;      // of the key "model"
  std::string challenge(YamlFields& in) const;  // of the key "challenge"
  std::vector<std::string> challenge_list(YamlFields& in) const;
  stated::Two two_models(YamlFields& in) const;
};

/// Throws unless `id`, the value or the name of `key`, is among `ids`; `kind` says of what.
void require_id(YamlFields& in, const std::string& key, const std::string& kind,
                const std::vector<std::string>& ids, const std::string& id);

/// Throws unless `written`, the value of `key`, is a letter.
std::string require_letter(YamlFields& in, const std::string& key, const std::string& written);

/// A number of challenges, places or rounds.
int read_count(YamlFields& in, const std::string& key);

/// What a statement asserts: the one key of it that names a kind of assertion. Refuses all other
/// keys that were not read before.
Assertion read_assertion(YamlFields& statement, const JudgementNames& names);

}  // namespace gauntlet
