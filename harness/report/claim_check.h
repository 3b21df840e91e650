#pragma once

#include <string>
#include <vector>

#include "harness/store/json_fields.h"

namespace gauntlet {

/// Tries every claim again on what aggregate.json says, and gives a complaint for each that does
/// not hold. Shares no code with what computed the aggregate or made the claims.
std::vector<std::string> false_claims(const Json& aggregate, const Json& claims);

}  // namespace gauntlet
