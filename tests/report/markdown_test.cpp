// SPDX-License-Identifier: Apache-2.0
#include "harness/report/text/markdown.h"

#include <doctest/doctest.h>

using namespace gauntlet;

TEST_CASE("markup in plain text has no effect") {
  CHECK(markdown::text("a|b") == "a&#124;b");
  CHECK(markdown::text("*x* _y_ `z` <b> [l](u)") ==
        "&#42;x&#42; &#95;y&#95; &#96;z&#96; &#60;b&#62; &#91;l&#93;(u)");
  CHECK(markdown::text("@user #12") == "@<!-- -->user #<!-- -->12");
  CHECK(markdown::text("https://x www.x.org") == "https&#58;//x www&#46;x.org");
  CHECK(markdown::text("one\ntwo\x1b[31m") == "one two\uFFFD");
  CHECK(markdown::text("&lt;") == "&#38;lt;");
}

TEST_CASE("ordinary text stays as it is") {
  CHECK(markdown::text("D = 1, odd_sizes: rows of 4096 (float32) - 5.3e-05") ==
        "D = 1, odd_sizes: rows of 4096 (float32) - 5.3e-05");
}

TEST_CASE("code is fenced by more ticks than it holds") {
  CHECK(markdown::code("a") == "`a`");
  CHECK(markdown::code("a`b``c") == "```a`b``c```");
  CHECK(markdown::code("`") == "`` ` ``");
  CHECK(markdown::code("a\nb") == "`a b`");
  CHECK(markdown::code("") == "");
}

TEST_CASE("a block is fenced by more ticks than it holds, and indented as a whole") {
  CHECK(markdown::block("a\nb\n") == "```text\na\nb\n```\n");
  CHECK(markdown::block("```\nx", "  ") == "  ````text\n  ```\n  x\n  ````\n");
}

TEST_CASE("a table aligns all but its first column to the right") {
  markdown::Table table({"A", "B"});
  CHECK(table.empty());
  table.row({"x", "1"});
  CHECK(table.str() == "| A | B |\n| --- | --: |\n| x | 1 |\n");
}
