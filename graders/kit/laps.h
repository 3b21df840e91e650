#pragma once

#include <functional>
#include <optional>

#include "harness/measure/race.h"
#include "harness/worker/call.h"

namespace gauntlet::kit {

/// Runs a timed call, which must return 0 and leave outputs that `miss` has nothing against. It is
/// asked when the clock has stopped, and only of a call that returned 0.
Lap verified_lap(Session& session, CallBase& call,
                 const std::function<std::optional<Miss>()>& miss);

}  // namespace gauntlet::kit
