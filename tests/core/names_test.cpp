// SPDX-License-Identifier: Apache-2.0
#include "harness/core/names.h"

#include <doctest/doctest.h>

#include "tests/support/text.h"

using namespace gauntlet;

TEST_CASE("names of submissions need no quoting, and are those of no file and of no pair") {
  for (const char* name : {"bravo", "qwen3.6-27b", "a", "9", "vs1", "avs_b", "a_vsb", "x.mdx",
                           "json", "a-vs-b", "x.m"}) {
    INFO(std::string(name));
    CHECK(why_no_submission_name(name) == "");
  }
  for (const char* name : {"", "A", "-x", ".x", "a b", "a/b", "a|b", "a\x1b[31m", "a\nb"}) {
    INFO(std::string(name));
    CHECK(contains(why_no_submission_name(name), "use up to 64 lower-case letters"));
    CHECK_FALSE(contains(why_no_submission_name(name), "\x1b"));
    CHECK_FALSE(contains(why_no_submission_name(name), "\n"));
  }
  CHECK(why_no_submission_name(std::string(64, 'a')) == "");
  CHECK(why_no_submission_name(std::string(65, 'a')) != "");
  for (const char* name :
       {"ledger.jsonl", "matrix.svg", "x.md", "index.html", "aggregate.json", "model.yaml"})
    CHECK(contains(why_no_submission_name(name), "as files of reports do; rename its folder"));
  for (const char* name : {"a_vs_b", "vs_b", "a_vs", "vs", "a_vs_vs_b"})
    CHECK(contains(why_no_submission_name(name), "reports write 'vs' between the two names"));
}

TEST_CASE("no two pairs of submissions have one page") {
  const std::string parts[] = {"a", "b", "vs", "a_vs", "vs_b", "a_vs_b", "a_v", "s_b"};
  for (const auto& a : parts)
    for (const auto& b : parts)
      for (const auto& c : parts)
        for (const auto& d : parts) {
          bool possible = true;
          for (const auto& name : {a, b, c, d})
            possible = possible && why_no_submission_name(name).empty();
          if (!possible || (a == c && b == d)) continue;
          CHECK(a + "_vs_" + b != c + "_vs_" + d);
        }
}
