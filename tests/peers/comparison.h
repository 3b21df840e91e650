// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/peers/peer.h"

namespace gauntlet::peers {

/// One array of an answer and what it should be.
struct Part {
  std::string name;
  std::vector<float> got;
  const std::vector<double>* want = nullptr;
};

/// The peer's verdict on one array; `regime` brings the tolerances.
bool accepts(const Peer& peer, const Regime& regime, const Part& part);

}  // namespace gauntlet::peers
