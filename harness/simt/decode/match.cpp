// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <optional>

#include "harness/core/text.h"
#include "harness/simt/decode/draft.h"

namespace gauntlet::simt {
namespace {

using ptx::Operand;
using Kind = ptx::Operand::Kind;

std::uint8_t bytes_of_code(char code) {
  return code == 'H' ? 2 : code == 'W' ? 4 : code == 'D' ? 8 : 0;
}

/// One instruction against one operand list. Nothing is kept of an attempt that fails.
class Matcher {
 public:
  Matcher(Draft& draft, Symbols& symbols, const ptx::Instruction& text, const Form& form)
      : draft_(draft), symbols_(symbols), text_(text), pattern_(form.operands) {
    made_.form = &form;
    made_.instr.run = form.run;
    made_.instr.memory = form.memory;
    made_.instr.variant = form.variant;
    made_.place = text.place;
  }

  std::optional<DraftInstr> run() {
    const std::size_t constants = draft_.constants.size();
    const std::size_t registers = draft_.registers.size();
    if (all()) return std::move(made_);
    draft_.constants.resize(constants);
    draft_.registers.resize(registers);
    return std::nullopt;
  }

 private:
  bool all() {
    std::size_t at = 0;
    bool destination = pattern_.find('=') != std::string_view::npos;
    std::size_t next = 0;
    while (at < pattern_.size()) {
      const char code = pattern_[at++];
      if (code == ',') continue;
      if (code == '=') {
        made_.destinations = made_.operands;
        destination = false;
        continue;
      }
      if (next >= text_.operands.size()) return false;
      const Operand& operand = text_.operands[next++];
      if (code == '{') {
        if (!vector(operand, at, destination)) return false;
      } else {
        const bool has_second = at < pattern_.size() && pattern_[at] == '?';
        at += has_second;
        if (has_second != (operand.second != Operand::kNone)) return false;
        if (!one(operand, code, destination, false)) return false;
        if (has_second && !is_register(operand.second, 'P')) return false;
        if (has_second) put(operand.second);
      }
    }
    return next == text_.operands.size();
  }

  bool vector(const Operand& operand, std::size_t& at, bool destination) {
    const std::size_t end = pattern_.find('}', at);
    if (operand.kind != Kind::vector || operand.items.size() != end - at) return false;
    for (const Operand& item : operand.items)
      if (!one(item, pattern_[at++], destination, true)) return false;
    at = end + 1;
    return true;
  }

  bool one(const Operand& operand, char code, bool destination, bool in_vector) {
    if (operand.negated) return false;
    switch (code) {
      case 'A':
        return address(operand);
      case 'L':
        return label(operand);
      case 'I':
        made_.instr.immediate = static_cast<std::int64_t>(operand.value);
        return operand.kind == Kind::integer;
      default:
        break;
    }
    if (operand.kind == Kind::reg) {
      if (!is_register(operand.reg, code)) return false;
      put(operand.reg);
      return true;
    }
    if (destination) {
      if (operand.kind != Kind::sink || !in_vector) return false;
      draft_.registers.push_back({"_", {ptx::Type::Kind::bits, bytes_of_code(code)}});
      put(static_cast<OperandId>(draft_.registers.size() - 1));
      return true;
    }
    return number(operand, code);
  }

  bool number(const Operand& operand, char code) {
    Constant made;
    made.bytes = bytes_of_code(code);
    switch (operand.kind) {
      case Kind::integer:
        made.value = operand.value;
        break;
      case Kind::single:
        if (made.bytes != 4) return false;
        made.value = operand.value;
        break;
      case Kind::real:
        if (made.bytes != 8) return false;
        made.value = operand.value;
        break;
      case Kind::symbol:
        if (made.bytes == 0) return false;
        made = symbols_.find(operand.name, made.bytes, text_.place);
        if (made.from != Constant::From::number && made.from != Constant::From::special &&
            made.bytes != 8)
          return false;
        break;
      default:
        return false;
    }
    put_constant(made);
    return true;
  }

