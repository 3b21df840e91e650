#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "cases.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judging.h"

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

std::vector<std::int64_t> alone(std::int64_t item) {
  return {item};
}

/// Settings in which some items are done at once and others go on to the end.
Settings uneven_settings(Rng& rng, std::int32_t policy) {
  Settings settings = random_settings(rng, policy);
  settings.beam = settings.n_return = rng.integer(2, 4);
  settings.vocab = rng.integer(4, 9);
  settings.max_new = rng.integer(5, 9);
  settings.min_new = 0;
  settings.eos = {static_cast<std::int32_t>(rng.integer(0, settings.vocab - 1))};
  return settings;
}

Dice uneven_dice(Rng& rng) {
  Dice dice = draw_dice(rng);
  dice.eos_favour = rng.chance(0.5) ? 40 : 1;
  return dice;
}

// Ranks change at every step, so that states and tokens must move with their hypotheses.
void crossing_beams(Probe& probe) {
  for (const std::int32_t policy : {BEAM_POOLED, BEAM_SEPARATE}) {
    Rng rng = probe.begin_case(fmt::format("policy_{}", policy));
    Settings settings = open_ended(rng, policy);
    settings.beam = settings.n_return = rng.integer(2, 6);
    settings.vocab = settings.beam + rng.integer(1, 6);
    settings.max_new = rng.integer(6, 14);
    const Posed posed =
        pose(settings, random_prompts(rng, 6), crossing_language(rng.seed(), settings.beam));
    expect_right(probe, rng, posed.problem, posed.want);
  }
}

// One hypothesis takes all places, from which the others are overwritten.
void one_parent(Probe& probe) {
  for (const std::int32_t policy : {BEAM_POOLED, BEAM_SEPARATE}) {
    Rng rng = probe.begin_case(fmt::format("policy_{}", policy));
    Settings settings = open_ended(rng, policy);
    settings.beam = settings.n_return = rng.integer(2, 6);
    settings.vocab = settings.beam + rng.integer(1, 6);
    settings.max_new = rng.integer(8, 12);
    const Posed posed = pose(settings, random_prompts(rng, 4),
                             one_parent_language(rng.seed(), settings.beam, rng.integer(3, 6)));
    expect_right(probe, rng, posed.problem, posed.want);
  }
}

// Items that are done at once beside items that go on to the end: together, alone, in another
// order.
void batch_independence(Probe& probe) {
  for (int turn = 0; turn < 4; ++turn) {
    const std::int32_t policy = turn % 2 == 0 ? BEAM_POOLED : BEAM_SEPARATE;
    Rng rng = probe.begin_case(fmt::format("policy_{}_{}", policy, turn / 2));
    const Settings settings = uneven_settings(rng, policy);
    std::int64_t drawn = 0;
    const auto alternates = [&](const Language&, const Decoded& want) {
      const bool early = want.steps <= 2;
      if (drawn % 2 == 0 ? !early : want.steps < settings.max_new - 1) return false;
      ++drawn;
      return true;
    };
    const Posed posed = pose_random(rng, settings, 7, uneven_dice, alternates);
    const Answer together = expect_right(probe, rng, posed.problem, posed.want);
    std::vector<std::int64_t> order(7);
    std::iota(order.begin(), order.end(), 0);
    rng.shuffle(order);
    const Answer shuffled = expect_right(probe, rng, part_of(posed.problem, order));
    for (std::size_t place = 0; place < 7; ++place) {
      const auto item = static_cast<std::size_t>(order[place]);
      expect_same_bits(probe, posed.problem, together, item, shuffled, place,
                       fmt::format("item {} in its place and at place {}", item, place));
      const Answer solo = expect_right(probe, rng, part_of(posed.problem, alone(order[place])));
      expect_same_bits(probe, posed.problem, together, item, solo, 0,
                       fmt::format("item {} among others and alone", item));
    }
  }
  // More items than a word has bits, and than anyone looks at one by one.
  for (const std::int32_t policy : {BEAM_POOLED, BEAM_SEPARATE}) {
    Rng rng = probe.begin_case(fmt::format("policy_{}_large_batch", policy));
    const Posed posed =
        pose_random(rng, uneven_settings(rng, policy), rng.integer(130, 300), uneven_dice);
    expect_right(probe, rng, posed.problem, posed.want);
  }
}

// One thread or many, small rows and such that are worth sharing out: the same bits.
void thread_counts(Probe& probe) {
  for (int turn = 0; turn < 4; ++turn) {
    const std::int32_t policy = turn % 2 == 0 ? BEAM_POOLED : BEAM_SEPARATE;
    Rng rng = probe.begin_case(fmt::format("policy_{}_{}", policy, turn / 2));
    Settings settings = random_settings(rng, policy);
    settings.vocab = rng.integer(12'000, 16'000);
    settings.beam = settings.n_return = rng.integer(3, 5);
    settings.max_new = 4;
    settings.stop = BEAM_STOP_BOUND;
    settings.alpha = rng.uniform(0.5, 1.5);
    settings.eos = {static_cast<std::int32_t>(rng.integer(0, settings.vocab - 1))};
    settings.min_new = turn < 2 ? 0 : rng.integer(1, 2);
    const auto favoured = [random = large_language(rng), eos = settings.eos[0],
                           favour = turn < 2 ? 1024.0F : 65536.0F](const Context& at,
                                                                   std::span<float> row) {
      random(at, row);
      // Often or always among the best, and no less exact.
      row[static_cast<std::size_t>(eos)] /= favour;
    };
    Posed posed = pose(settings, random_prompts(rng, 4), favoured);
    posed.problem.settings.threads = 1;
    const Answer single = expect_right(probe, rng, posed.problem, posed.want);
    for (const std::int32_t threads : {2, 3, 7}) {
      posed.problem.settings.threads = threads;
      const Answer many = expect_right(probe, rng, posed.problem, posed.want);
      for (std::size_t item = 0; item < 4; ++item)
        expect_same_bits(probe, posed.problem, single, item, many, item,
                         fmt::format("item {} with 1 and with {} threads", item, threads));
    }
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
      {{"batch_independence", "items that see their neighbours", correctness, 3, critical},
       batch_independence},
      {{"thread_counts", "candidates lost between threads", robustness, 1, major}, thread_counts},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
