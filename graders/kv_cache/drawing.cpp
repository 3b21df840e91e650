// SPDX-License-Identifier: Apache-2.0
#include "drawing.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "domain.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;
using kit::one_of;

constexpr double kMostScore = 99e3;  // in magnitude: a little less than the contract's limit
constexpr double kRise = 21.5;       // exp of it, less 0.9, times 1e30 is infinite
constexpr double kFaintest = 64;     // below 0: four times 16. exp of it times 8 is below 1e30
constexpr double kApart = 100;       // exp of as much below 0 is nothing beside 1e-30
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kBeyond32Bits = (std::int64_t{1} << 32) + 3;  // 3 where 32 bits are kept

// Of few digits, as 127 steps of INT8 too, so that its sums are exact: equal terms round the same
// way every time, and then a sum of hundreds of them errs by more than the contract allows.
constexpr float kConstant = 127 / 128.0f;

std::int64_t count_of_tokens(const Assignment& choice, Rng& rng, std::int64_t page) {
  if (choice.is("tokens", "a page - 1")) return page - 1;
  if (choice.is("tokens", "a page")) return page;
  if (choice.is("tokens", "a page + 1")) return page + 1;
  if (choice.is("tokens", "2 pages")) return 2 * page;
  return choice.draw(rng, "tokens");
}

std::int64_t beyond_32_bits(const Assignment& choice, Rng& rng, const char* argument) {
  if (choice.is(argument, "largest")) return kLargest;
  if (choice.is(argument, "2^32 + 3")) return kBeyond32Bits;
  return choice.draw(rng, argument);
}

void put_alignment(const std::string& name, CallOptions& options) {
  if (const auto placement = kit::placement_named(name)) options.placement = *placement;
  for (const char* array : {"k", "v", "q", "out", "part_out", "part_lse"})
    if (name == fmt::format("64, {} 4", array)) options.displaced = array;
}

/// For histories that give every sequence its length and no more; others fit by chance.
void put_pages(const Assignment& choice, Life& life) {
  Setup& setup = life.setup;
  const auto pages_of = [&](std::int64_t tokens) {
    return (tokens + setup.page_tokens - 1) / setup.page_tokens;
  };
  std::int64_t longest = 0;
  std::int64_t all = 0;
  for (const std::int64_t length : life.lengths) {
    longest = std::max(longest, pages_of(length));
    all += pages_of(length);
  }
  setup.width = longest + (choice.is("table width", "to spare")    ? 4
                           : choice.is("table width", "as needed") ? 0
                                                                   : -1);
  setup.width = std::max<std::int64_t>(0, setup.width);
  setup.pages = all + longest + 4 + setup.sequences;
  if (choice.is("pages", "as needed")) setup.pages = all;
  if (choice.is("pages", "too few")) setup.pages = all / 2;
  if (choice.is("pages", "none")) setup.pages = setup.width = 0;
}

/// The last number of a head's key and the first of a head's value, or all of them.
void spoil(const Assignment& choice, Rng& rng, const Setup& setup, Tokens& tokens) {
  if (choice.is("first token", "all NaN")) {
    std::generate_n(tokens.k.begin(), setup.key_numbers(), [&] { return draw_nan(rng); });
    std::generate_n(tokens.v.begin(), setup.value_numbers(), [&] { return draw_nan(rng); });
    return;
  }
  const float number = choice.is("first token", "infinity in it")    ? kit::kInfinity
                       : choice.is("first token", "-infinity in it") ? -kit::kInfinity
                                                                     : draw_nan(rng);
  const std::int64_t head = rng.integer(0, setup.heads - 1);
  tokens.k[static_cast<std::size_t>((head + 1) * setup.key_dim - 1)] = number;
  tokens.v[static_cast<std::size_t>(head * setup.value_dim)] = number;
}

