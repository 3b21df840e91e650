// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/simt/decode/instr.h"

namespace gauntlet::simt {

class FormTable;

/// FormTable::add for the namespaces below, which must not instantiate anything that others share.
void add_lane_form(FormTable& table, const char* pattern, const char* operands, Run run,
                   Class kind);

// What is computed in each lane by itself: one source, forms.h, compiled for two vector units.
// No sum is contracted and every NaN is made the same, so that results are equal to the bit.
namespace lanes_baseline {
void add_forms(FormTable& table);
}
namespace lanes_avx2 {
void add_forms(FormTable& table);
}

}  // namespace gauntlet::simt
