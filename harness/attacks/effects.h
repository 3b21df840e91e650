// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/attacks/corpus.h"
#include "harness/attacks/evidence.h"

namespace gauntlet {

bool is_effect(const std::string& kind);
std::vector<std::string> effect_names();

/// Whether the attack got what it wanted.
bool succeeded(const Effect& effect, const Evidence& evidence);

/// Whether an honest program was hindered.
bool hindered(const Evidence& evidence);

}  // namespace gauntlet
