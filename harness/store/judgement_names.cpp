// SPDX-License-Identifier: Apache-2.0
#include "harness/store/judgement_names.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/text.h"

namespace gauntlet {
namespace {

constexpr int kMostCounted = 1000;

std::string known_id(YamlFields& in, const std::string& kind, const std::vector<std::string>& ids) {
  const std::string id = in.text(kind);
  require_id(in, kind, kind, ids, id);
  return id;
}

}  // namespace

void require_id(YamlFields& in, const std::string& key, const std::string& kind,
                const std::vector<std::string>& ids, const std::string& id) {
  if (std::find(ids.begin(), ids.end(), id) != ids.end()) return;
  const std::string hint = did_you_mean(id, ids);
  in.refuse(key, fmt::format("'{}' is no {} of this file{}", printable(id, kShownText), kind,
                             hint.empty() ? "; known: " + sentence_list(ids) : hint));
}

std::string JudgementNames::document(YamlFields& in) const {
  return known_id(in, "document", documents);
}

std::string JudgementNames::model(YamlFields& in) const {
  return known_id(in, "model", models);
}

std::string JudgementNames::challenge(YamlFields& in) const {
  return known_id(in, "challenge", challenges);
}

std::vector<std::string> JudgementNames::challenge_list(YamlFields& in) const {
  std::vector<std::string> ids = in.texts("challenges");
  for (const auto& id : ids) require_id(in, "challenges", "challenge", challenges, id);
  return ids;
}

stated::Two JudgementNames::two_models(YamlFields& in) const {
  const auto ids = in.texts("models");
  for (const auto& id : ids) require_id(in, "models", "model", models, id);
  if (ids.size() != 2 || ids[0] == ids[1])
    in.refuse("models", "must be two different models, [first, second]");
  return {ids[0], ids[1]};
}

std::string require_letter(YamlFields& in, const std::string& key, const std::string& written) {
  if (!letter_points(written))
    in.refuse(key, fmt::format("'{}' is no letter; wanted A, A-, B+ and so on to D- and F",
                               printable(written, kShownText)));
  return written;
}

int read_count(YamlFields& in, const std::string& key) {
  const auto value = in.integer(key);
  if (value < 0 || value > kMostCounted)
    in.refuse(key, fmt::format("must lie between 0 and {}", kMostCounted));
  return static_cast<int>(value);
}

}  // namespace gauntlet
