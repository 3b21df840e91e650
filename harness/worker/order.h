#pragma once

#include <string>
#include <vector>

#include "harness/worker/call.h"
#include "harness/worker/layout.h"
#include "harness/worker/protocol.h"
#include "harness/worker/shared_memory.h"

namespace gauntlet {

/// Orders to the worker, and what the arenas hold when it reads them. Only while it is frozen.

void write_load_order(wire::Order& order, const std::vector<std::string>& exports, bool has_tests);
void write_lay_order(wire::Order& order, const std::string& symbol, const Layout& layout);

/// Fresh inputs, poison in everything else that the worker can touch, and the order to call.
void write_call(CallBase& call, const Layout& layout, const SharedMemory& in,
                const SharedMemory& out);

}  // namespace gauntlet
