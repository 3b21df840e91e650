// SPDX-License-Identifier: Apache-2.0
#include "harness/core/yaml.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <functional>

#include "harness/core/error.h"

using namespace gauntlet;

namespace {

YamlFields fields(const std::string& text) {
  return YamlFields::of_text(text, "f.yaml");
}

std::string complaint(const std::function<void()>& act) {
  try {
    act();
  } catch (const UserError& error) {
    CHECK(error.exit_code == 2);
    return error.what();
  }
  return "no complaint";
}

}  // namespace

TEST_CASE("a mapping is read key by key, with its types") {
  YamlFields in = fields(
      "title: Softmax\nrounds: 3\nscale: 0.5\nquick: true\nexports: [a, b]\nsizes: [1, 2.5]\n"
      "limits: {seconds: 2}\nmutants:\n  - {name: x}\n  - {name: y}\n");
  CHECK(in.text("title") == "Softmax");
  CHECK(in.integer("rounds") == 3);
  CHECK(in.number("scale") == 0.5);
  CHECK(in.truth("quick"));
  CHECK(in.texts("exports") == std::vector<std::string>{"a", "b"});
  CHECK(in.numbers("sizes") == std::vector<double>{1, 2.5});
  CHECK(in.fields("limits").integer("seconds") == 2);
  CHECK(in.list("mutants").at(1).text("name") == "y");
  CHECK_NOTHROW(in.refuse_unknown());
  CHECK(in.keys().front() == "title");
}

TEST_CASE("asking whether a key is there does not add it") {
  YamlFields in = fields("a: 1\n");
  CHECK_FALSE(in.has("b"));
  CHECK(in.keys() == std::vector<std::string>{"a"});
}

TEST_CASE("an unknown key is refused with line and nearest known key") {
  YamlFields in = fields("title: x\nroudn: 2\n");
  in.text("title");
  in.has("round");
  CHECK(complaint([&] { in.refuse_unknown(); }) ==
        "f.yaml:2: roudn: is no known key, did you mean 'round'?");
}

TEST_CASE("a key that is like no other is answered with the known ones") {
  YamlFields in = fields("title: x\nzzz: 2\n");
  in.text("title");
  CHECK(complaint([&] { in.refuse_unknown(); }) == "f.yaml:2: zzz: is no known key; known: title");
}

TEST_CASE("a missing key is named, and a misspelt one is suspected") {
  YamlFields in = fields("# comment\ntilte: x\n");
  CHECK(complaint([&] { in.text("round"); }) == "f.yaml:2: round: is missing; add it");
  CHECK(complaint([&] { in.text("title"); }) ==
        "f.yaml:2: title: is missing; for 'tilte', did you mean 'title'?");
}

TEST_CASE("a value of the wrong kind is told with its place") {
  YamlFields in = fields("a: x\nb: .nan\nlimits:\n  c: 1.5\n  d:\n");
  CHECK(complaint([&] { in.number("a"); }) == "f.yaml:1: a: must be a finite number, not 'x'");
  CHECK(complaint([&] { in.number("b"); }) == "f.yaml:2: b: must be a finite number, not '.nan'");
  CHECK(complaint([&] { in.fields("limits").integer("c"); }) ==
        "f.yaml:4: limits.c: must be a whole number, not '1.5'");
  CHECK(complaint([&] { in.fields("limits").text("d"); }) ==
        "f.yaml:5: limits.d: must be text, not nothing");
  CHECK(complaint([&] { in.texts("a"); }) == "f.yaml:1: a: must be a list, not 'x'");
  CHECK(complaint([&] { in.truth("a"); }) == "f.yaml:1: a: must be true or false, not 'x'");
}

TEST_CASE("a key that is written twice is refused") {
  CHECK(complaint([] { fields("a: 1\nb: 2\na: 3\n"); }) == "f.yaml:3: a: is given twice; keep one");
}

TEST_CASE("text that is no YAML is refused with its line") {
  CHECK(complaint([] { fields("a: 1\nb: [1,\n"); }).find("f.yaml:3: is no YAML") == 0);
  CHECK(complaint([] { fields("- a\n"); }).find("f.yaml:1: must be a list of 'key: value'") == 0);
  CHECK(complaint([] { fields(""); }).find("f.yaml:1: ") == 0);
}

TEST_CASE("an error message repeats no control bytes of the file") {
  YamlFields in = fields("\"a\\e[31m\": 1\n");
  CHECK(complaint([&] { in.refuse_unknown(); }).find('\x1b') == std::string::npos);
}

TEST_CASE("time grows with a file's length, whatever it holds") {
  // Each takes milliseconds; in proportion to the square of the keys it would take minutes.
  std::string keys;
  std::string rows = "rows:\n";
  for (int i = 0; i < 150'000; ++i) {
    keys += fmt::format("k{}: 1\n", i);
    rows += fmt::format("  r{}: {{a: 1}}\n", i);
  }
  YamlFields in = fields(keys);
  for (const auto& key : in.keys()) CHECK(in.integer(key) == 1);
  CHECK_NOTHROW(in.refuse_unknown());
  YamlFields table = fields(rows);
  YamlFields nested = table.fields("rows");
  for (const auto& key : nested.keys()) CHECK(nested.fields(key).integer("a") == 1);
}

TEST_CASE("what refers to itself or nests deep is refused before it is built") {
  const auto said = [](const std::string& text) { return complaint([&] { fields(text); }); };
  CHECK(said("a: &a [x, x]\nb: [*a, *a]\n") ==
        "f.yaml:2: aliases (*name) are not taken; write the value again");
  for (const char* step : {"[", "{a: ", "- ", "? "}) {
    CAPTURE(step);
    std::string deep = "a: ";
    if (*step == '-' || *step == '?') deep = "a:\n  ";
    for (int i = 0; i < 100'000; ++i) deep += step;
    CHECK(doctest::String(said(deep).c_str()) ==
          doctest::Contains("nests deeper than 20 lists and mappings; write it flatter"));
  }
  CHECK_NOTHROW(fields("a: [[[[[[[[[[1]]]]]]]]]]\n"));
}

TEST_CASE("a complaint of the parser shows nothing that a terminal would obey") {
  const std::string said = complaint([] { fields("a: \"\\\x1b\"\n"); });
  CHECK(said.find('\x1b') == std::string::npos);
}
