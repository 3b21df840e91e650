// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/store/observation.h"

namespace gauntlet {

/// Schema "gauntlet.observation/2". The same observation gives the same bytes on every machine.
std::string to_json(const CellObservation& cell);

/// Reads what to_json wrote. Throws UserError naming `shown_name` and the field for anything else.
CellObservation observation_from_json(const std::string& text, const std::string& shown_name);

}  // namespace gauntlet
