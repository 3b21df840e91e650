// SPDX-License-Identifier: Apache-2.0
// Functions in place of their calls. What a caller stores in .param variables, and what comes back
// in them, becomes registers, so that nothing after this knows of calls.
#include <fmt/format.h>
#include <map>
#include <tuple>

#include "harness/core/text.h"
#include "harness/simt/decode/draft.h"
#include "harness/simt/ptx/parser.h"

namespace gauntlet::simt {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Operand;

constexpr int kDeepestCall = 32;
constexpr int kMostCalls = 20'000;
constexpr std::size_t kMostRegisters = 1u << 22;

/// Registers that stand for a .param variable: by its name and the offset in it.
using Cells = std::map<std::tuple<std::string_view, std::uint64_t>, std::uint32_t>;

/// One call: how names of its function read in the kernel.
struct Activation {
  const Function& function;
  int depth = 0;
  std::uint32_t first_register = 0;
  std::string suffix;      // of labels and variables; empty for the kernel itself
  Cells own;               // of .param variables declared inside
  Cells* outer = nullptr;  // of the caller, for parameters and results
  std::map<std::string_view, std::string_view> outer_names;
  std::map<std::string_view, std::string_view> renamed;  // variables declared inside
  std::string_view end;  // label behind the call, where a return goes
};

class Inliner {
 public:
  Inliner(ptx::Module& module, const Function& kernel) : module_(module), kernel_(kernel) {
    made_.name = kernel.name;
    made_.is_kernel = true;
    made_.place = kernel.place;
    made_.parameters = kernel.parameters;
    made_.most_threads = kernel.most_threads;
  }

  Function run() {
    Activation top{kernel_, 0, 0, {}, {}, nullptr, {}, {}, {}};
    expand(top);
    return std::move(made_);
  }

 private:
  std::string_view keep(std::string text) { return module_.names.emplace_back(std::move(text)); }

  void expand(Activation& at) {
    at.first_register = static_cast<std::uint32_t>(made_.registers.size());
    made_.registers.insert(made_.registers.end(), at.function.registers.begin(),
                           at.function.registers.end());
    for (const ptx::Variable& variable : at.function.variables) {
      if (variable.space == ptx::Space::parameter) continue;
      ptx::Variable copy = variable;
      copy.name += at.suffix;
      at.renamed[variable.name] = keep(copy.name);
      made_.variables.push_back(std::move(copy));
    }
    const auto named = [&](std::string_view label) { return keep(std::string(label) + at.suffix); };
    for (const auto& [name, targets] : at.function.branch_tables)
      for (const std::string_view target : targets)
        made_.branch_tables[named(name)].push_back(named(target));
    std::multimap<std::uint32_t, std::string_view> labels;
    for (const auto& [name, index] : at.function.labels) labels.emplace(index, name);
    auto label = labels.begin();
    for (std::uint32_t n = 0; n <= at.function.body.size(); ++n) {
      for (; label != labels.end() && label->first == n; ++label)
        made_.labels[named(label->second)] = static_cast<std::uint32_t>(made_.body.size());
      if (n < at.function.body.size()) instruction(at, at.function.body[n]);
    }
  }

  void instruction(Activation& at, const Instruction& text) {
    if (made_.body.size() > ptx::kMostInstructions)
      fail("a kernel with all that it calls has too many instructions", text);
    if (text.opcode == "call" || text.opcode == "call.uni") return call(at, text);
    if (text.opcode.starts_with("st.param.") || text.opcode.starts_with("ld.param."))
      if (move(at, text)) return;
    Instruction copy = rebased(at, text);
    if (at.depth > 0 && (text.opcode == "ret" || text.opcode == "ret.uni")) {
      copy.opcode = "bra";
      Operand target;
      target.kind = Operand::Kind::symbol;
      target.name = at.end;
      copy.operands = {target};
    }
    made_.body.push_back(std::move(copy));
  }

  void rebase(const Activation& at, Operand& operand) const {
    if (operand.reg != Operand::kNone) operand.reg += at.first_register;
    if (operand.second != Operand::kNone) operand.second += at.first_register;
    if (!operand.name.empty()) {
      const auto variable = at.renamed.find(operand.name);
      if (variable != at.renamed.end()) operand.name = variable->second;
    }
    for (Operand& item : operand.items) rebase(at, item);
  }

  Instruction rebased(const Activation& at, const Instruction& text) {
    Instruction copy = text;
    if (copy.guard != Operand::kNone) copy.guard += at.first_register;
    for (Operand& operand : copy.operands) {
      rebase(at, operand);
      const bool is_label = at.depth > 0 && operand.kind == Operand::Kind::symbol &&
                            (at.function.labels.contains(operand.name) ||
                             at.function.branch_tables.contains(operand.name));
      if (is_label) operand.name = keep(std::string(operand.name) + at.suffix);
    }
    return copy;
  }

  /// A load or store of a .param variable as moves; false where it is a kernel's parameter.
  bool move(Activation& at, const Instruction& text) {
    const bool store = text.opcode[0] == 's';
    if (text.operands.size() != 2) return false;
    const Operand& address = text.operands[store ? 0 : 1];
    const Operand& value = text.operands[store ? 1 : 0];
    if (address.kind != Operand::Kind::address || address.name.empty()) return false;
    Cells* cells = nullptr;
    std::string_view name = address.name;
    if (const auto known = at.outer_names.find(name); known != at.outer_names.end()) {
      cells = at.outer;
      name = known->second;
    } else {
      for (const ptx::Variable& variable : at.function.variables)
        if (variable.space == ptx::Space::parameter && variable.name == name) cells = &at.own;
    }
    if (cells == nullptr) return false;
    const ptx::Type type = ptx::type_named(text.opcode.substr(text.opcode.rfind('.') + 1));
    if (type.bytes == 0) fail("this use of .param is not supported", text);
    std::uint64_t offset = address.value;
    const bool is_vector = value.kind == Operand::Kind::vector;
    for (const Operand& item : is_vector ? value.items : std::vector<Operand>{value}) {
      one_move(at, text, *cells, {name, offset}, item, type, store);
      offset += type.bytes;
    }
    return true;
  }

