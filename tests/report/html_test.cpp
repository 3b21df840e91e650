// SPDX-License-Identifier: Apache-2.0
// The page of the report, read as text and in a real browser: it renders, complains of nothing, and
// can be used.
#include <algorithm>
#include <doctest/doctest.h>

#include "harness/report/html/html_page.h"
#include "tests/report/browser.h"
#include "tests/report/demo.h"

using namespace gauntlet;

namespace {

constexpr const char* kNoBrowser = "chromium is not installed; this test is skipped";

const std::string kHostileHtml =
    "</td></script><script>window.hacked=1</script><img src=x "
    "onerror=window.hacked=1>\" onmouseover=\"window.hacked=1";

/// The demo with a submission that tries to leave its text.
ReportInput input() {
  ReportInput input = demo::input();
  for (auto& cell : input.cells)
    for (auto& check : cell.checks)
      if (check.finding) {
        check.finding->summary += kHostileHtml;
        check.finding->evidence.push_back(kHostileHtml);
      }
  input.cells[5].claims_fault += kHostileHtml;
  input.cards["bravo"].name = kHostileHtml;
  input.challenges[0].title += kHostileHtml;
  return input;
}

struct OpenPage {
  OpenPage() {
    const auto file = folder.path() / "index.html";
    write_file(file, render_html(aggregate(input())));
    browser.open(file);
  }
  std::string text(const std::string& selector) {
    return browser.evaluate("document.querySelector(`" + selector + "`).innerText")
        .get<std::string>();
  }
  /// Names down the first column, those that show.
  std::string rows() {
    return browser
        .evaluate(
            "[...document.querySelectorAll('#matrix tbody tr')].filter((r) => "
            "!r.hidden).map((r) => r.cells[0].innerText).join(' ')")
        .get<std::string>();
  }
  ScratchFolder folder{"page"};
  Browser browser;
};

}  // namespace

TEST_CASE("the page holds what is said to it as text, and admits its own script only") {
  const std::string page = render_html(aggregate(input()));
  CHECK(page.find("<script>window") == std::string::npos);
  CHECK(page.find("<img") == std::string::npos);
  CHECK(page.find('\x1b') == std::string::npos);
  CHECK(page.find("script-src " + html::script_source(html::page_js)) != std::string::npos);
  CHECK(html::script_source("") == "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
  for (const char* other : {"src=", "http:", "https:", "url(", "@import"}) {
    INFO(other);
    CHECK(render_html(aggregate(demo::input())).find(other) == std::string::npos);
  }
}

TEST_CASE("the page stands in a browser without a complaint or a request, whatever is in it") {
  if (browser_program().empty()) {
    MESSAGE(kNoBrowser);
    return;
  }
  OpenPage page;
  CHECK(page.rows() == "alpha bravo delta charlie reference");
  CHECK(page.browser.evaluate("document.getElementById('tools').hidden") == false);
  CHECK(page.browser.evaluate("window.hacked === undefined") == true);
  CHECK(page.browser.evaluate("document.scripts.length") == 1);
  CHECK(page.browser.evaluate("document.images.length") == 0);
  CHECK(page.browser.evaluate("document.compatMode") == "CSS1Compat");
  for (const char* complaint :
       {"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"}) {
    for (const Json& event : page.browser.events(complaint)) FAIL_CHECK(event.dump());
  }
  for (const Json& request : page.browser.events("Network.requestWillBeSent"))
    CHECK(request["request"]["url"].get<std::string>().rfind("file://", 0) == 0);
  CHECK(page.browser.events("Network.requestWillBeSent").size() == 1);
}

TEST_CASE("a click on a grade opens its findings, by mouse and by keyboard") {
  if (browser_program().empty()) {
    MESSAGE(kNoBrowser);
    return;
  }
  OpenPage page;
  const std::string shown = "getComputedStyle(document.getElementById('cell-bravo-first')).display";
  CHECK(page.browser.evaluate(shown) == "none");
  page.browser.click("a[href='#cell-bravo-first']");
  CHECK(page.browser.evaluate(shown) == "block");
  CHECK(page.text("#cell-bravo-first").find("offset_ladder") != std::string::npos);
  CHECK(page.text("#cell-bravo-first").find("./gauntlet show bravo first/offset_ladder") !=
        std::string::npos);
  CHECK(page.browser.evaluate("document.activeElement.id") == "cell-bravo-first");
  page.browser.evaluate("document.querySelector(\"a[href='#cell-alpha-second']\").focus()");
  page.browser.press("Enter", 13);
  CHECK(page.browser.evaluate(shown) == "none");
  CHECK(page.browser.evaluate("document.activeElement.id") == "cell-alpha-second");
}

TEST_CASE("the matrix is sorted by its headings and filtered by its field") {
  if (browser_program().empty()) {
    MESSAGE(kNoBrowser);
    return;
  }
  OpenPage page;
  const std::string second = "#matrix thead th:nth-child(3)";
  page.browser.click(second + " button");
  CHECK(page.rows() == "bravo reference alpha delta charlie");
  CHECK(page.browser.evaluate("document.querySelector('" + second +
                              "').getAttribute('aria-sort')") == "descending");
  page.browser.evaluate("document.querySelector('" + second + " button').focus()");
  page.browser.press("Enter", 13);
  CHECK(page.rows() == "delta charlie alpha bravo reference");
  page.browser.click("#filter");
  page.browser.type("offset_ladder");
  CHECK(page.rows() == "bravo");
  CHECK(page.text("#status") == "1 of 5 shown");
}

TEST_CASE("a screen reader is told what everything is") {
  if (browser_program().empty()) {
    MESSAGE(kNoBrowser);
    return;
  }
  OpenPage page;
  const Json tree = page.browser.call("Accessibility.getFullAXTree");
  std::vector<std::string> seen;
  for (const Json& node : tree["nodes"]) {
    if (node.value("ignored", false) || !node.contains("role")) continue;
    const std::string role = node["role"]["value"];
    const std::string name = node.contains("name") ? node["name"]["value"].get<std::string>() : "";
    seen.push_back(role + ": " + name);
    if (role == "button" || role == "link" || role == "searchbox") CHECK_FALSE(name.empty());
  }
  for (const char* wanted : {"searchbox: Filter by submission or failed check", "rowheader: alpha",
                             "button: Mean", "region: Grade matrix"}) {
    INFO(wanted);
    CHECK(std::find(seen.begin(), seen.end(), wanted) != seen.end());
  }
}
