// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <fmt/format.h>

#include "cache.h"
#include "harness/grading/grader.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// Query heads share a kv head in runs, whatever the number of kv heads.
void head_groups(Probe& probe) {
  for (const std::int64_t ratio : {1, 2, 3, 5, 8, 16, 32}) {
    Rng rng = probe.begin_case(fmt::format("{}_query_heads_each", ratio));
    Setup setup = one_sequence(40);
    setup.options.threads = 2;
    setup.heads = ratio == 16 ? 1 : rng.integer(2, 4) + (ratio == 3 ? 2 : 0);
    if (ratio == 1) setup.heads = 128;  // as many query heads as there may be
    if (setup.heads == ratio) ++setup.heads;
    setup.stored = ratio % 2 == 0 ? KV_F32 : KV_INT8;
    Cache cache(probe, setup, rng.seed());
    cache.append(0, draw_tokens(rng, setup, rng.integer(20, 40)));
    cache.require_right(rng, {0}, rng.integer(1, 3), setup.heads * ratio);
  }
  // Who multiplies by a reciprocal finds the wrong head where it is rounded down.
  constexpr std::int64_t kMostRatio = 128;
  Rng rng = probe.begin_case("every_ratio");
  Setup setup = one_sequence(8);
  setup.heads = 2;
  Cache cache(probe, setup, rng.seed());
  cache.append(0, draw_tokens(rng, setup, 2));
  for (std::int64_t ratio = 1; ratio <= kMostRatio; ++ratio)
    cache.require_right(rng, {0}, 1, setup.heads * ratio);
}

void odd_dimensions(Probe& probe) {
  for (const KvStored stored : kAllStored)
    for (const auto& [key, value, group] : {std::array{1, 1, 1},
                                            {46, 46, 46},
                                            {80, 40, 32},
                                            {33, 96, 5},
                                            {256, 256, 1},
                                            {128, 7, 128},
                                            {40, 64, 16},
                                            {64, 64, 32},
                                            {256, 192, 64},
                                            {31, 112, 64}}) {
      Rng rng = probe.begin_case(
          fmt::format("{}_{}_{}_groups_of_{}", name_of(stored), key, value, group));
      Setup setup = one_sequence(35);
      setup.stored = stored;
      setup.key_dim = key;
      setup.value_dim = value;
      setup.group = group;
      setup.page_tokens = rng.chance(0.5) ? 16 : 7;
      Cache cache(probe, setup, rng.seed());
      cache.append(0, draw_tokens(rng, setup, rng.integer(17, 34)));
      cache.require_right(rng, {0}, 2, 4);
    }
}

// Who multiplies by a reciprocal finds the first token of a page in the one before, where it is
// rounded down: in double precision from 49 on.
void every_page_size(Probe& probe) {
  Rng rng = probe.begin_case("every_page_size");
  for (std::int64_t page_tokens = 33; page_tokens <= 128; ++page_tokens) {
    const std::int64_t tokens = rng.integer(2, 3) * page_tokens + 1;
    Setup setup = one_sequence(tokens, page_tokens);
    setup.heads = setup.key_dim = setup.value_dim = 1;
    Cache cache(probe, setup, rng.seed());
    cache.append(0, draw_many_tokens(rng, setup, tokens));
    cache.require_contents();
  }
}

void page_sizes(Probe& probe) {
  for (const std::int64_t page_tokens : {1, 2, 3, 5, 8, 16, 32, 48, 128, 256})
    for (const KvStored stored : kAllStored) {
      Rng rng = probe.begin_case(fmt::format("{}_pages_of_{}", name_of(stored), page_tokens));
      Setup setup{.stored = stored, .page_tokens = page_tokens};
      setup.key_dim = setup.value_dim = setup.group = 32;
      setup.sequences = 2;
      setup.width = 70 / page_tokens + 2;
      setup.pages = 2 * setup.width;
      Cache cache(probe, setup, rng.seed());
      cache.append(draw_chunks(rng, setup, 60));
      cache.append(1, draw_tokens(rng, setup, rng.integer(1, 9)));
      cache.require_right(rng, {1, 0}, 2, 4);
    }
  every_page_size(probe);
}

}  // namespace

std::vector<Check> shapes_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"head_groups", "query heads that read another head's keys", correctness, 2, critical},
       head_groups},
      {{"odd_dimensions", "dimensions that no vector divides, and unequal ones", correctness, 1,
        major},
       odd_dimensions},
      {{"page_sizes", "page sizes that are not powers of two, or small", robustness, 1, major},
       page_sizes},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
