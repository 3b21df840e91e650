// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "harness/simt/ptx/module.h"

namespace gauntlet::simt::ptx {

/// How much PTX is taken. What clang makes of a solution's 256 KiB of source stays far below.
inline constexpr std::size_t kMostText = 32u << 20;
inline constexpr std::size_t kMostInstructions = 400'000;  // of all functions
inline constexpr std::size_t kMostVariableBytes = 64u << 20;

/// Reads PTX of any origin. Throws PtxError that names the line.
std::unique_ptr<Module> parse(std::string text);

/// Bytes and kind of ".f32", ".u8", ".pred" without the dot. Throws nothing: bytes is 0 and kind no
/// predicate where there is no such type.
Type type_named(std::string_view name);

}  // namespace gauntlet::simt::ptx
