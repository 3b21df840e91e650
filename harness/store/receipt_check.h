// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/store/observation.h"
#include "harness/store/receipt.h"

namespace gauntlet {

/// One thing that a verification looked at.
struct Proof {
  enum class Outcome {
    holds,
    noted,        // differs as honest runs may
    unconfirmed,  // a figure that only the receipt knows
    open,         // could not be seen again here
    refuted,      // the receipt and the world contradict each other
  };
  std::string what;  // "commitment", "check offset_ladder"
  Outcome outcome = Outcome::holds;
  std::string text;  // what was found, what was wanted, and what helps
};

std::string_view name_of(Proof::Outcome outcome);

/// The worst outcome of all; `holds` for none.
Proof::Outcome worst_of(const std::vector<Proof>& proofs);

/// That the receipt reveals the seed which it committed itself to. `printed` is the commitment that
/// was seen when the run began, empty when nobody kept it.
Proof check_commitment(const Receipt& receipt, const std::string& printed);

/// That the closing part is what the run that made the commitment signed when it ended. `printed`
/// is the closing digest that was seen then, empty when nobody kept it. Without that and without a
/// printed commitment nothing is known but that the receipt is whole: `noted`.
Proof check_closing(const Receipt& receipt, const std::string& printed, bool commitment_kept);

/// That observation.json, of which `text` is the content, is the one that the receipt was closed
/// over, and that both say the same.
Proof check_observation(const Receipt& receipt, const std::string& text,
                        const std::string& shown_name);

/// That what would run now is what was graded: the solution's files and the grader.
Proof check_sources(const Receipt& receipt, const std::string& digest);
Proof check_grader(const Receipt& receipt, const std::string& digest);

/// What another run with the same seed, without races, says to the receipt: one proof for the
/// library and one for every check.
std::vector<Proof> compare_runs(const Receipt& claimed, const Receipt& seen);

}  // namespace gauntlet
