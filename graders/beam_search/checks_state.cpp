// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Families of hypotheses, told apart by their first token, that overtake each other all the time.
/// What a family says next depends on its whole path.
Language crossing_language(const Seed& seed, std::int64_t families) {
  return [seed, families](const Context& at, std::span<float> row) {
    Rng own = numbers_at(seed, at);
    if (at.depth == 0) {
      for (std::size_t token = 0; token < row.size(); ++token)
        row[token] = token < static_cast<std::size_t>(families)
                         ? -static_cast<float>(own.integer(0, 1023)) / 64
                         : -2000;
      return;
    }
    for (float& value : row) value = -1000 - static_cast<float>(own.integer(0, 63));
    row[static_cast<std::size_t>(own.integer(0, std::ssize(row) - 1))] =
        -static_cast<float>(own.integer(0, 1023)) / 64;
  };
}

/// From step to step all that stays descends from one hypothesis: the first one for some steps, the
/// last one after that.
Language one_parent_language(const Seed& seed, std::int64_t beam, std::int64_t turn) {
  return [seed, beam, turn](const Context& at, std::span<float> row) {
    // On the chosen path, token c(depth) leads on; the row is best at c, c + 1, ... for the first
    // steps, and c is the last of the beam later.
    const auto vocab = static_cast<std::int64_t>(row.size());
    const auto chosen = [&](std::int64_t depth) {
      return numbers_at(seed, {at.item, depth, static_cast<std::uint64_t>(depth), -1})
          .integer(0, vocab - 1);
    };
    Context path = root_of(at.item);
    for (std::int64_t depth = 0; depth < at.depth; ++depth)
      path = path.extended(static_cast<std::int32_t>(chosen(depth)));
    const bool on_path = path.path == at.path;
    const std::int64_t first = chosen(at.depth) + vocab - (at.depth < turn ? 0 : beam - 1);
    for (std::int64_t rank = 0; rank < vocab; ++rank) {
      const std::int64_t token = (first + rank) % vocab;
      row[static_cast<std::size_t>(token)] =
          on_path ? -static_cast<float>(rank + 1) / 8 : -100 - static_cast<float>(rank);
    }
  };
}

Settings open_ended(Rng& rng, std::int32_t policy) {
  Settings settings = random_settings(rng, policy);
  settings.eos.clear();
  settings.min_new = 0;
  return settings;
}

// Ranks change at every step, so that states and tokens must move with their hypotheses.
void crossing_beams(Probe& probe) {
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("policy_{}", policy));
    Settings settings = open_ended(rng, policy);
    settings.beam = settings.n_return = rng.integer(2, 6);
    settings.vocab = settings.beam + rng.integer(1, 6);
    settings.max_new = rng.integer(6, 14);
    const Language language = crossing_language(rng.seed(), settings.beam);
    require_right(probe, rng, solved_problem(settings, random_prompts(rng, 6), language));
  }
}

// One hypothesis takes all places, from which the others are overwritten.
void one_parent(Probe& probe) {
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("policy_{}", policy));
    Settings settings = open_ended(rng, policy);
    settings.beam = settings.n_return = rng.integer(2, 6);
    settings.vocab = settings.beam + rng.integer(1, 6);
    settings.max_new = rng.integer(8, 12);
    const std::int64_t turn = rng.integer(3, 6);
    const Language language = one_parent_language(rng.seed(), settings.beam, turn);
    require_right(probe, rng, solved_problem(settings, random_prompts(rng, 4), language));
  }
}

}  // namespace

std::vector<Check> state_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"crossing_beams", "states that do not move with their hypotheses", correctness, 2,
        critical},
       crossing_beams},
      {{"one_parent", "token lists that share memory with their parent's", correctness, 2,
        critical},
       one_parent},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
