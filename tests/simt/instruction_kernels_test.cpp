// SPDX-License-Identifier: Apache-2.0
// Every form that computes in its lanes once more, as text in a kernel: what decoding, registers
// and memory make of it is what the form gives by itself. A GPU can repeat these launches.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "harness/core/rng.h"
#include "tests/simt/device.h"
#include "tests/simt/instructions.h"
#include "tests/simt/reference.h"

using namespace gauntlet;
using namespace gauntlet::simt;

namespace {

using u64 = std::uint64_t;

constexpr unsigned kThreads = 1024;

std::string register_name(char code, std::size_t number) {
  return fmt::format("%{}{}",
                     code == 'P'   ? 'p'
                     : code == 'H' ? 'h'
                     : code == 'W' ? 'r'
                                   : 'd',
                     number);
}

/// "%d0, {%r1, %r2}" of "D={WW}".
std::string operand_text(const std::string& pattern) {
  std::string text;
  std::size_t number = 0;
  bool wants_comma = false;
  for (const char c : pattern) {
    if (c == '}') text += c;
    if (c == '=' || c == ',' || c == '}') continue;
    if (wants_comma) text += ", ";
    wants_comma = c != '{';
    text += c == '{' ? "{" : register_name(c, number++);
  }
  return text;
}

/// Each operand has a buffer p0, p1, ... with 8 bytes for each thread. lop3 alone wants its table
/// of truth as a number in the text, the same for all.
std::string kernel_of(const std::string& opcode, const Form& form, u64 table) {
  const Operands operands(form.operands);
  std::string loads, stores;
  const auto address = [](std::size_t n) {
    return fmt::format("ld.param.u64 %d38, [p{}];\nadd.u64 %d38, %d38, %d39;\n", n);
  };
  for (std::size_t n = 0; n < operands.codes.size(); ++n) {
    const char code = operands.codes[n];
    const std::string name = register_name(code, n);
    const std::size_t bits = code == 'P' ? 32 : 8 * bytes_of(code);
    const std::string held = code == 'P' ? "%r38" : name;
    if (n < operands.written) {
      stores += address(n);
      if (code == 'P') stores += fmt::format("selp.u32 %r38, 1, 0, {};\n", name);
      stores += fmt::format("st.global.b{} [%d38], {};\n", bits, held);
    } else {
      loads += address(n) + fmt::format("ld.global.b{} {}, [%d38];\n", bits, held);
      if (code == 'P') loads += fmt::format("setp.ne.u32 {}, %r38, 0;\n", name);
    }
  }
  std::string text = operand_text(form.operands);
  if (opcode == "lop3.b32") text.replace(text.rfind('%'), std::string::npos, std::to_string(table));
  return kernel_text(int(operands.codes.size()),
                     "mov.u32 %r39, %tid.x;\nmul.wide.u32 %d39, %r39, 8;\n" + loads + opcode + " " +
                         text + ";\n" + stores + "ret;");
}

/// The first thread whose result is not what the name of the instruction says.
std::string fault(const std::string& opcode, const Form& form, Rng& rng) {
  const Operands operands(form.operands);
  const std::size_t count = operands.codes.size();
  const u64 table = rng() & 0xff;
  std::vector<std::vector<u64>> values(count, std::vector<u64>(kThreads));
  for (std::size_t n = operands.written; n < count; ++n)
    for (u64& value : values[n])
      value = opcode == "lop3.b32" && n + 1 == count ? table
                                                     : drawn_value(rng, operands.codes[n], opcode);
  SimulatedDevice device(kernel_of(opcode, form, table));
  std::vector<u64> buffers;
  for (std::size_t n = 0; n < count; ++n)
    buffers.push_back(device.put(values[n], n < operands.written ? "result" : "source"));
  const LaunchResult got =
      device.launch_with({{1, 1, 1}, {kThreads, 1, 1}}, std::as_bytes(std::span(buffers)));
  if (got.status != Status::completed || !got.diagnostics.empty()) return all_texts(got);
  std::vector<std::vector<u64>> results;
  for (std::size_t n = 0; n < operands.written; ++n) results.push_back(device.get<u64>(buffers[n]));
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    std::vector<u64> in;
    for (std::size_t n = operands.written; n < count; ++n) in.push_back(values[n][thread]);
    const auto wanted = expected(opcode, form.operands, in);
    if (!wanted) return "the reference does not know it";
    for (std::size_t n = 0; n < operands.written; ++n) {
      const u64 result = results[n][thread];
      if (!agrees(*wanted, n, operands.codes[n], result))
        return fmt::format("thread {}: {:#x} of {:#x}", thread, result, fmt::join(in, " "));
    }
  }
  return "";
}

}  // namespace

TEST_CASE("an instruction in a kernel gives what its name says") {
  Rng rng(11);
  for (const auto& known : form_table().all())
    for (const Form& form : known.second)
      if (const std::string& opcode = known.first; computes(opcode, form))
        CHECK_MESSAGE(fault(opcode, form, rng) == "", opcode, " ", form.operands);
}
