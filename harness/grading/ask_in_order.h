// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "harness/store/observation.h"
#include "harness/store/receipt.h"

namespace gauntlet {

/// What a check has seen, and what was heard of its calls; nothing where it was not asked.
struct AskedCheck {
  CheckObservation seen;
  std::optional<CheckTrace> trace;
};

/// Asks checks 0 to `count` - 1 on several lanes, one check at a time on each, and hands over what
/// they saw in the order of their numbers, whoever was done first: as if one had been asked after
/// the other. `ask` is called by several threads, once for each check, `keep` by one at a time.
/// Nothing more is kept once `keep` gave false: what other lanes have seen by then is forgotten.
/// Throws what one of them threw, when all lanes have ended.
void ask_in_order(std::size_t count, std::size_t lanes,
                  const std::function<AskedCheck(std::size_t lane, std::size_t check)>& ask,
                  const std::function<bool(std::size_t check, AskedCheck)>& keep);

}  // namespace gauntlet
