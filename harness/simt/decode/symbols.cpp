// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/simt/decode/draft.h"

namespace gauntlet::simt {
namespace {

constexpr std::uint32_t kMostLocal = 512u << 10;        // of a thread, as on a GPU
constexpr std::uint32_t kMostStaticShared = 48u << 10;  // as on a GPU
constexpr std::uint32_t kMostParameters = 4096;
constexpr std::uint32_t kDynamicAlign = 16;

struct NamedSpecial {
  std::string_view name;
  Special special;
};
constexpr std::array<NamedSpecial, 26> kSpecials{{
    {"%tid.x", Special::tid_x},
    {"%tid.y", Special::tid_y},
    {"%tid.z", Special::tid_z},
    {"%ntid.x", Special::ntid_x},
    {"%ntid.y", Special::ntid_y},
    {"%ntid.z", Special::ntid_z},
    {"%ctaid.x", Special::ctaid_x},
    {"%ctaid.y", Special::ctaid_y},
    {"%ctaid.z", Special::ctaid_z},
    {"%nctaid.x", Special::nctaid_x},
    {"%nctaid.y", Special::nctaid_y},
    {"%nctaid.z", Special::nctaid_z},
    {"%laneid", Special::laneid},
    {"%warpid", Special::warpid},
    {"%nwarpid", Special::nwarpid},
    {"%gridid", Special::gridid},
    {"%smid", Special::smid},
    {"%nsmid", Special::nsmid},
    {"%lanemask_eq", Special::lanemask_eq},
    {"%lanemask_lt", Special::lanemask_lt},
    {"%lanemask_le", Special::lanemask_le},
    {"%lanemask_gt", Special::lanemask_gt},
    {"%lanemask_ge", Special::lanemask_ge},
    {"%dynamic_smem_size", Special::dynamic_shared},
    {"%total_smem_size", Special::total_shared},
    {"WARP_SZ", Special::none},
}};

std::uint64_t aligned(std::uint64_t at, std::uint64_t align) {
  return (at + align - 1) / align * align;
}

}  // namespace

Symbols::Symbols(Draft& draft) : draft_(draft) {
  for (const ptx::Variable& parameter : draft.function.parameters)
    parameters_[parameter.name] = lay(draft.parameter_bytes, parameter, kMostParameters);
  for (const ptx::Variable& variable : draft.function.variables)
    variables_[variable.name] = &variable;
}

std::uint32_t Symbols::lay(std::uint32_t& end, const ptx::Variable& variable, std::uint32_t most) {
  const std::uint64_t at = aligned(end, variable.align);
  if (at + variable.bytes > most)
    throw PtxError(fmt::format("{} takes {} bytes, and a kernel has {} of its kind",
                               one_line(variable.name, 100), variable.bytes, most),
                   draft_.function.place);
  end = static_cast<std::uint32_t>(at + variable.bytes);
  return static_cast<std::uint32_t>(at);
}

Constant Symbols::find(std::string_view name, std::uint8_t bytes, const Place& place) {
  Constant made;
  made.bytes = bytes;
  for (const NamedSpecial& known : kSpecials)
    if (known.name == name) {
      made.from = known.special == Special::none ? Constant::From::number : Constant::From::special;
      made.value = known.special == Special::none ? kLanes : std::uint64_t(known.special);
      return made;
    }
  if (const auto parameter = parameters_.find(name); parameter != parameters_.end()) {
    made.value = parameter->second;
    return made;
  }
  const auto lay_once = [&](auto& offsets, std::uint32_t& end, const ptx::Variable& variable,
                            std::uint32_t most) {
    const auto known = offsets.find(variable.name);
    if (known != offsets.end()) return known->second;
    return offsets[variable.name] = lay(end, variable, most);
  };
  const auto in_space = [&](const ptx::Variable& variable) {
    if (variable.unsized) {
      made.from = Constant::From::shared_base;
    } else if (variable.space == ptx::Space::shared) {
      made.value = lay_once(shared_, draft_.static_shared, variable, kMostStaticShared);
    } else {
      made.value = lay_once(locals_, draft_.local_bytes, variable, kMostLocal);
    }
    return made;
  };
  if (const auto own = variables_.find(name); own != variables_.end())
    return in_space(*own->second);
  for (std::size_t n = 0; n < draft_.module.variables.size(); ++n) {
    const ptx::Variable& variable = draft_.module.variables[n];
    if (variable.name != name) continue;
    if (variable.space == ptx::Space::shared) return in_space(variable);
    if (variable.unsized)
      throw PtxError(fmt::format("{} is defined nowhere", one_line(name, 100)), place);
    made.from = Constant::From::variable;
    made.value = n;
    return made;
  }
  throw PtxError(fmt::format("'{}' is not supported", one_line(name, 100)), place);
}

void Symbols::finish() {
  draft_.static_shared = static_cast<std::uint32_t>(aligned(draft_.static_shared, kDynamicAlign));
  for (Constant& constant : draft_.constants)
    if (constant.from == Constant::From::shared_base) {
      constant.from = Constant::From::number;
      constant.value = draft_.static_shared;
    }
}

}  // namespace gauntlet::simt
