// SPDX-License-Identifier: Apache-2.0
// What the tests of single instructions share: which forms compute in their lanes, and on what.
#pragma once

#include <cstdint>
#include <string>

#include "harness/core/rng.h"
#include "harness/simt/decode/form_table.h"
#include "tests/simt/reference.h"

namespace gauntlet::simt {

/// The registers of one instruction: "D=W,W" are three; those before '=' are written.
struct Operands {
  std::string codes;
  std::size_t written = 0;

  explicit Operands(const std::string& text);
};

/// Of a register that is no predicate.
std::size_t bytes_of(char code);

/// Whether a form is one of lanes: nothing but registers, and its effect is on them alone.
bool computes(const std::string& opcode, const Form& form);

/// A value for a source: random bits, small numbers, or a number at some border of the opcode's
/// type. A predicate is 0 or 1; nothing stands above the bits of the register.
std::uint64_t drawn_value(Rng& rng, char code, const std::string& opcode);

/// Whether `got` is what is wanted of destination n, a register of this code.
bool agrees(const Expected& wanted, std::size_t n, char code, std::uint64_t got);

}  // namespace gauntlet::simt
