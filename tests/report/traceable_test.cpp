// SPDX-License-Identifier: Apache-2.0
// Every number on a page stands in aggregate.json, in one of the forms that pages print.
#include <cmath>
#include <doctest/doctest.h>
#include <regex>
#include <set>

#include "harness/core/files.h"
#include "harness/report/model/aggregate.h"
#include "harness/report/text/phrases.h"
#include "tests/report/committed.h"
#include "tests/report/random_table.h"

using namespace gauntlet;

namespace {

using Tokens = std::set<std::string>;

// What the prose of the pages says in figures: confidence, the ends of a scale, rounds needed.
const Tokens kProse{"99", "0", "100", "1", "2", "3"};

Tokens numbers_in(const std::string& text) {
  static const std::regex kNumber(R"((\d+(\.\d+)?([eE][-+]?\d+)?))");
  Tokens found;
  for (std::sregex_iterator one(text.begin(), text.end(), kNumber), end; one != end; ++one)
    found.insert(one->str());
  return found;
}

void add_forms(double value, Tokens& known) {
  value = std::abs(value);
  for (const char* form : {"{:.0f}", "{:.1f}", "{:.2f}", "{:.2g}", "{:.4g}", "{:.6g}", "{:g}"})
    known.insert(fmt::format(fmt::runtime(form), value));
  known.insert(points(value));
  known.insert(fmt::format("{:.0f}", value * 100));  // per cent
}

void collect(const Json& json, Tokens& known) {
  if (json.is_structured())
    for (const auto& item : json.items()) {
      known.merge(numbers_in(item.key()));
      collect(item.value(), known);
    }
  if (json.is_string()) known.merge(numbers_in(json.get<std::string>()));
  if (json.is_number()) add_forms(json.get<double>(), known);
}

/// The text of a page as a reader sees it: no addresses of links, no entities. Digests and
/// commands that show a finding are names.
std::string visible(const std::string& page) {
  static const std::regex kTarget(R"re(\]\([^)]*\))re");
  static const std::regex kEntity(R"re(&#\d+;)re");
  static const std::regex kDigest(R"re((grader|rubric) [0-9a-f]{12}\b)re");
  const std::string text = std::regex_replace(std::regex_replace(page, kTarget, "]"), kEntity, " ");
  return std::regex_replace(text, kDigest, "$1");
}

std::vector<std::string> untraceable(const std::map<std::string, std::string>& pages) {
  Tokens known = kProse;
  collect(Json::parse(pages.at("aggregate.json")), known);
  std::vector<std::string> strangers;
  for (const auto& [name, page] : pages)
    if (name.size() > 3 && name.substr(name.size() - 3) == ".md")
      for (const auto& token : numbers_in(visible(page)))
        if (!known.contains(token)) strangers.push_back(name + ": " + token);
  return strangers;
}

}  // namespace

TEST_CASE("every number of the demo's pages stands in aggregate.json") {
  for (const auto& stranger : untraceable(render_report(demo::input()))) FAIL_CHECK(stranger);
}

TEST_CASE("every number of a random board's pages stands in aggregate.json") {
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    for (const auto& stranger : untraceable(render_report(random_table(seed, 5, 8, 12))))
      FAIL_CHECK(seed, " ", stranger);
}

TEST_CASE("every number of a random board of attempts stands in aggregate.json") {
  for (const auto& stranger : untraceable(render_report(random_attempts(1, 6, 6, 12))))
    FAIL_CHECK(stranger);
}

TEST_CASE("every number of the committed pages stands in the aggregate.json of their data") {
  const auto folder = committed_folder();
  std::map<std::string, std::string> pages{
      {"aggregate.json", render_report(committed_input()).at("aggregate.json")}};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string();
    const bool aggregated = name != "judged.md";  // the published judgements are data of their own
    if (entry.path().extension() == ".md" && aggregated) pages[name] = read_file(entry.path());
  }
  CHECK(pages.size() > 10);
  for (const auto& stranger : untraceable(pages)) FAIL_CHECK(stranger);
}

TEST_CASE("a number that was typed into a page is a stranger") {
  auto pages = render_report(demo::input());
  pages["README.md"] += "alpha scored 87.3.\n";
  CHECK(untraceable(pages) == std::vector<std::string>{"README.md: 87.3"});
}
