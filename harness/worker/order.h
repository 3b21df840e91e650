// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/worker/call.h"
#include "harness/worker/layout.h"
#include "harness/worker/protocol.h"

namespace gauntlet {

// Orders to the worker, written only while it is frozen.

void write_load_order(wire::Order& order, const std::vector<std::string>& exports, bool has_tests);
void write_lay_order(wire::Order& order, const std::string& symbol, const Layout& layout);
void write_call_order(wire::Order& order, CallBase& call, const Layout& layout);

}  // namespace gauntlet
