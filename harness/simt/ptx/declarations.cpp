// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/ptx/declarations.h"

#include <cstring>
#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/simt/ptx/parser.h"

namespace gauntlet::simt::ptx {
namespace {

void append_value(Lexer& lexer, Variable& made, std::uint64_t element) {
  bool negative = false;
  while (take_mark(lexer, "-")) negative = !negative;
  if (lexer.peek().kind != Token::Kind::number)
    lexer.fail(fmt::format("{} starts with something else than numbers", one_line(made.name, 100)));
  std::uint64_t value = lexer.take().value;
  if (negative) value = 0 - value;
  if (made.value.size() + element > made.bytes)
    lexer.fail(fmt::format("{} starts with more than it holds", one_line(made.name, 100)));
  const std::size_t at = made.value.size();
  made.value.resize(at + element);
  std::memcpy(made.value.data() + at, &value, element);
}

std::uint64_t product_of_sizes(Lexer& lexer, std::uint64_t element, bool& unsized) {
  std::uint64_t bytes = element;
  while (take_mark(lexer, "[")) {
    if (take_mark(lexer, "]")) {
      unsized = true;
      continue;
    }
    const std::uint64_t count = lexer.take().value;
    if (count > kMostVariableBytes || bytes * count > kMostVariableBytes)
      lexer.fail("a variable is larger than 64 MiB");
    bytes *= count;
    need_mark(lexer, "]");
  }
  return unsized ? 0 : bytes;
}

}  // namespace

bool take_mark(Lexer& lexer, std::string_view mark) {
  if (lexer.peek().kind != Token::Kind::mark || lexer.peek().text != mark) return false;
  lexer.take();
  return true;
}

void need_mark(Lexer& lexer, std::string_view mark) {
  if (!take_mark(lexer, mark)) lexer.fail(fmt::format("'{}' was expected", mark));
}

std::optional<Space> space_named(std::string_view directive) {
  if (directive == ".global") return Space::global;
  if (directive == ".shared") return Space::shared;
  if (directive == ".local") return Space::local;
  if (directive == ".const") return Space::constant;
  if (directive == ".param") return Space::parameter;
  return std::nullopt;
}

Type type_named(std::string_view name) {
  if (name == "pred") return {Type::Kind::predicate, 0};
  if (name == "b128") return {Type::Kind::bits, 16};
  if (name == "f16x2" || name == "bf16x2") return {Type::Kind::floating, 4};
  if (name == "bf16") return {Type::Kind::floating, 2};
  if (name.size() < 2) return {};
  const char kind = name[0];
  const std::string_view bits = name.substr(1);
  const std::uint8_t bytes = bits == "8"    ? 1
                             : bits == "16" ? 2
                             : bits == "32" ? 4
                             : bits == "64" ? 8
                                            : 0;
  if (kind == 'f') return {Type::Kind::floating, bytes >= 2 ? bytes : std::uint8_t(0)};
  if (kind == 'b' || kind == 'u' || kind == 's') return {Type::Kind::bits, bytes};
  return {};
}

Variable parse_variable(Lexer& lexer, Space space, std::uint64_t& total) {
  Variable made;
  made.space = space;
  Type type;
  while (type.bytes == 0) {
    const std::string_view word = lexer.take().text;
    if (word == ".align") {
      made.align = lexer.take().value;
      if (made.align == 0 || made.align > 4096 || (made.align & (made.align - 1)) != 0)
        lexer.fail("an alignment is a power of two, and 4096 at most");
    } else {
      type = type_named(word.starts_with('.') ? word.substr(1) : "");
      if (type.bytes == 0) lexer.fail(fmt::format("'{}' is no type", one_line(word, 60)));
    }
  }
  made.align = std::max<std::uint64_t>(made.align, type.bytes);
  // .ptr .global .align 16 says what a parameter points to, which nothing here relies on.
  if (lexer.peek().text == ".ptr") {
    lexer.take();
    if (space_named(lexer.peek().text)) lexer.take();
    if (lexer.peek().text == ".align") {
      lexer.take();
      lexer.take();
    }
  }
  const Token name = lexer.take();
  if (name.kind != Token::Kind::word) lexer.fail("a variable has no name");
  made.name = name.text;
  made.bytes = product_of_sizes(lexer, type.bytes, made.unsized);
  total += made.bytes;
  if (total > kMostVariableBytes) lexer.fail("variables take more than 64 MiB");
  if (take_mark(lexer, "=")) {
    if (take_mark(lexer, "{")) {
      do append_value(lexer, made, type.bytes);
      while (take_mark(lexer, ","));
      need_mark(lexer, "}");
    } else {
      append_value(lexer, made, type.bytes);
    }
  }
  return made;
}

Place skip_location(Lexer& lexer) {
  Place place;
  place.ptx_line = lexer.line();
  place.file = static_cast<std::uint32_t>(lexer.take().value);
  place.line = static_cast<std::uint32_t>(lexer.take().value);
  lexer.take();                    // column
  while (take_mark(lexer, ",")) {  // function_name NAME [+ N], inlined_at FILE LINE COLUMN
    if (lexer.take().text == "function_name") {
      lexer.take();
      if (take_mark(lexer, "+")) lexer.take();
    } else {
      for (int i = 0; i < 3; ++i) lexer.take();
    }
  }
  return place;
}

}  // namespace gauntlet::simt::ptx