  bool address(const Operand& operand) {
    if (operand.kind != Kind::address) return false;
    made_.instr.immediate = static_cast<std::int64_t>(operand.value);
    if (operand.reg != Operand::kNone) {
      const ptx::Type type = draft_.registers[operand.reg].type;
      if (type.bytes != 8 && type.bytes != 4) return false;
      made_.instr.memory.narrow_address = type.bytes == 4;
      put(operand.reg);
    } else if (!operand.name.empty()) {
      put_constant(symbols_.find(operand.name, 8, text_.place));
    } else {
      put_constant({0, 8, Constant::From::number, 0});
    }
    return true;
  }

  bool label(const Operand& operand) {
    if (operand.kind != Kind::symbol) return false;
    const auto& labels = draft_.function.labels;
    const auto index_of = [&](std::string_view name) {
      const auto found = labels.find(name);
      if (found == labels.end())
        throw PtxError(fmt::format("there is no label {}", one_line(name, 100)), text_.place);
      return found->second;
    };
    if (made_.form->role != Role::table_branch) {
      made_.label = index_of(operand.name);
      return true;
    }
    const auto table = draft_.function.branch_tables.find(operand.name);
    if (table == draft_.function.branch_tables.end()) return false;
    for (const std::string_view name : table->second) made_.table.push_back(index_of(name));
    return true;
  }

  bool is_register(std::uint32_t reg, char code) const {
    const ptx::Type type = draft_.registers[reg].type;
    if (code == 'P') return type.kind == ptx::Type::Kind::predicate;
    return type.kind != ptx::Type::Kind::predicate && type.bytes == bytes_of_code(code);
  }

  void put(OperandId id) {
    if (made_.operands == std::size(made_.instr.slots))
      throw PtxError("an instruction has more operands than are kept", text_.place);
    made_.instr.slots[made_.operands++] = id;
  }
  void put_constant(const Constant& constant) {
    draft_.constants.push_back(constant);
    put(kConstantBit | static_cast<OperandId>(draft_.constants.size() - 1));
  }

  Draft& draft_;
  Symbols& symbols_;
  const ptx::Instruction& text_;
  std::string_view pattern_;
  DraftInstr made_;
};

std::string spelled(const Draft& draft, const Operand& operand) {
  std::string text;
  switch (operand.kind) {
    case Kind::reg: {
      const ptx::Type type = draft.registers[operand.reg].type;
      return type.kind == ptx::Type::Kind::predicate ? "pred" : fmt::format("b{}", type.bytes * 8);
    }
    case Kind::address:
      return "[address]";
    case Kind::symbol:
      return one_line(operand.name, 60);
    case Kind::sink:
      return "_";
    case Kind::vector:
    case Kind::list:
      for (const Operand& item : operand.items)
        text += (text.empty() ? "" : ",") + spelled(draft, item);
      return "{" + text.substr(0, 200) + "}";
    default:
      return "number";
  }
}

}  // namespace

DraftInstr match(Draft& draft, Symbols& symbols, const FormTable& forms,
                 const ptx::Instruction& instruction) {
  for (const Form& form : forms.find(instruction.opcode))
    if (auto made = Matcher(draft, symbols, instruction, form).run()) {
      // Member masks come last; the warp looks there before it executes.
      if (form.role == Role::converge) made->instr.immediate = made->operands - 1;
      made->guarded = instruction.guard != Operand::kNone;
      made->instr.guard = instruction.guard;
      made->instr.guard_flip = instruction.guard_negated ? kAllLanes : 0;
      return std::move(*made);
    }
  std::string operands;
  for (const Operand& operand : instruction.operands)
    operands += (operands.empty() ? " " : ", ") + spelled(draft, operand);
  throw PtxError(fmt::format("the instruction '{}{}' is not supported",
                             one_line(instruction.opcode, 80), operands.substr(0, 200)),
                 instruction.place);
}

}  // namespace gauntlet::simt
