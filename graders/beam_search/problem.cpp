#include "problem.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/core/error.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

std::string describe(const Settings& s) {
  constexpr std::array kPenalties{"no penalty", "length penalty", "GNMT penalty"};
  constexpr std::array kStops{"ESTIMATE", "FULL", "BOUND"};
  const std::string policy =
      s.policy == BEAM_POOLED
          ? "POOLED"
          : fmt::format("SEPARATE/{}", kStops.at(static_cast<std::size_t>(s.stop)));
  return fmt::format(
      "{}, beam {}, vocab {}, max_new {}, min_new {}, n_return {}, eos [{}], {} alpha {:.17g}",
      policy, s.beam, s.vocab, s.max_new, s.min_new, s.n_return, fmt::join(s.eos, " "),
      kPenalties.at(static_cast<std::size_t>(s.penalty)), s.alpha);
}

void require_valid(const Settings& s) {
  const bool sizes = s.beam >= 1 && s.vocab >= 1 && s.max_new >= 0 && s.threads >= 1;
  const bool limits =
      s.min_new >= 0 && s.min_new <= s.max_new && s.n_return >= 1 && s.n_return <= s.beam;
  const bool tokens = std::all_of(s.eos.begin(), s.eos.end(), [&](std::int32_t token) {
    return token >= 0 && token < s.vocab;
  });
  if (!sizes || !limits || !tokens)
    throw Broken(OwnFault::bug, fmt::format("a search that the contract forbids: {}", describe(s)));
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
