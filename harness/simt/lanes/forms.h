// SPDX-License-Identifier: Apache-2.0
// Included by lanes_baseline.cpp and lanes_avx2.cpp, each of which is compiled for its own vector
// unit and names the namespace. What is used from outside of it must be no inline function: the
// linker would keep one of two, and that one may be the one that this CPU lacks.
#include "harness/simt/decode/instr.h"
#include "harness/simt/lanes/lanes.h"

// The order is that of their needs.
// clang-format off
#include "harness/simt/lanes/each_lane.h"
#include "harness/simt/lanes/small_floats.h"
#include "harness/simt/lanes/approximations.h"
#include "harness/simt/lanes/integer_forms.h"
#include "harness/simt/lanes/float_forms.h"
#include "harness/simt/lanes/half_forms.h"
#include "harness/simt/lanes/conversion_forms.h"
#include "harness/simt/lanes/move_forms.h"
// clang-format on

namespace gauntlet::simt::SIMT_LANES {

void add_forms(FormTable& table) {
  add_integer_forms(table);
  add_float_forms(table);
  add_half_forms(table);
  add_conversion_forms(table);
  add_move_forms(table);
}

}  // namespace gauntlet::simt::SIMT_LANES