/// Keys of one direction, so that all scores of a query are near one number, or spread evenly, or
/// in steps of 16 or 100, or near 0 in the first half of the tokens.
void align_keys(const Assignment& choice, Rng& rng, const Setup& setup, std::vector<float>& k) {
  const bool far = choice.is("scores", "far apart");
  const bool in_steps = choice.is("scores", "16 apart") || choice.is("scores", "100 apart");
  const std::int64_t half = std::ssize(k) / setup.key_numbers() / 2 * setup.key_numbers();
  const std::int64_t low = choice.is("scores", "rising") ? half : 0;
  float size = 1;
  for (std::size_t i = 0; i < k.size(); ++i) {
    const bool first = std::int64_t(i) % setup.key_dim == 0;
    if (first && far) size = static_cast<float>(rng.uniform(-1, 1));
    if (first && in_steps) size = static_cast<float>(rng.integer(0, 4)) / 4;
    k[i] = std::int64_t(i) < low ? 0 : size * static_cast<float>(rng.uniform(0.98, 1));
  }
}

/// Values that make up for the little weight of their keys.
void enlarge_faint_values(const Setup& setup, Tokens& tokens) {
  for (std::int64_t i = 0; i < std::ssize(tokens.v); ++i) {
    const std::int64_t vector = i / setup.value_dim;
    const double key = tokens.k[static_cast<std::size_t>(vector * setup.key_dim)];
    tokens.v[static_cast<std::size_t>(i)] *= static_cast<float>(std::exp(kFaintest * key));
  }
}

/// Values as large as may be where their keys weigh nothing, and none where they weigh anything.
void enlarge_weightless_values(const Setup& setup, Tokens& tokens) {
  for (std::int64_t i = 0; i < std::ssize(tokens.v); ++i) {
    const std::int64_t vector = i / setup.value_dim;
    tokens.v[static_cast<std::size_t>(i)] *=
        tokens.k[static_cast<std::size_t>(vector * setup.key_dim)] == 0 ? 0 : 1e29f;
  }
}

void put_numbers(const Assignment& choice, Rng& rng, std::vector<float>& numbers, bool keys) {
  const auto size = static_cast<float>(magnitude(choice));
  for (float& x : numbers) {
    x *= size;
    if (choice.is("numbers", "up to 1e30")) x = std::clamp(x, -1e30f, 1e30f);
    if (choice.is("numbers", "zeros")) x = 0;
    if (choice.is("numbers", "a constant")) x = kConstant;
    if (choice.is("numbers", "with -0 and subnormal") && rng.chance(0.3))
      x = keys && rng.chance(0.5) ? 1e-40f : -0.0f;  // sums of subnormal values have no tolerance
  }
}

Ids sequences_asked(const Assignment& choice, Rng& rng, const Setup& setup) {
  if (choice.is("asked of", "none")) return {};
  if (choice.is("asked of", "one")) return {0};
  if (choice.is("asked of", "one three times")) return {0, 0, 0};
  // Not all of very many: the first, which is the long one, and some others.
  Ids asked{0};
  for (std::int64_t s = 1; s < std::min<std::int64_t>(setup.sequences, 3); ++s)
    asked.push_back(setup.sequences - s);
  if (choice.is("asked of", "all, backwards"))
    std::ranges::reverse(asked);
  else
    rng.shuffle(asked);
  return asked;
}

std::int64_t queries_asked(const Assignment& choice, Rng& rng, std::int64_t length) {
  if (choice.is("queries", "all")) return length;
  if (choice.is("queries", "one more than tokens")) return length + 1;
  if (choice.is("queries", "more than tokens")) return length + rng.integer(2, 3);
  return choice.draw(rng, "queries");
}

void put_key_range(const Assignment& choice, Rng& rng, const Cache& cache, Problem& problem) {
  const std::string& range = choice["key range"].name;
  for (const std::int64_t s : problem.which) {
    const std::int64_t length = cache.length(s);
    // Sequences that were forked from a spoilt one are spoilt too.
    const std::int64_t least = spoilt(choice) ? std::min<std::int64_t>(1, length) : 0;
    std::int64_t begin = rng.chance(0.3) ? least : rng.integer(least, length);
    std::int64_t end = rng.integer(range == "end" ? 0 : begin, length);
    if (range == "empty") end = begin;
    if (range == "all") begin = 0, end = length;
    if (range == "one key" && length > 0) begin = rng.integer(0, length - 1), end = begin + 1;
    if (range != "none" && range != "end") problem.key_begin.push_back(begin);
    if (range != "none" && range != "begin") problem.key_end.push_back(end);
  }
}

