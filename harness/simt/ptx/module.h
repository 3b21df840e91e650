// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet::simt {

/// Where an instruction comes from: file and line of the .cu file by .loc, and the line of PTX.
struct Place {
  std::uint32_t file = 0;  // number of a .file; 0: not known
  std::uint32_t line = 0;
  std::uint32_t ptx_line = 0;
};

/// PTX that cannot be run, and why: not well formed, outside the feature set, or beyond a limit.
struct PtxError : std::runtime_error {
  PtxError(const std::string& text, Place where) : std::runtime_error(text), place(where) {}
  Place place;
};

// PTX as it is written: names resolved to registers, nothing else decided yet.
namespace ptx {

enum class Space : std::uint8_t { generic, global, shared, local, constant, parameter };

/// Width and kind of a register or of a value in memory.
struct Type {
  enum class Kind : std::uint8_t { bits, floating, predicate } kind = Kind::bits;
  std::uint8_t bytes = 0;  // 0 for a predicate

  bool operator==(const Type&) const = default;
};

struct Register {
  std::string name;
  Type type;
};

struct Operand {
  enum class Kind : std::uint8_t {
    reg,      // reg, and `second` where a destination is written d|p
    integer,  // value: as written, negative numbers in two's complement
    single,   // value: bits of 0f...
    real,     // value: bits of 0d...
    symbol,   // name: a variable, a function, a label, or a special register such as %tid.x
    address,  // [base + value]: base is `reg`, or `name`, or nothing
    vector,   // {a, b, ...}
    list,     // (a, b, ...) of a call
    sink,     // _
  };
  static constexpr std::uint32_t kNone = ~0u;

  Kind kind = Kind::sink;
  bool negated = false;  // !%p
  std::uint32_t reg = kNone;
  std::uint32_t second = kNone;
  std::uint64_t value = 0;
  std::string_view name;
  std::vector<Operand> items;
};

struct Instruction {
  std::uint32_t guard = Operand::kNone;
  bool guard_negated = false;
  std::string_view opcode;  // with all modifiers: "ld.global.nc.v4.f32"
  std::vector<Operand> operands;
  Place place;
};

struct Variable {
  std::string name;
  Space space = Space::global;
  std::uint64_t align = 1;
  std::uint64_t bytes = 0;
  bool unsized = false;          // extern .shared x[]: as long as the launch says
  std::vector<std::byte> value;  // what it starts with, up to its last byte that is not zero
};

/// A kernel, or a function that kernels call.
struct Function {
  std::string name;
  bool is_kernel = false;
  bool is_declared_only = false;
  Place place;
  std::vector<Variable> parameters;
  std::vector<Variable> results;
  std::vector<Variable> variables;  // .local, .shared and .param declared inside
  std::vector<Register> registers;
  std::vector<Instruction> body;
  std::map<std::string_view, std::uint32_t>
      labels;  // index in body of what follows; may be its end
  std::map<std::string_view, std::vector<std::string_view>> branch_tables;
  std::uint32_t most_threads = 0;  // of .maxntid; 0: none stated
};

/// One translation unit. Views point into `text`, which does not move.
struct Module {
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  std::string text;
  std::deque<std::string> names;               // that decoding makes up
  std::map<std::uint32_t, std::string> files;  // by number of .file
  std::vector<Variable> variables;
  std::vector<Function> functions;

  std::string_view file_of(const Place& place) const;
};

}  // namespace ptx
}  // namespace gauntlet::simt
