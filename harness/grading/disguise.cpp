// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/disguise.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "harness/build/solution.h"

namespace gauntlet {
namespace {

std::vector<std::string_view> pieces(std::string_view text, char end) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find(end), text.size());
    found.push_back(text.substr(0, at));
    text.remove_prefix(std::min(at + 1, text.size()));
  }
  return found;
}

/// No '$', which marks a number: "$table".
bool in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

/// The first word of a line that is indented: an instruction's or a directive's.
std::string_view verb(std::string_view line) {
  if (!line.starts_with('\t')) return "";
  line.remove_prefix(1);
  return line.substr(0, line.find_first_of(" \t;"));
}

/// The first operand of a line, as far as it is a name.
std::string_view operand(std::string_view line) {
  line.remove_prefix(std::min(line.size(), 1 + verb(line).size()));
  while (!line.empty() && (line[0] == '\t' || line[0] == ' ')) line.remove_prefix(1);
  std::size_t end = 0;
  while (end < line.size() && in_name(line[end])) ++end;
  return line.substr(0, end);
}

/// The name that a line defines for the linker; empty when it defines none. What starts with ".L"
/// or a digit is a matter of its own file.
std::string_view defined_by(std::string_view line) {
  std::string_view name;
  if (!line.empty() && in_name(line[0])) {
    const std::size_t end = static_cast<std::size_t>(
        std::find_if_not(line.begin(), line.end(), in_name) - line.begin());
    if (end < line.size() && line[end] == ':') name = line.substr(0, end);
  } else if (const auto word = verb(line); word == ".comm" || word == ".set" || word == ".local") {
    name = operand(line);
  }
  const bool local = name.starts_with(".L") || name.empty() || std::isdigit(name[0]) != 0;
  return local ? std::string_view() : name;
}

/// The group that a section belongs to, of which the linker keeps one and drops all others of the
/// same name: "foo" of `.section .text.foo,"axG",@progbits,foo,comdat`. It need not be defined.
std::string_view group_of(std::string_view line) {
  constexpr std::string_view kEnd = ",comdat";
  if (verb(line) != ".section" || !line.ends_with(kEnd)) return "";
  line.remove_suffix(kEnd.size());
  return line.substr(line.rfind(',') + 1);
}

bool is_string(std::string_view directive) {
  return directive == ".string" || directive == ".ascii" || directive == ".asciz";
}

bool switches_section(std::string_view directive) {
  return directive == ".section" || directive == ".text" || directive == ".data" ||
         directive == ".bss";
}

/// Unwind tables say how large a function's frame is and where in it what happens: whoever reads
/// them needs no instruction to know it. Without them an exception ends the process, which is what
/// it does anyway where it would leave a function of C.
bool is_unwinding(std::string_view directive) {
  return directive.starts_with(".cfi_");
}

bool starts_initialisers(std::string_view line) {
  return verb(line) == ".section" && operand(line).starts_with(".init_array");
}

/// Draws what does nothing. Neither flags nor memory change, nor what lies below the stack pointer.
class Filler {
 public:
  explicit Filler(Rng& rng) : rng_(rng) {}

  /// How much of it a function gets is drawn for each, so that sizes tell nothing either.
  void begin_function() {
    density_ = rng_.uniform(0.05, 0.5);
    at_entry_ = true;
  }

  std::string before_instruction() {
    const bool at_entry = std::exchange(at_entry_, false);
    if (at_entry) return long_nop();
    if (!rng_.chance(density_)) return "";
    switch (rng_.integer(0, 3)) {
      case 0:
        return long_nop();
      case 1:
        return fmt::format("\tmovq\t%{0}, %{0}\n", a_register());
      case 2:
        return fmt::format("\tleaq\t(%{0}), %{0}\n", a_register());
      default:
        return over_junk();
    }
  }

  /// Where nothing comes by.
  std::string after_function() {
    std::string junk;
    for (auto left = rng_.integer(1, 24); left > 0; --left)
      junk += fmt::format("\t.quad\t{:#x}\n", rng_());
    return junk;
  }

