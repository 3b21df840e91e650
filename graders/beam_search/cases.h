#pragma once

#include <functional>
#include <span>
#include <vector>

#include "directed.h"
#include "harness/core/rng.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A problem and its right answer.
struct Posed {
  Problem problem;
  std::vector<Decoded> want;
};

/// Settings around all borders of the contract: beams that outnumber the tokens, one beam, no EOS,
/// several of them, a negative alpha. The policy is given, the stop rule drawn.
Settings random_settings(Rng& rng, std::int32_t policy);

using DrawDice = std::function<Dice(Rng&)>;

/// Says whether a drawn item is of use: its language, as item 0, and its right answer.
using Accept = std::function<bool(const Language&, const Decoded&)>;

/// `batch` random items whose answers do not hang on rounding and that are all acceptable.
Posed pose_random(Rng& rng, const Settings& settings, std::int64_t batch,
                  const DrawDice& draw = draw_dice, const Accept& accept = {});

/// A directed search, disguised: `batch` copies, each with all log-probs scaled by a power of two,
/// among further tokens that never stay, and with the EOS under another id. The order of the tokens
/// is kept, so that ties fall as they did.
Posed pose_directed(Rng& rng, const Directed& directed, std::int64_t batch);

/// A problem with a language of its own. Its decisions may not hang on rounding.
Posed pose(const Settings& settings, std::vector<std::int64_t> prompts, Language language);

/// `count` prompts of 1 to 5000 tokens.
std::vector<std::int64_t> random_prompts(Rng& rng, std::int64_t count);

/// Equal as hypotheses, and found in as many steps.
bool same_result(const Decoded& a, const Decoded& b);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
