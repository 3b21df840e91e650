// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/ptx/parser.h"

#include <fmt/format.h>
#include <optional>

#include "harness/core/text.h"
#include "harness/simt/ptx/body_parser.h"
#include "harness/simt/ptx/declarations.h"
#include "harness/simt/ptx/lexer.h"

namespace gauntlet::simt::ptx {
namespace {

/// What stands at the top of a module: directives, variables, functions.
class ModuleParser {
 public:
  explicit ModuleParser(Module& module) : module_(module), lexer_(module.text) {}

  void run() {
    while (lexer_.peek().kind != Token::Kind::end) statement();
  }

 private:
  void statement() {
    const Token token = lexer_.take();
    if (token.kind != Token::Kind::word) lexer_.fail("a directive was expected");
    const std::string_view word = token.text;
    if (word == ".version") {
      lexer_.take();  // "8" and ".0"
      lexer_.take();
    } else if (word == ".target") {
      do lexer_.take();
      while (take_mark(lexer_, ","));
    } else if (word == ".address_size") {
      if (lexer_.take().value != 64) lexer_.fail("only .address_size 64 is supported");
    } else if (word == ".file") {
      file();
    } else if (word == ".loc") {
      skip_location(lexer_);
    } else if (word == ".section") {
      skip_section();
    } else {
      declaration(word);
    }
  }

  void file() {
    const std::uint64_t number = lexer_.take().value;
    const Token name = lexer_.take();
    if (name.kind != Token::Kind::text) lexer_.fail(".file has no name");
    if (module_.files.size() > 10'000) lexer_.fail("more than 10000 files");
    module_.files[static_cast<std::uint32_t>(number)] = one_line(name.text, 400);
    while (take_mark(lexer_, ",")) lexer_.take();  // time and size
  }

  void skip_section() {
    lexer_.take();
    need_mark(lexer_, "{");
    for (int depth = 1; depth > 0;) {
      const Token token = lexer_.take();
      if (token.kind == Token::Kind::end) lexer_.fail("a .section has no end");
      if (token.kind != Token::Kind::mark) continue;
      depth += token.text == "{" ? 1 : token.text == "}" ? -1 : 0;
    }
  }

  void declaration(std::string_view word) {
    while (word == ".visible" || word == ".extern" || word == ".weak" || word == ".common")
      word = lexer_.take().text;
    if (word == ".entry" || word == ".func") return function(word == ".entry");
    const std::optional<Space> space = space_named(word);
    if (!space) lexer_.fail(fmt::format("'{}' is not supported", one_line(word, 60)));
    do module_.variables.push_back(parse_variable(lexer_, *space, variable_bytes_));
    while (take_mark(lexer_, ","));
    need_mark(lexer_, ";");
  }

  void function(bool is_kernel) {
    if (module_.functions.size() > 10'000) lexer_.fail("more than 10000 functions");
    Function made;
    made.is_kernel = is_kernel;
    made.place.ptx_line = lexer_.line();
    if (!is_kernel && lexer_.peek().text == "(") made.results = parameter_list();
    const Token name = lexer_.take();
    if (name.kind != Token::Kind::word) lexer_.fail("a function has no name");
    made.name = name.text;
    if (lexer_.peek().text == "(") made.parameters = parameter_list();
    attributes(made);
    if (take_mark(lexer_, ";")) {
      made.is_declared_only = true;
    } else {
      need_mark(lexer_, "{");
      BodyParser(lexer_, made, instructions_, variable_bytes_).run();
    }
    // A definition takes the place of a declaration that came before it.
    for (Function& known : module_.functions) {
      if (known.name != made.name) continue;
      if (!made.is_declared_only && !known.is_declared_only)
        lexer_.fail(fmt::format("two functions are named {}", one_line(made.name, 100)));
      if (!made.is_declared_only) known = std::move(made);
      return;
    }
    module_.functions.push_back(std::move(made));
  }

  std::vector<Variable> parameter_list() {
    std::vector<Variable> list;
    need_mark(lexer_, "(");
    while (!take_mark(lexer_, ")")) {
      if (!list.empty()) need_mark(lexer_, ",");
      if (lexer_.take().text != ".param") lexer_.fail("parameters are declared by .param");
      list.push_back(parse_variable(lexer_, Space::parameter, variable_bytes_));
      if (list.size() > 4096) lexer_.fail("more than 4096 parameters");
    }
    return list;
  }

  void attributes(Function& made) {
    while (lexer_.peek().kind == Token::Kind::word) {
      const std::string_view word = lexer_.take().text;
      if (word == ".noreturn") continue;
      if (word != ".maxntid" && word != ".minnctapersm" && word != ".maxnreg" && word != ".reqntid")
        lexer_.fail(fmt::format("'{}' is not supported", one_line(word, 60)));
      std::uint64_t product = 1;
      do product *= std::min<std::uint64_t>(lexer_.take().value, 1024);
      while (take_mark(lexer_, ",") && product <= 1024);
      if (word == ".maxntid" || word == ".reqntid")
        made.most_threads = static_cast<std::uint32_t>(std::min<std::uint64_t>(product, 1024));
    }
  }

  Module& module_;
  Lexer lexer_;
  std::size_t instructions_ = 0;
  std::uint64_t variable_bytes_ = 0;
};

}  // namespace

std::string_view Module::file_of(const Place& place) const {
  const auto found = files.find(place.file);
  return found == files.end() ? std::string_view() : std::string_view(found->second);
}

std::unique_ptr<Module> parse(std::string text) {
  if (text.size() > kMostText)
    throw PtxError(
        fmt::format("{} MiB of PTX, more than {} MiB", text.size() >> 20, kMostText >> 20), {});
  auto module = std::make_unique<Module>();
  module->text = std::move(text);
  ModuleParser(*module).run();
  return module;
}

}  // namespace gauntlet::simt::ptx
