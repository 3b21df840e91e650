// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/simt/decode/draft.h"
#include "harness/simt/decode/program.h"

namespace gauntlet::simt {
namespace {

/// The fewest bytes that one access has to a space, which is what races are looked for by.
void note_granules(Kernel& kernel) {
  for (std::size_t n = 0; n < kernel.code.size(); ++n) {
    const Class kind = kernel.classes[n];
    if (kind != Class::load && kind != Class::store && kind != Class::atomic) continue;
    const MemoryForm& memory = kernel.code[n].memory;
    const bool generic = memory.space == ptx::Space::generic;
    if (generic || memory.space == ptx::Space::shared)
      kernel.shared_granule = std::min<std::uint32_t>(kernel.shared_granule, memory.bytes);
    if (generic || memory.space == ptx::Space::global)
      kernel.global_granule = std::min<std::uint32_t>(kernel.global_granule, memory.bytes);
  }
}

Kernel decode_kernel(ptx::Module& module, const ptx::Function& text, const FormTable& forms) {
  const ptx::Function function = without_calls(module, text);
  if (function.body.empty()) throw PtxError("the kernel has no instructions", function.place);
  Draft draft{module, function, function.registers, {}, {}, 0, 0, 0, {}};
  Symbols symbols(draft);
  for (const ptx::Instruction& instruction : function.body)
    draft.code.push_back(match(draft, symbols, forms, instruction));
  symbols.finish();

  Kernel kernel;
  kernel.name = function.name;
  order_blocks(draft, kernel);
  allocate_slots(draft, kernel);
  kernel.static_shared = draft.static_shared;
  kernel.local_bytes = (draft.local_bytes + 7) / 8 * 8;
  kernel.parameter_bytes = draft.parameter_bytes;
  if (function.most_threads != 0) kernel.most_threads = function.most_threads;
  note_granules(kernel);
  return kernel;
}

}  // namespace

const Kernel* Program::find(std::string_view kernel) const {
  for (const Kernel& known : kernels)
    if (known.name == kernel) return &known;
  return nullptr;
}

std::string Program::source_of(const Place& place) const {
  return source_name(*module, place);
}

std::string source_name(const ptx::Module& module, const Place& place) {
  const std::string_view file = module.file_of(place);
  if (file.empty() || place.line == 0) return fmt::format("PTX line {}", place.ptx_line);
  return fmt::format("{}:{}", file.substr(file.rfind('/') + 1), place.line);
}

Program decode(std::unique_ptr<ptx::Module> module, const FormTable& forms) {
  Program program;
  program.module = std::move(module);
  try {
    for (const ptx::Function& function : program.module->functions)
      if (function.is_kernel && !function.is_declared_only)
        program.kernels.push_back(decode_kernel(*program.module, function, forms));
  } catch (const PtxError& error) {
    throw PtxError(fmt::format("{}: {}", source_name(*program.module, error.place), error.what()),
                   error.place);
  }
  return program;
}

}  // namespace gauntlet::simt
