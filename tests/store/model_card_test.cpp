// SPDX-License-Identifier: Apache-2.0
#include "harness/store/model_card.h"

#include <doctest/doctest.h>

#include "harness/core/error.h"

using namespace gauntlet;

namespace {

const ModelCard kModelCard{"Bravo",        "a provider", "2026-04-03", "ab12",  "1",
                           "opencode 1.2", "high",       "none",       "48000", "310 s"};

}  // namespace

TEST_CASE("a model card that was written is read back, whatever characters it holds") {
  ModelCard odd = kModelCard;
  odd.provider = "a: b # c \"quoted\" [x] - @y | z";
  odd.date = "yes";
  const ModelCard read = model_card_from_yaml(model_card_to_yaml(odd), "model.yaml");
  CHECK(read.entries() == odd.entries());
}

TEST_CASE("each key is needed, and unknown is a value") {
  const std::string text = model_card_to_yaml(kModelCard);
  for (const auto& [key, value] : kModelCard.entries()) {
    std::string less = text;
    const auto begin = less.find(std::string(key) + ":");
    less.erase(begin, less.find('\n', begin) + 1 - begin);
    CHECK_THROWS_WITH_AS(model_card_from_yaml(less, "model.yaml"),
                         doctest::Contains((std::string(key) + ": is missing").c_str()), UserError);
    std::string unknown = text;
    unknown.replace(unknown.find(std::string(key) + ":"), unknown.find('\n', begin) - begin,
                    std::string(key) + ": unknown");
    CHECK_NOTHROW(model_card_from_yaml(unknown, "model.yaml"));
  }
}

TEST_CASE("a misspelt key is met with the right one") {
  CHECK_THROWS_WITH_AS(
      model_card_from_yaml(model_card_to_yaml(kModelCard) + "tokns: 3\n", "model.yaml"),
      "model.yaml:11: tokns: is no known key, did you mean 'tokens'?", UserError);
}

TEST_CASE("an empty value is no value") {
  CHECK_THROWS_WITH_AS(model_card_from_yaml("name: \"\"\n", "model.yaml"),
                       doctest::Contains("name: is empty; write 'unknown'"), UserError);
}

TEST_CASE("a value is one short line, so that what is stored can be read again") {
  for (const std::string& value :
       {std::string(401, 'x'), std::string("a\x01b"), std::string("a\nb")}) {
    ModelCard odd = kModelCard;
    odd.provider = value;
    CHECK_THROWS_WITH_AS(model_card_from_yaml(model_card_to_yaml(odd), "model.yaml"),
                         doctest::Contains("must be one line of at most 400 bytes"), UserError);
  }
}

TEST_CASE("conditions that differ or are unknown are listed, outcomes are not") {
  ModelCard other = kModelCard;
  CHECK(unequal_conditions(kModelCard, other).empty());
  other.name = "Alpha";
  other.tokens = "9";
  CHECK(unequal_conditions(kModelCard, other).empty());
  other.thinking_level = "off";
  other.quantisation = "unknown";
  CHECK(unequal_conditions(kModelCard, other) ==
        std::vector<std::string>{"thinking_level", "quantisation unknown"});
  CHECK(unequal_conditions(other, kModelCard) == unequal_conditions(kModelCard, other));
}