 private:
  std::string a_register() {
    constexpr std::array kNames{"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "r8",
                                "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    return kNames[static_cast<std::size_t>(rng_.integer(0, kNames.size() - 1))];
  }

  /// With an offset of 32 random bits, which no address is made of.
  std::string long_nop() {
    return fmt::format("\tnop{}\t{:#x}(%{},%{},{})\n", rng_.chance(0.5) ? 'l' : 'w',
                       rng_() >> 34 | 0x100, a_register(), a_register(), 1 << rng_.integer(0, 3));
  }

  std::string over_junk() {
    std::vector<unsigned> bytes(static_cast<std::size_t>(rng_.integer(1, 12)));
    for (unsigned& byte : bytes) byte = static_cast<unsigned>(rng_() & 0xff);
    const int label = labels_++;
    return fmt::format("\tjmp\t.Lover{0}\n\t.byte\t{1}\n.Lover{0}:\n", label,
                       fmt::join(bytes, ","));
  }

  Rng& rng_;
  double density_ = 0;
  bool at_entry_ = false;
  int labels_ = 0;
};

/// Whether something may stand between this line and the one before. A prefix belongs to what
/// follows it, and the linker knows accesses to thread-local variables by their exact bytes.
class Gaps {
 public:
  bool before(std::string_view line) {
    if (line.starts_with("#APP")) inline_assembly_ = true;
    if (line.starts_with("#NO_APP")) inline_assembly_ = false;
    if (line.ends_with(':')) tied_ = false;  // a label, and data may have stood before it
    const std::string_view word = verb(line);
    const bool instruction = !word.empty() && std::isalpha(static_cast<unsigned char>(word[0]));
    const bool bound = tied_ || inline_assembly_;
    if (instruction || word == ".byte" || word == ".value")
      tied_ = word == ".byte" || word == ".value" || is_prefix(line) ||
              line.find("@tls") != std::string_view::npos;
    return instruction && !bound;
  }

 private:
  static bool is_prefix(std::string_view line) {
    const std::string_view word = verb(line);
    return (word == "rex64" || word == "lock" || word == "rep" || word == "data16") &&
           operand(line).empty();
  }

  bool inline_assembly_ = false;
  bool tied_ = false;
};

}  // namespace

Disguise::Disguise(std::string parts, std::string prefix)
    : text_(std::make_unique<const std::string>(std::move(parts))), prefix_(std::move(prefix)) {
  for (const std::string_view part : pieces(*text_, kPartEnd)) parts_.push_back(pieces(part, '\n'));
  for (const auto& lines : parts_) {
    bool initialisers = false;
    for (const std::string_view line : lines) {
      for (const auto name : {defined_by(line), group_of(line)})
        if (!name.empty()) own_names_.emplace(name);
      if (switches_section(verb(line))) initialisers = starts_initialisers(line);
      if (initialisers && verb(line) == ".quad")
        initialisers_.push_back(prefix_ + std::string(operand(line)));
    }
  }
}

std::string Disguise::renamed(std::string_view line) const {
  const std::size_t words = 1 + verb(line).size();
  if (line.starts_with('#') || is_string(verb(line))) return std::string(line);
  std::string out;
  for (std::size_t i = 0; i < line.size();) {
    std::size_t end = i;
    while (end < line.size() && in_name(line[end])) ++end;
    if (end == i) {
      out += line[i++];
      continue;
    }
    const std::string_view name = line.substr(i, end - i);
    const char before = i == 0 ? '\0' : line[i - 1];
    const bool is_verb = line[0] == '\t' && i < words;
    if (!is_verb && before != '%' && before != '@' && own_names_.contains(name)) out += prefix_;
    out += name;
    i = end;
  }
  return out;
}

std::vector<std::string> Disguise::draw(Rng& rng) const {
  std::vector<std::string> files;
  for (const auto& lines : parts_) {
    std::string text;
    Filler filler(rng);
    Gaps gaps;
    bool initialisers = false;
    for (const std::string_view line : lines) {
      if (switches_section(verb(line))) initialisers = starts_initialisers(line);
      if (initialisers || verb(line) == ".file" || verb(line) == ".ident") continue;
#if defined(__x86_64__)
      if (line == "\t.cfi_startproc") filler.begin_function();
      if (gaps.before(line)) text += filler.before_instruction();
      if (line == "\t.cfi_endproc") text += filler.after_function();
#endif
      if (is_unwinding(verb(line))) continue;
      text += renamed(line) + '\n';
    }
    for (const std::string& name : initialisers_) text += fmt::format("\t.globl\t{}\n", name);
    files.push_back(std::move(text));
  }
  return files;
}

}  // namespace gauntlet
