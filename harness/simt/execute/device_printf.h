// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/simt/decode/instr.h"

namespace gauntlet::simt {

/// vprintf(format, arguments), lane by lane, into the output of the launch. What is cut there is
/// counted all the same: the result is the number of arguments, as on a GPU.
void print_lanes(Frame& frame, const Instr& instr, std::uint32_t mask);

/// __assertfail(message, file, line, function, size): says so and ends the launch.
void fail_assertion(Frame& frame, const Instr& instr, std::uint32_t mask);

}  // namespace gauntlet::simt