std::int64_t window_of(const Assignment& choice, Rng& rng, const Cache& cache) {
  if (choice.is("window", "all but one")) return std::max<std::int64_t>(0, cache.length(0) - 2);
  return beyond_32_bits(choice, rng, "window");
}

float scale_of(const Assignment& choice, const Setup& setup) {
  const auto usual = static_cast<float>(1 / std::sqrt(static_cast<double>(setup.key_dim)));
  if (choice.is("scale", "negative")) return -usual;
  if (choice.is("scale", "0")) return 0;
  if (choice.is("scale", "-0")) return -0.0f;
  if (choice.is("scale", "1")) return 1;
  return choice["scale"].most > 0 ? static_cast<float>(choice["scale"].most) : usual;
}

/// Queries whose scores are of ordinary size, whatever scale and keys are: drawn as for keys of
/// deviation 1.
void put_usual_queries(const Assignment& choice, Rng& rng, const Cache& cache, Problem& problem) {
  const double size = magnitude(choice);
  const float scale = problem.scale;
  std::vector<Tokens> unit = cache.contents();
  if (size != 1)
    for (Tokens& tokens : unit)
      for (float& x : tokens.k) x = static_cast<float>(x / size);
  problem.scale = scale == 0 ? 1 : static_cast<float>(scale * size);
  draw_queries(rng, cache.setup(), unit, problem);
  problem.scale = scale;
}

void put_queries(const Assignment& choice, Rng& rng, const Cache& cache, Problem& problem) {
  if (!scores_made(choice)) {
    put_usual_queries(choice, rng, cache, problem);
    if (choice.is("scores", "equal")) std::ranges::fill(problem.q, 0.0f);
    return;
  }
  const double score = choice.is("scores", "16 apart")    ? -kFaintest
                       : choice.is("scores", "100 apart") ? -4 * kApart
                       : choice.is("scores", "rising")    ? kRise
                       : choice.is("scores", "near -1e5") ? -kMostScore
                                                          : kMostScore;
  const double level = score / (problem.scale * double(cache.setup().key_dim));
  problem.q.resize(static_cast<std::size_t>(problem.rows() * cache.setup().key_dim));
  for (float& x : problem.q) x = static_cast<float>(level * rng.uniform(0.98, 1));
}

/// As with values: what a part of little weight has makes up for it, or all others have nothing.
void put_large_where_faint(const Assignment& choice, Parts& parts, std::int64_t part_row) {
  if (!choice.is("lse of parts", "100 apart")) return enlarge_faint(parts, part_row);
  const bool light = parts.lse[static_cast<std::size_t>(part_row)] < -kApart / 2;
  float* const row = parts.out.data() + part_row * parts.dim;
  for (std::int64_t d = 0; d < parts.dim; ++d) row[d] *= light ? 1e29f : 0;
}

bool is_empty(const Assignment& choice, Rng& rng, std::int64_t part, std::int64_t parts) {
  const std::string& empty = choice["empty parts"].name;
  if (empty == "the first") return part == 0;
  if (empty == "the last") return part + 1 == parts;
  if (empty == "all but one") return part != parts / 2;
  return empty == "all" || (empty == "some" && rng.chance(0.3));
}

float lse_of(const Assignment& choice, Rng& rng, bool late) {
  if (choice.is("lse of parts", "equal")) return 1.5f;
  if (choice.is("lse of parts", "-0 and 0")) return rng.chance(0.5) ? -0.0f : 0.0f;
  const double noise = rng.normal();
  if (choice.is("lse of parts", "rising"))
    return static_cast<float>(0.1 * noise + (late ? kRise : 0));
  if (choice.is("lse of parts", "20 apart"))
    return static_cast<float>(noise - 20 * double(rng.integer(0, 3)));
  if (choice.is("lse of parts", "100 apart"))
    return static_cast<float>(noise - kApart * double(rng.integer(0, 3)));
  if (choice.is("lse of parts", "far apart")) return static_cast<float>(2e4 * noise);
  if (choice.is("lse of parts", "near -1e5")) return static_cast<float>(noise - kMostScore);
  if (choice.is("lse of parts", "near 1e5")) return static_cast<float>(noise + kMostScore);
  return static_cast<float>(3 * noise);
}

}  // namespace