  void one_move(const Activation& at, const Instruction& text, Cells& cells,
                const Cells::key_type& key, Operand item, ptx::Type type, bool store) {
    rebase(at, item);
    const bool is_register = item.kind == Operand::Kind::reg;
    if (!is_register && !store) fail("a result is loaded into registers", text);
    if (is_register && made_.registers[item.reg].type.bytes == 0)
      fail("a predicate in .param is not supported", text);
    const std::uint8_t bytes =
        is_register ? made_.registers[item.reg].type.bytes : std::max<std::uint8_t>(type.bytes, 2);
    auto cell = cells.find(key);
    if (cell == cells.end() || made_.registers[cell->second].type.bytes != bytes) {
      if (!store) fail("a .param is loaded otherwise than it was stored", text);
      made_.registers.push_back({"param", {ptx::Type::Kind::bits, bytes}});
      cell = cells.insert_or_assign(key, std::uint32_t(made_.registers.size() - 1)).first;
    }
    Operand stored;
    stored.kind = Operand::Kind::reg;
    stored.reg = cell->second;
    Instruction copy = rebased(at, text);
    copy.opcode = bytes == 2 ? "mov.b16" : bytes == 4 ? "mov.b32" : "mov.b64";
    copy.operands = store ? std::vector<Operand>{stored, item} : std::vector<Operand>{item, stored};
    made_.body.push_back(std::move(copy));
  }

  void call(Activation& at, const Instruction& text) {
    std::vector<std::string_view> results, arguments;
    std::size_t next = 0;
    const auto names = [&](std::vector<std::string_view>& into) {
      if (next >= text.operands.size() || text.operands[next].kind != Operand::Kind::list) return;
      for (const Operand& item : text.operands[next].items) into.push_back(item.name);
      ++next;
    };
    names(results);
    if (next >= text.operands.size() || text.operands[next].kind != Operand::Kind::symbol)
      fail("a call through a pointer is not supported", text);
    const std::string_view name = text.operands[next++].name;
    names(arguments);
    if (next != text.operands.size()) fail("a call through a pointer is not supported", text);
    if (text.guard != Operand::kNone) fail("a call with a guard is not supported", text);
    if (name == "vprintf" || name == "__assertfail")
      return builtin(at, text, name, results, arguments);
    for (const Function& function : module_.functions)
      if (function.name == name && !function.is_declared_only && !function.is_kernel)
        return inlined(at, text, function, results, arguments);
    fail(fmt::format("{} is defined nowhere", one_line(name, 100)), text);
  }

  void builtin(Activation& at, const Instruction& text, std::string_view name,
               const std::vector<std::string_view>& results,
               const std::vector<std::string_view>& arguments) {
    Instruction made = rebased(at, text);
    made.operands.clear();
    made.opcode = name == "vprintf" ? "call.vprintf" : "call.assertfail";
    const auto add = [&](std::string_view cell, bool is_result) {
      auto known = at.own.find({cell, 0});
      if (is_result) {
        made_.registers.push_back({"result", {ptx::Type::Kind::bits, 4}});
        const auto number = static_cast<std::uint32_t>(made_.registers.size() - 1);
        known = at.own.insert_or_assign({cell, 0}, number).first;
      }
      if (known == at.own.end()) fail("an argument was not stored", text);
      Operand operand;
      operand.kind = Operand::Kind::reg;
      operand.reg = known->second;
      made.operands.push_back(operand);
    };
    for (const std::string_view result : results) add(result, true);
    for (const std::string_view argument : arguments) add(argument, false);
    made_.body.push_back(std::move(made));
  }

  void inlined(Activation& at, const Instruction& text, const Function& function,
               const std::vector<std::string_view>& results,
               const std::vector<std::string_view>& arguments) {
    if (at.depth >= kDeepestCall)
      fail(fmt::format("calls are more than {} deep: recursion is not supported", kDeepestCall),
           text);
    if (calls_ >= kMostCalls || made_.registers.size() > kMostRegisters)
      fail("a kernel makes too many calls", text);
    if (results.size() != function.results.size() || arguments.size() != function.parameters.size())
      fail("a call has other parameters than its function", text);
    Activation inner{function, at.depth + 1, 0, fmt::format("${}", ++calls_), {}, &at.own,
                     {},       {},           {}};
    for (std::size_t n = 0; n < results.size(); ++n)
      inner.outer_names[function.results[n].name] = results[n];
    for (std::size_t n = 0; n < arguments.size(); ++n)
      inner.outer_names[function.parameters[n].name] = arguments[n];
    inner.end = keep(fmt::format("$end{}", inner.suffix));
    expand(inner);
    made_.labels[inner.end] = static_cast<std::uint32_t>(made_.body.size());
  }

  [[noreturn]] static void fail(const std::string& why, const Instruction& text) {
    throw PtxError(why, text.place);
  }

  ptx::Module& module_;
  const Function& kernel_;
  Function made_;
  int calls_ = 0;
};

}  // namespace

ptx::Function without_calls(ptx::Module& module, const ptx::Function& kernel) {
  return Inliner(module, kernel).run();
}

}  // namespace gauntlet::simt
