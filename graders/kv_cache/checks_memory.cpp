// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "cache.h"
#include "graders/kit/memory.h"
#include "harness/grading/grader.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// The promised bytes, and a pool of exactly as many pages as the tokens need: every slot of it
// holds a token of its own.
void page_bytes(Probe& probe) {
  for (const KvStored stored : kAllStored)
    for (const auto& [dim, group, page_tokens] : {std::array{128, 128, 16},
                                                  {128, 32, 16},
                                                  {64, 64, 32},
                                                  {96, 64, 1},
                                                  {45, 10, 3},
                                                  {256, 1, 2},
                                                  {1, 1, 1},
                                                  {256, 64, 128}}) {
      Rng rng =
          probe.begin_case(fmt::format("{}_{}_{}_{}", name_of(stored), dim, group, page_tokens));
      Setup setup{.stored = stored, .key_dim = dim};
      setup.value_dim = rng.chance(0.5) ? dim : near_to(rng, dim);
      setup.value_dim = std::min<std::int64_t>(setup.value_dim, 256);
      setup.group = group;
      setup.page_tokens = page_tokens;
      setup.sequences = 2;
      setup.pages = 3;
      setup.width = 3;
      Cache cache(probe, setup, rng.seed());
      cache.append({{0, draw_tokens(rng, setup, page_tokens)},
                    {1, draw_tokens(rng, setup, std::int64_t{2} * page_tokens)}});
      cache.require_contents();
      if (dim == 128 && group == 128)
        probe.fact(fmt::format("{} bits a number, 128 in a group", name_of(stored)),
                   8 * static_cast<double>(cache.state().page_bytes) /
                       static_cast<double>(page_tokens * setup.heads * (dim + setup.value_dim)),
                   "bit");
    }
  // Of pages that nobody has to hold.
  for (const KvStored stored : kAllStored) {
    probe.begin_case(fmt::format("{}_beyond_32_bits", name_of(stored)));
    Setup setup{.stored = stored, .key_dim = 128, .value_dim = 128};
    for (const int bits : {21, 22, 25, 33})
      for (const std::int64_t more : {0, 1}) {
        setup.page_tokens = (std::int64_t{1} << bits) + more;
        require_page_bytes(probe, setup);
      }
  }
}

// What many calls have allocated is free again.
void ask_what_stays(Probe& probe) {
  Rng rng = probe.begin_case("after_many_attentions");
  for (const KvStored stored : kAllStored) require_freed_when_asked(probe, rng, stored);
  rng = probe.begin_case("after_many_merges");
  const Parts parts = draw_parts(rng, 3, 1024, 128, 1, 0.7);  // rows of no parts, too
  MergeCall merge(parts);
  kit::require_freed(probe, merge);
  rng = probe.begin_case("after_many_copies");
  require_freed_when_copied(probe, rng);
  rng = probe.begin_case("after_many_refusals");
  require_freed_when_full(probe, rng);
  require_freed_when_refused(probe, rng);
}

// Attention works on the pages as they lie: what it allocates grows neither with their number nor
// with that of the keys.
void peak_memory(Probe& probe) {
  std::optional<Interval> peaks;
  for (const KvStored stored : kAllStored) {
    Rng rng = probe.begin_case(name_of(stored));
    constexpr std::int64_t kTokens = 16'000;  // 8 MiB as floats
    Setup setup = long_sequence(stored, kTokens, 64);
    if (stored == KV_F32) setup.width = kWideTable;  // 16 MiB
    setup.options.threads = 2;
    const State state = filled_state(probe, setup, draw_many_tokens(rng, setup, kTokens));
    Problem problem;
    problem.which = {0};
    problem.queries = {1};
    problem.q_heads = 8;
    problem.scale = 0.125f;
    problem.want_lse = false;
    for (std::int64_t i = 0; i < problem.rows() * setup.key_dim; ++i)
      problem.q.push_back(static_cast<float>(rng.normal()));
    AttendCall call(state, problem);
    const std::int64_t peak = kit::fresh_peak_bytes(probe, call);
    const double peak_mib = kit::mib(peak);
    probe.fact(fmt::format("peak memory of attention, {}", name_of(stored)), peak_mib, "MiB");
    peaks = peaks ? Interval{std::min(peaks->low, peak_mib), std::max(peaks->high, peak_mib)}
                  : Interval{peak_mib, peak_mib};
    probe.answer(ClaimKind::peak_workspace, "peak memory of attention", peaks->high, "MiB", peaks);
    require_small_scratch(probe, peak, state, problem);
    const Answer answer = call.answer();
    ReadCall read(state, 0, 0, kTokens);
    probe.run_ok(read);
    require_close(probe, answer, expect(setup, {read.tokens()}, problem));
  }
  Rng rng = probe.begin_case("many_keys");
  require_small_scratch(probe, rng, many_keys(KV_F32));
  // Few keys and many rows: who keeps all their scores, or more than 4 KiB a row, has too much.
  rng = probe.begin_case("many_rows");
  require_small_scratch(probe, rng, {KV_F32, 1300, 16, 128});
  rng = probe.begin_case("many_parts");
  require_small_scratch(probe, rng, kManyParts);
  ask_what_stays(probe);
}

}  // namespace

std::vector<Check> memory_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"page_bytes", "storage in more bytes than the type has", correctness, 2, critical},
       page_bytes},
      {{"peak_memory", "a copy of the cache, or of what it stands for", performance, 1, major},
       peak_memory},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
