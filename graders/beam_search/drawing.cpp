// SPDX-License-Identifier: Apache-2.0
#include "drawing.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <numeric>

#include "domain.h"
#include "harness/core/error.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kBeyond32Bits = (std::int64_t{1} << 32) + 3;

// Of one item until no decision of it hangs on rounding: draws, and log-probs that the oracle looks
// at in all of them, which takes about a second. Most items need one.
constexpr int kMostDrawsOfAnItem = 2000;
constexpr std::int64_t kMostLookedAt = 500'000;

// Items of a case that neighbouring rules are tried on.
constexpr std::int64_t kTellingItems = 5;

/// How all items of a case answer, besides the numbers themselves.
struct Manner {
  std::string possible;
  std::string eos_come;
  bool signed_zeros = false;
  bool far_down = false;
  bool lost_in_the_sum = false;
  bool mostly_lowest = false;
  bool converging = false;
  bool forgetful = false;
  std::vector<std::int32_t> eos;
};

/// One item: its numbers, and the depth from which on it has none.
struct Item {
  RandomLanguage random;
  std::int64_t dead_from = kNever;
};

Manner manner_of(const Assignment& choice, const Settings& settings) {
  return {choice["possible"].name,
          choice["EOS come"].name,
          choice.is("log-probs", "0 and -0"),
          choice.is("log-probs", "far down"),
          choice.is("log-probs", "lost in the sum"),
          choice.is("log-probs", "mostly the lowest float"),
          choice.is("states", "that converge"),
          choice.is("states", "of the prompt"),
          settings.eos};
}

/// Sums of hundreds of them are exact in float64: multiples of `unit` of 2^25 units at most.
void put_numbers(const Assignment& choice, Rng& rng, RandomLanguage& drawn) {
  const auto units = [&](float unit, std::int64_t levels) {
    drawn.unit = unit;
    drawn.levels = levels;
  };
  // Scores of different lengths that are equal by chance have to be rare.
  const bool fine = rational(choice) || choice.is("log-probs", "of many digits");
  if (choice.is("log-probs", "coarse")) return units(1, rng.integer(2, 3));
  if (choice.is("log-probs", "equal in a row")) return drawn.slump = 3, units(1, 1);
  if (choice.is("log-probs", "0 and -0")) return units(1, rng.integer(1, 2));
  if (choice.is("log-probs", "as low as float goes")) return units(0x1p104F, 1 << 22);
  if (choice.is("log-probs", "subnormal")) return units(0x1p-149F, 1 << 22);
  if (fine) return units(0x1p-21F, 1 << 24);
  units(rng.chance(0.7) ? 0x1p-10F : 0x1p-6F, 0);
  drawn.levels = static_cast<std::int64_t>(rng.uniform(2, 8) / static_cast<double>(drawn.unit));
  drawn.slump = rng.chance(0.3) ? drawn.levels / 3 : 0;
}

Item item_of(const Assignment& choice, Rng& rng, const Settings& settings) {
  Item item;
  item.random.seed = rng.seed();
  put_numbers(choice, rng, item.random);
  if (choice.is("possible", "most") && rng.chance(0.3)) item.random.forbidden = 0.2;
  if (choice.is("possible", "half")) item.random.forbidden = 0.5;
  if (choice.is("possible", "none")) item.dead_from = 0;
  if (choice.is("possible", "none from some step on"))
    item.dead_from =
        rng.integer(1, std::max<std::int64_t>(1, std::min<std::int64_t>(settings.max_new - 1, 6)));
  item.random.eos_favour = static_cast<int>(rng.integer(2, 8));
  if (choice.is("EOS come", "often")) item.random.eos_favour = 40;
  return item;
}

/// The best of all other tokens, and one unit more.
float before_all_others(const Manner& manner, float unit, std::span<const float> row) {
  float best = kForbidden;
  for (std::size_t token = 0; token < row.size(); ++token)
    if (std::ranges::find(manner.eos, static_cast<std::int32_t>(token)) == manner.eos.end())
      best = std::max(best, row[token]);
  return best == kForbidden ? -unit : std::min(0.0F, best + unit);
}

