// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/report/demo.h"
#include "tests/report/golden.h"
#include "tests/store/judged_sample.h"

using namespace gauntlet;

namespace {

ReportInput judged_input(const std::string& yaml = sample::judgement_yaml()) {
  ReportInput input = demo::input();
  input.judgements["sample"] = judgement_from_yaml(yaml, "sample.yaml");
  return input;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

TEST_CASE("the page of judgements is what it was, and there is none without judgements") {
  check_golden("judged.md", render_report(judged_input()).at("judged.md"));
  CHECK_FALSE(render_report(demo::input()).contains("judged.md"));
}

TEST_CASE("judgements change no measured page, and stand beside what was measured") {
  // Challenges of the measured board are called first and second.
  const std::string yaml =
      replaced(replaced(sample::judgement_yaml(), "one", "first"), "two", "second");
  auto with = render_report(judged_input(yaml));
  const auto without = render_report(demo::input());
  const std::string page = with.at("judged.md");
  CHECK(page.find("| [alpha](submissions/alpha.md) | The first | A | A 100 (1st=) |") !=
        std::string::npos);
  CHECK(page.find("| [charlie](submissions/charlie.md) | The first | B | F 0† (4th) |") !=
        std::string::npos);
  for (const auto& other : without) {
    INFO(other.first);
    if (other.first != "README.md") CHECK(with.at(other.first) == other.second);
  }
}

TEST_CASE("what a judgement says stays text") {
  const std::string hostile = "\"</td><script>|@all ![x](y) \\e[31m\"";
  std::string yaml = replaced(sample::judgement_yaml(), "name: Alpha", "name: " + hostile);
  yaml = replaced(yaml, "title: A comparison", "title: " + hostile);
  yaml = replaced(yaml, "says: s0", "says: " + hostile);
  yaml = replaced(yaml, "items: [a, b]", "items: [" + hostile + ", b]");
  const std::string page = render_report(judged_input(yaml)).at("judged.md");
  CHECK(page.find("<script") == std::string::npos);
  CHECK(page.find("|@") == std::string::npos);
  CHECK(page.find("![x]") == std::string::npos);
  CHECK(page.find('\x1b') == std::string::npos);
}
