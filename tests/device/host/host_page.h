// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/worker/protocol.h"

namespace gauntlet {

/// What a test and its host process share.
struct HostPage {
  wire::Control control;
  char symbol[wire::kMaxName];
  std::int64_t returned;
  std::uint64_t words[512];  // arguments, and what the function leaves there
};

}  // namespace gauntlet