/// Leaves some tokens as they are and forbids all others.
void keep_possible(const Manner& manner, const Context& at, std::span<float> row) {
  constexpr std::size_t kLeft = 3;
  const std::size_t left = std::min(kLeft, row.size());
  if (manner.possible == "the first tokens") std::ranges::fill(row.subspan(left), kForbidden);
  if (manner.possible == "the last tokens")
    std::ranges::fill(row.first(row.size() - left), kForbidden);
  if (manner.possible == "one token") {
    const std::size_t one = mixed(at.path, 1) % row.size();
    const float value = row[one];
    std::ranges::fill(row, kForbidden);
    row[one] = value;
  }
}

void place_eos(const Manner& manner, const RandomLanguage& numbers, std::span<float> row) {
  const bool first = manner.eos_come == "before all others" && !manner.eos.empty();
  const float best = first ? before_all_others(manner, numbers.unit, row) : 0;
  for (const std::int32_t token : manner.eos) {
    float& value = row[static_cast<std::size_t>(token)];
    if (first) value = best;
    if (manner.eos_come == "rarely" && value != std::numeric_limits<float>::lowest())
      value -= numbers.unit * static_cast<float>(numbers.levels);
    if (manner.eos_come == "never") value = kForbidden;
  }
}

Language language_of(const Manner& manner, const std::vector<Item>& items) {
  std::vector<RandomLanguage> numbers;
  for (const Item& item : items) numbers.push_back(item.random);
  Language random = random_language(std::move(numbers), manner.eos);
  if (manner.far_down) random = far_down(std::move(random), 0x1p24F);
  if (manner.lost_in_the_sum) random = lost_in_the_sum(std::move(random));
  if (manner.mostly_lowest) random = mostly_lowest(std::move(random));
  Language whole = [random = std::move(random), manner, items](const Context& at,
                                                               std::span<float> row) {
    const Item& own = items.at(static_cast<std::size_t>(at.item));
    if (at.depth >= own.dead_from) return std::ranges::fill(row, kForbidden), void();
    random(at, row);
    place_eos(manner, own.random, row);
    keep_possible(manner, at, row);
    if (manner.signed_zeros)
      for (std::size_t token = 0; token < row.size(); ++token)
        if (row[token] == 0) row[token] = mixed(at.path, token) % 2 == 0 ? 0.0F : -0.0F;
  };
  if (manner.forgetful) return forgetful(std::move(whole));
  return manner.converging ? converging(std::move(whole)) : whole;
}

double alpha_of(const Assignment& choice, Rng& rng) {
  // Of lengths up to 257 a power of 8 goes beyond 64 bits at last, the others soon.
  constexpr std::array kWhole{8.0, 20.0, 64.0, 100.0};
  if (choice.is("alpha", "large and whole")) return kit::one_of(rng, kWhole);
  if (choice.is("alpha", "large, whole, below 0")) return -kit::one_of(rng, kWhole);
  if (choice.is("alpha", "-0")) return -0.0;
  if (choice.is("alpha", "-1.5 to -0.3")) return -choice.draw_real(rng, "alpha");
  return choice.draw_real(rng, "alpha");
}

std::int64_t min_new_of(const Assignment& choice, std::int64_t max_new) {
  const std::string& name = choice["min_new"].name;
  if (name == "half") return max_new / 2;
  if (name == "max_new") return max_new;
  if (name == "max_new - 1") return std::max<std::int64_t>(0, max_new - 1);
  return std::min<std::int64_t>(max_new, std::stoi(name));
}

std::int64_t n_return_of(const Assignment& choice, std::int64_t beam) {
  if (choice.is("n_return", "1")) return 1;
  if (choice.is("n_return", "half")) return (beam + 1) / 2;
  if (choice.is("n_return", "beam - 1")) return std::max<std::int64_t>(1, beam - 1);
  return beam;
}

