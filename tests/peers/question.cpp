// SPDX-License-Identifier: Apache-2.0
#include "tests/peers/question.h"

#include <map>

namespace gauntlet::peers {
namespace {

std::map<std::string, MakeQuestion>& kinds() {
  static std::map<std::string, MakeQuestion> all;
  return all;
}

}  // namespace

QuestionKind::QuestionKind(std::string challenge, MakeQuestion make) {
  kinds().emplace(std::move(challenge), make);
}

MakeQuestion question_of(const std::string& challenge) {
  const auto found = kinds().find(challenge);
  return found == kinds().end() ? nullptr : found->second;
}

std::vector<std::string> challenges_with_questions() {
  std::vector<std::string> names;
  for (const auto& [name, make] : kinds()) names.push_back(name);
  return names;
}

}  // namespace gauntlet::peers
