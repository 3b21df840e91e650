// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/peers/peer.h"

namespace gauntlet::peers {

/// What the peers said of all mutants and honest variants of a challenge. Rows are contestants,
/// columns peers.
struct Tally {
  std::string challenge;
  std::vector<std::vector<bool>> mutants, honest;
};

/// The table of docs/peers.md, and the protocols behind it with their sources.
std::string kill_table(const std::vector<Peer>& peers, const std::vector<Tally>& tallies);
std::string protocol_list(const std::vector<Peer>& peers);

/// `page` with what lies between "<!-- begin NAME -->" and "<!-- end NAME -->" replaced. Throws
/// UserError where it has no such lines.
std::string with_part(const std::string& page, const std::string& name, const std::string& text);

}  // namespace gauntlet::peers
