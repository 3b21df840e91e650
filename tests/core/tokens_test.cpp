// SPDX-License-Identifier: Apache-2.0
#include "harness/core/tokens.h"

#include <doctest/doctest.h>
#include <string>

using namespace gauntlet;

namespace {

/// "a|+|b": what the tokens are.
std::string split(std::string_view source) {
  std::string text;
  for (const Token& token : tokens(source))
    text += (text.empty() ? "" : "|") + std::string(token.text);
  return text;
}

}  // namespace

TEST_CASE("operators are as long as they can be") {
  CHECK(split("a<=b&&c->d") == "a|<=|b|&&|c|->|d");
  CHECK(split("x<<=1>>y") == "x|<<=|1|>>|y");
  CHECK(split("i+++j") == "i|++|+|j");
  CHECK(split("std::f(...)") == "std|::|f|(|...|)");
}

TEST_CASE("a number is one token with its separators, sign and suffix") {
  CHECK(split("1'000'000+2") == "1'000'000|+|2");
  CHECK(split("1.5e-3f-.5") == "1.5e-3f|-|.5");
  CHECK(split("0x1p-149f*2u") == "0x1p-149f|*|2u");
  CHECK(split("a-1") == "a|-|1");
  for (const char* number : {"7", "0xFFull", "1e10", "2.0"}) {
    REQUIRE(tokens(number).size() == 1);
    CHECK(tokens(number)[0].kind == Token::Kind::number);
  }
}

TEST_CASE("literals are one token, with what looks like a comment or an operator in them") {
  CHECK(split("f(\"a // + \\\" b\", '\\'')") == "f|(|\"a // + \\\" b\"|,|'\\''|)");
  CHECK(split("u8R\"x(a \" )\" b)x\"+1") == "u8R\"x(a \" )\" b)x\"|+|1");
  CHECK(tokens("L'x'")[0].kind == Token::Kind::literal);
}

TEST_CASE("comments and blanks are gaps, and directives are told from code") {
  const auto all = tokens("a /* b */+c\n#define F \\\n x // y\nz");
  REQUIRE(all.size() == 8);
  CHECK_FALSE(all[0].gap);
  CHECK(all[1].gap);
  CHECK_FALSE(all[2].gap);
  for (const std::size_t i : {3, 4, 5, 6}) CHECK(all[i].directive);
  CHECK(all[6].text == "x");
  CHECK_FALSE(all[7].directive);
  CHECK(all[7].place == 32);
}

TEST_CASE("what is left open ends with the text") {
  CHECK(split("a /* b") == "a");
  CHECK(split("\"ab") == "\"ab");
  CHECK(split("R\"x(ab") == "R\"x(ab");
  CHECK(split("").empty());
}