std::vector<std::int32_t> eos_of(const Assignment& choice, Rng& rng, std::int64_t vocab) {
  constexpr std::int64_t kMostIds = 64;  // by the contract
  std::int64_t count = vocab;
  if (choice.is("EOS ids", "all but one"))
    count = vocab - 1;
  else if (!choice.is("EOS ids", "all"))
    count = std::min(vocab, choice.draw(rng, "EOS ids"));
  count = std::min(count, kMostIds);
  std::vector<std::int32_t> ids = distinct_tokens(rng, count, vocab);
  const auto put = [&](std::int64_t from, std::int64_t first, std::int64_t many) {
    std::iota(ids.begin() + from, ids.begin() + from + many, static_cast<std::int32_t>(first));
  };
  const std::int64_t half = count / 2;
  if (choice.is("EOS are", "first")) put(0, 0, count);
  if (choice.is("EOS are", "last")) put(0, vocab - count, count);
  if (choice.is("EOS are", "at both ends")) {
    put(0, 0, half);
    put(half, vocab - (count - half), count - half);
  }
  rng.shuffle(ids);
  if (choice.is("EOS order", "ascending")) std::ranges::sort(ids);
  if (choice.is("EOS order", "descending")) std::ranges::sort(ids, std::greater());
  return ids;
}

std::int32_t pad_of(const Assignment& choice, const Settings& settings) {
  using Limits = std::numeric_limits<std::int32_t>;
  if (choice.is("pad", "-1")) return -1;
  if (choice.is("pad", "an EOS id") && !settings.eos.empty()) return settings.eos.back();
  if (choice.is("pad", "vocab")) return static_cast<std::int32_t>(settings.vocab);
  if (choice.is("pad", "least")) return Limits::min();
  return choice.is("pad", "largest") ? Limits::max() : 0;
}

Settings settings_of(const Assignment& choice, Rng& rng, const Sizes& sizes) {
  Settings settings;
  settings.beam = sizes.beam;
  settings.vocab = sizes.vocab;
  settings.max_new = sizes.max_new;
  settings.min_new = min_new_of(choice, sizes.max_new);
  settings.n_return = n_return_of(choice, sizes.beam);
  settings.eos = eos_of(choice, rng, sizes.vocab);
  settings.alpha = alpha_of(choice, rng);
  settings.penalty = choice.is("penalty", "none")     ? BEAM_PENALTY_NONE
                     : choice.is("penalty", "length") ? BEAM_PENALTY_LENGTH
                                                      : BEAM_PENALTY_GNMT;
  settings.policy = choice.is("policy", "pooled") ? BEAM_POOLED : BEAM_SEPARATE;
  settings.stop = choice.is("stop", "full")    ? BEAM_STOP_FULL
                  : choice.is("stop", "bound") ? BEAM_STOP_BOUND
                                               : BEAM_STOP_ESTIMATE;
  settings.pad = pad_of(choice, settings);
  settings.threads = static_cast<std::int32_t>(choice.draw(rng, "threads"));
  return settings;
}

std::vector<std::int64_t> prompts_of(const Assignment& choice, Rng& rng, std::int64_t batch) {
  std::vector<std::int64_t> prompts = random_prompts(rng, batch);
  for (std::int64_t& prompt : prompts) {
    if (choice.is("prompts", "of 0 tokens") && rng.chance(0.7)) prompt = 0;
    if (choice.is("prompts", "beyond 2^32")) prompt += kBeyond32Bits;
  }
  return prompts;
}

/// Rules that differ from the right ones in one thing.
Settings neighbour_of(Rng& rng, const Settings& settings) {
  Settings other = settings;
  const bool separate = settings.policy == BEAM_SEPARATE;
  const std::int64_t what = rng.integer(separate ? 0 : 2, 4);
  if (what <= 1)
    other.stop = static_cast<std::int32_t>((settings.stop + rng.integer(1, 2)) % 3);
  else if (what == 2)
    other.policy = separate ? BEAM_POOLED : BEAM_SEPARATE;
  else if (what == 3)
    other.min_new =
        other.min_new > 0 ? other.min_new - 1 : std::min<std::int64_t>(1, other.max_new);
  else
    other.penalty = settings.penalty == BEAM_PENALTY_NONE
                        ? BEAM_PENALTY_NONE
                        : BEAM_PENALTY_LENGTH + BEAM_PENALTY_GNMT - settings.penalty;
  return other;
}

