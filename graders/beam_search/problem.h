#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "contract.h"
#include "language.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

inline constexpr std::array kPolicies{BEAM_POOLED, BEAM_SEPARATE};

/// What all items of a call have in common. Names and meanings are the contract's.
struct Settings {
  std::int64_t beam = 2;
  std::int64_t vocab = 4;
  std::int64_t max_new = 3;
  std::int64_t min_new = 0;
  std::int64_t n_return = 2;
  std::vector<std::int32_t> eos{0};
  double alpha = 0;
  std::int32_t penalty = BEAM_PENALTY_LENGTH;
  std::int32_t policy = BEAM_SEPARATE;
  std::int32_t stop = BEAM_STOP_ESTIMATE;
  std::int32_t pad = 0;
  std::int32_t threads = 2;
};

/// "SEPARATE/BOUND, beam 3, length penalty 0.6": for findings.
std::string describe(const Settings& settings);

/// Throws Broken for settings that the contract forbids: a solution may refuse them.
void require_valid(const Settings& settings);

/// One call: `prompts` holds the length of each item's prompt.
struct Problem {
  Settings settings;
  std::vector<std::int64_t> prompts;
  Language language;

  std::int64_t batch() const { return static_cast<std::int64_t>(prompts.size()); }
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
