// SPDX-License-Identifier: Apache-2.0
#include "harness/store/json_fields.h"

#include <doctest/doctest.h>

#include "harness/core/error.h"
#include "tests/support/text.h"

using namespace gauntlet;

namespace {

std::string document_complaint(const std::string& text) {
  try {
    JsonFields::of_document(text, "d.json", "s/1").list("items");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no complaint";
}

std::string repeated(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

}  // namespace

TEST_CASE("a document that nests deep is refused before anything is copied") {
  const int deep = 2'000'000;  // nlohmann copies by calling itself: this would be the stack's end
  for (const auto& [open, close] : {std::pair{"[", "]"}, std::pair{"{\"a\":", "}"}}) {
    const std::string nested = repeated(open, deep) + "1" + repeated(close, deep);
    CHECK(
        contains(document_complaint("{\"schema\": \"s/1\", \"items\": [{\"x\": " + nested + "}]}"),
                 "d.json: nests deeper than 32 levels; Gauntlet writes no such file"));
  }
}

TEST_CASE("an object of countless keys is refused, and so is a key that is given twice") {
  std::string keys;
  for (int i = 0; i < 500'000; ++i) keys += "\"k" + std::to_string(i) + "\": 1, ";
  CHECK(contains(document_complaint("{" + keys + "\"schema\": \"s/1\", \"items\": []}"),
                 "d.json: an object has more than 200 keys"));
  CHECK(contains(document_complaint("{\"schema\": \"s/1\", \"items\": [], \"items\": [{}]}"),
                 "d.json: 'items' is given twice"));
  // Objects beside and within each other may use the same keys.
  CHECK(document_complaint("{\"schema\": \"s/1\", \"items\": [{\"a\": {\"a\": 1}}, {\"a\": 2}]}") ==
        "no complaint");
}
