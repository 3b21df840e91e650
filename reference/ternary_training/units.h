// SPDX-License-Identifier: Apache-2.0
#pragma once

// The functions of the contract with one right answer, for arguments that have been judged. Those
// that return bool return false, with nothing written, when a scale is infinite.
#include "contract.h"

namespace ternary {

bool quantise(const TernaryQuantizeArgs& args);
bool differentiate(const TernaryLinearGradientArgs& args);
void infer(const TernaryForwardArgs& args, const TernaryModel& m);

}  // namespace ternary