/// Draws an item whose answer, in `want`, does not hang on rounding.
Item solved_item(const Assignment& choice, Rng& rng, const Settings& settings, Expected& want) {
  int draws = 0;
  for (std::int64_t looked_at = 0; draws < kMostDrawsOfAnItem && looked_at < kMostLookedAt;
       ++draws) {
    Item item = item_of(choice, rng, settings);
    want = decode(settings, language_of(manner_of(choice, settings), {item}), 0);
    if (!want.close_call) return item;
    looked_at += want.steps * settings.beam * settings.vocab;
  }
  throw HangsOnRounding(
      OwnFault::bug, fmt::format("{} items that hang on rounding: {}", draws, describe(settings)));
}

/// The same, tried a few times until the item ends otherwise by rules beside the right ones: most
/// random items end alike by nearly all rules.
Item telling_item(const Assignment& choice, Rng& rng, const Settings& settings, Expected& want) {
  constexpr int kTries = 6;
  const Settings other = neighbour_of(rng, settings);
  Item item;
  for (int turn = 0; turn < kTries; ++turn) {
    item = solved_item(choice, rng, settings, want);
    const Language alone = language_of(manner_of(choice, settings), {item});
    if (!same_result(decode(other, alone, 0), want)) break;
  }
  return item;
}

/// The oracle takes microseconds for an item.
bool soon_solved(const Settings& settings) {
  return settings.beam * settings.vocab * settings.max_new <= 3000;
}

/// Solves it where there is somewhere to write the answers to.
Problem drawn_problem(const Assignment& choice, Rng& rng, std::vector<Expected>* want) {
  const Sizes sizes = sizes_of(choice, rng);
  const Settings settings = settings_of(choice, rng, sizes);
  std::vector<Item> items;
  for (std::int64_t b = 0; b < sizes.batch; ++b) {
    const bool telling = b < kTellingItems && soon_solved(settings);
    items.push_back(want == nullptr ? item_of(choice, rng, settings)
                    : telling       ? telling_item(choice, rng, settings, want->emplace_back())
                                    : solved_item(choice, rng, settings, want->emplace_back()));
  }
  return {settings, prompts_of(choice, rng, sizes.batch),
          language_of(manner_of(choice, settings), items)};
}

void put_alignment(const std::string& name, CallOptions& options) {
  if (name == "of an element") options.placement = {4, 0};
  if (const auto placement = kit::placement_named(name)) options.placement = *placement;
  for (const char* array : {"root_log_probs", "tokens", "scores", "log_probs"})
    if (name.starts_with(fmt::format("64, {} ", array))) options.displaced = array;
}

}  // namespace

Problem problem_of(const Assignment& choice, Rng& rng) {
  return drawn_problem(choice, rng, nullptr);
}

SolvedProblem solved_problem_of(const Assignment& choice, Rng& rng) {
  SolvedProblem solved;
  solved.problem = drawn_problem(choice, rng, &solved.want);
  return solved;
}

std::optional<SolvedProblem> judgeable_problem_of(const Assignment& choice, Rng& rng) {
  try {
    return solved_problem_of(choice, rng);
  } catch (const HangsOnRounding&) {
    return std::nullopt;
  }
}

CallOptions options_of(const Assignment& choice) {
  CallOptions options;
  options.null_when_empty = choice.is("pointers", "null where allowed");
  if (choice.is("steps", "not wanted")) options.missing = "steps";
  if (choice.is("states", "from 0")) options.states = StateNumbers::from_0;
  if (choice.is("states", "down from 2^64 - 1")) options.states = StateNumbers::from_the_top;
  if (choice.is("states", "that converge")) options.states = StateNumbers::converging;
  if (choice.is("states", "of the prompt")) options.states = StateNumbers::of_the_prompt;
  put_alignment(choice["alignment"].name, options);
  return options;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
