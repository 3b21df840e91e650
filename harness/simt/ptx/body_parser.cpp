// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/ptx/body_parser.h"

#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/simt/ptx/declarations.h"
#include "harness/simt/ptx/parser.h"

namespace gauntlet::simt::ptx {
namespace {

constexpr std::size_t kDeepest = 64;         // braces in braces
constexpr std::size_t kMostOperands = 4096;  // of a list; a jump table is the longest
constexpr std::uint64_t kMostRegisters = 1u << 20;

}  // namespace

void BodyParser::run() {
  place_ = function_.place;
  scopes_.open();
  while (scopes_.depth() > 0) statement();
}

void BodyParser::statement() {
  const Token token = lexer_.take();
  if (token.kind == Token::Kind::end) lexer_.fail("a function has no end");
  if (token.kind == Token::Kind::mark) {
    if (token.text == "{") {
      scopes_.open();
      if (scopes_.depth() > kDeepest) lexer_.fail("braces are nested too deep");
    } else if (token.text == "}") {
      scopes_.close();
    } else if (token.text == "@") {
      guard_negated_ = take_mark(lexer_, "!");
      const auto found = scopes_.find(lexer_.peek().text, function_.registers);
      if (!found || function_.registers[*found].type.kind != Type::Kind::predicate)
        lexer_.fail("a guard is a predicate register");
      lexer_.take();
      guard_ = *found;
      instruction(lexer_.take().text);
      guard_ = Operand::kNone;
    } else if (token.text != ";") {
      lexer_.fail("an instruction was expected");
    }
    return;
  }
  if (token.kind != Token::Kind::word) lexer_.fail("an instruction was expected");
  if (token.text.starts_with('.')) return directive(token.text);
  if (take_mark(lexer_, ":")) {
    if (lexer_.peek().text == ".branchtargets") {
      lexer_.take();
      std::vector<std::string_view>& table = function_.branch_tables[token.text];
      do table.push_back(lexer_.take().text);
      while (take_mark(lexer_, ",") && table.size() < kMostOperands);
      return need_mark(lexer_, ";");
    }
    const auto index = static_cast<std::uint32_t>(function_.body.size());
    if (!function_.labels.emplace(token.text, index).second)
      lexer_.fail(fmt::format("two labels are named {}", one_line(token.text, 80)));
    return;
  }
  instruction(token.text);
}

void BodyParser::directive(std::string_view word) {
  if (word == ".reg") return registers();
  if (word == ".loc") {
    place_ = skip_location(lexer_);
    return;
  }
  if (word == ".pragma") {
    lexer_.take();
    return need_mark(lexer_, ";");
  }
  const std::optional<Space> space = space_named(word);
  if (!space || *space == Space::global || *space == Space::constant)
    lexer_.fail(fmt::format("'{}' is not supported in a function", one_line(word, 60)));
  if (function_.variables.size() >= kMostRegisters) lexer_.fail("too many variables");
  do function_.variables.push_back(parse_variable(lexer_, *space, bytes_));
  while (take_mark(lexer_, ","));
  need_mark(lexer_, ";");
}

void BodyParser::registers() {
  const std::string_view type_text = lexer_.take().text;
  const Type type = type_named(type_text.starts_with('.') ? type_text.substr(1) : "");
  if (type.kind != Type::Kind::predicate && type.bytes != 2 && type.bytes != 4 && type.bytes != 8)
    lexer_.fail(fmt::format("registers of type '{}' are not supported", one_line(type_text, 40)));
  do {
    const Token name = lexer_.take();
    if (name.kind != Token::Kind::word) lexer_.fail("a register has no name");
    if (take_mark(lexer_, "<")) {
      scopes_.declare_range(name.text, lexer_.take().value, type);
      need_mark(lexer_, ">");
    } else {
      scopes_.declare(name.text, type);
    }
  } while (take_mark(lexer_, ","));
  need_mark(lexer_, ";");
}

void BodyParser::instruction(std::string_view opcode) {
  if (++instructions_ > kMostInstructions)
    lexer_.fail(fmt::format("more than {} instructions", kMostInstructions));
  Instruction made;
  made.guard = guard_;
  made.guard_negated = guard_negated_ && guard_ != Operand::kNone;
  made.opcode = opcode;
  made.place = place_;
  made.place.ptx_line = lexer_.line();
  if (!take_mark(lexer_, ";")) {
    do made.operands.push_back(operand());
    while (take_mark(lexer_, ",") && made.operands.size() < kMostOperands);
    need_mark(lexer_, ";");
  }
  function_.body.push_back(std::move(made));
  if (function_.registers.size() > kMostRegisters) lexer_.fail("too many registers");
}

void BodyParser::name_into(Operand& made, std::string_view name) {
  if (const auto found = scopes_.find(name, function_.registers)) {
    made.kind = Operand::Kind::reg;
    made.reg = *found;
  } else {
    made.kind = Operand::Kind::symbol;
    made.name = name;
  }
}

Operand BodyParser::operand() {
  if (++nesting_ > 4) lexer_.fail("operands are nested too deep");
  Operand made;
  if (take_mark(lexer_, "[")) {
    made = address();
  } else if (take_mark(lexer_, "{")) {
    made.kind = Operand::Kind::vector;
    made.items = sequence("}");
  } else if (take_mark(lexer_, "(")) {
    made.kind = Operand::Kind::list;
    made.items = sequence(")");
  } else if (lexer_.peek().kind == Token::Kind::number || lexer_.peek().text == "-") {
    made = number();
  } else {
    made.negated = take_mark(lexer_, "!");
    const Token name = lexer_.take();
    if (name.kind != Token::Kind::word) lexer_.fail("an operand was expected");
    if (name.text != "_") name_into(made, name.text);
    if (take_mark(lexer_, "|")) {
      const auto second = scopes_.find(lexer_.take().text, function_.registers);
      if (!second || made.kind != Operand::Kind::reg) lexer_.fail("d|p are two registers");
      made.second = *second;
    }
  }
  --nesting_;
  return made;
}

Operand BodyParser::number() {
  bool negative = false;
  while (take_mark(lexer_, "-")) negative = !negative;
  const Token token = lexer_.take();
  if (token.kind != Token::Kind::number) lexer_.fail("a number was expected");
  Operand made;
  made.value = negative ? 0 - token.value : token.value;
  made.kind = token.number == Token::Number::single ? Operand::Kind::single
              : token.number == Token::Number::real ? Operand::Kind::real
                                                    : Operand::Kind::integer;
  if (negative && made.kind != Operand::Kind::integer) lexer_.fail("no sign goes before 0f or 0d");
  return made;
}

Operand BodyParser::address() {
  Operand made;
  if (lexer_.peek().kind == Token::Kind::word) {
    name_into(made, lexer_.take().text);
    if (take_mark(lexer_, "+") || lexer_.peek().text == "-") made.value = number().value;
  } else {
    made.value = number().value;
  }
  made.kind = Operand::Kind::address;
  need_mark(lexer_, "]");
  return made;
}

std::vector<Operand> BodyParser::sequence(std::string_view end) {
  std::vector<Operand> made;
  while (!take_mark(lexer_, end)) {
    if (!made.empty()) need_mark(lexer_, ",");
    if (made.size() >= kMostOperands) lexer_.fail("a list of operands is too long");
    made.push_back(operand());
  }
  return made;
}

}  // namespace gauntlet::simt::ptx
