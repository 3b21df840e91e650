// SPDX-License-Identifier: Apache-2.0
#include "harness/core/text.h"

#include <doctest/doctest.h>

using namespace gauntlet;

namespace {

const std::vector<std::string> kKnown{"correctness", "robustness", "kv_cache"};

}  // namespace

TEST_CASE("a typing error is met with the nearest known word") {
  CHECK(did_you_mean("corectness", kKnown) == ", did you mean 'correctness'?");
  CHECK(did_you_mean("kv_cahce", kKnown) == ", did you mean 'kv_cache'?");
  CHECK(did_you_mean("KV_CACHE", kKnown) == ", did you mean 'kv_cache'?");
}

TEST_CASE("a word that is like nothing known gets no guess") {
  CHECK(did_you_mean("speed", kKnown).empty());
  CHECK(did_you_mean("", kKnown).empty());
  CHECK(did_you_mean(std::string(100'000, 'x'), kKnown).empty());
}

TEST_CASE("a list reads as a sentence does") {
  CHECK(sentence_list({}) == "nothing");
  CHECK(sentence_list({"a"}) == "a");
  CHECK(sentence_list({"a", "b"}) == "a and b");
  CHECK(sentence_list({"a", "b", "c"}) == "a, b and c");
}

TEST_CASE("harmless text passes through, tabs, newlines and accents included") {
  CHECK(printable("a\tb\nc \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80") ==
        "a\tb\nc \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
  CHECK(printable("line\r\nnext") == "line\nnext");
}

TEST_CASE("control bytes and whole escape sequences are replaced") {
  CHECK(printable("a\x1b[31;1mred\x1b[0m") == "a\uFFFDred\uFFFD");
  CHECK(printable("\x1b]0;title\x07") == "\uFFFD]0;title\uFFFD");
  CHECK(printable(std::string_view("a\0b", 3)) == "a\uFFFDb");
  CHECK(printable("\r\x7f\xC2\x9B") == "\uFFFD\uFFFD\uFFFD");
  CHECK(printable("\u202Egnp.exe") == "\uFFFDgnp.exe");
}

TEST_CASE("bytes that are no UTF-8 are replaced one by one") {
  CHECK(printable("\xFFx") == "\uFFFDx");
  CHECK(printable("\xC0\xAF") == "\uFFFD\uFFFD");                      // overlong
  CHECK(printable("\xE0\x80\xAF") == "\uFFFD\uFFFD\uFFFD");            // overlong, of three bytes
  CHECK(printable("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");            // surrogate
  CHECK(printable("\xE2\x82") == "\uFFFD\uFFFD");                      // cut
  CHECK(printable("\xF4\x90\x80\x80") == "\uFFFD\uFFFD\uFFFD\uFFFD");  // beyond Unicode
}

TEST_CASE("a long text is cut between characters") {
  CHECK(printable("abcdef", 3) == "abc");
  CHECK(printable("ab\xE2\x82\xAC", 4) == "ab");
  CHECK(printable(std::string(1 << 20, 'a')).size() == 64 * 1024);
}