Life life_of(const Assignment& choice, Rng& rng) {
  Life life;
  Setup& setup = life.setup;
  for (const KvStored stored : kAllStored)
    if (choice.is("stored", name_of(stored))) setup.stored = stored;
  setup.heads = choice.draw(rng, "kv heads");
  setup.key_dim = choice.draw(rng, "key dim");
  setup.value_dim = choice.draw(rng, "value dim");
  setup.group = beyond_32_bits(choice, rng, "group");
  setup.page_tokens = choice.draw(rng, "page tokens");
  setup.sequences = choice.draw(rng, "sequences");
  setup.options.threads = static_cast<int>(choice.draw(rng, "threads"));
  setup.options.renumber_pages = choice.is("pages move", "always");
  put_alignment(choice["alignment"].name, setup.options);
  for (std::int64_t s = 0; s < setup.sequences; ++s)
    life.lengths.push_back(rng.chance(0.3) ? 0 : rng.integer(1, 12));
  life.lengths[0] = count_of_tokens(choice, rng, setup.page_tokens);
  put_pages(choice, life);
  return life;
}

Tokens tokens_of(const Assignment& choice, Rng& rng, const Setup& setup, std::int64_t tokens) {
  Tokens made = draw_many_tokens(rng, setup, tokens);
  if (scores_made(choice)) align_keys(choice, rng, setup, made.k);
  if (choice.is("scores", "16 apart")) enlarge_faint_values(setup, made);
  if (choice.is("scores", "100 apart")) enlarge_weightless_values(setup, made);
  if (choice.is("scores", "rising"))
    for (float& x : made.v) x = static_cast<float>(rng.uniform(0.9e30, 1e30));
  put_numbers(choice, rng, made.k, true);
  put_numbers(choice, rng, made.v, false);
  if (spoilt(choice) && tokens > 0) spoil(choice, rng, setup, made);
  return made;
}

Problem problem_of(const Assignment& choice, Rng& rng, const Cache& cache) {
  const Setup& setup = cache.setup();
  Problem problem;
  problem.which = sequences_asked(choice, rng, setup);
  for (const std::int64_t s : problem.which) {
    const bool none = choice.is("asked of", "some without queries") && rng.chance(0.5);
    // Only the first sequence is as long as its class says; all queries of another are few.
    problem.queries.push_back(none ? 0 : queries_asked(choice, rng, cache.length(s)));
  }
  problem.q_heads = setup.heads * choice.draw(rng, "heads each");
  problem.window = window_of(choice, rng, cache);
  problem.scale = scale_of(choice, setup);
  problem.want_lse = choice.is("lse", "wanted");
  put_key_range(choice, rng, cache, problem);
  put_queries(choice, rng, cache, problem);
  return problem;
}

Parts parts_of(const Assignment& choice, Rng& rng) {
  Parts made = draw_parts(rng, choice.draw(rng, "parts"), choice.draw(rng, "rows"),
                          choice.draw(rng, "numbers in a row"), 1, 0);
  const double size = choice["results"].most > 0 ? choice["results"].most : 1;
  for (float& x : made.out)
    x = choice.is("results", "zeros")
            ? 0
            : static_cast<float>(size * std::clamp(static_cast<double>(x) / 4, -1.0, 1.0));
  const float held = choice.is("empty parts hold", "NaN") ? kit::kNan : kit::kInfinity;
  for (std::int64_t i = 0; i < std::ssize(made.lse); ++i) {
    const std::int64_t part = i / made.rows;
    const bool empty = is_empty(choice, rng, part, made.parts);
    float& lse = made.lse[static_cast<std::size_t>(i)];
    lse = empty ? -kit::kInfinity : lse_of(choice, rng, 2 * part >= made.parts);
    if (!empty && choice.is("results", "large where faint")) put_large_where_faint(choice, made, i);
    if (empty && !choice.is("empty parts hold", "numbers"))
      std::fill_n(made.out.begin() + i * made.dim, made.dim, held);
  }
  return made;
}

CallOptions merge_options_of(const Assignment& choice, Rng& rng) {
  CallOptions options;
  options.threads = static_cast<int>(choice.draw(rng, "merge threads"));
  put_alignment(choice["merge alignment"].name, options);
  return options;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
