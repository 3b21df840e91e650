// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "cache.h"
#include "harness/grading/grader.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// `count` places where 0..length is cut, ascending; many fall together.
Ids draw_cuts(Rng& rng, std::int64_t length, std::int64_t count) {
  Ids cuts;
  for (std::int64_t i = 0; i < count; ++i)
    cuts.push_back(rng.chance(0.3) ? rng.integer(0, 1) * length : rng.integer(0, length));
  std::ranges::sort(cuts);
  return cuts;
}

/// Lets results be further off, by so many times what `more` allows.
void allow_more(Expected& expected, double times, const Expected& more) {
  for (std::size_t i = 0; i < more.out.size(); ++i)
    expected.out_allowed[i] += times * more.out_allowed[i];
  for (std::size_t i = 0; i < more.lse.size(); ++i)
    expected.lse_allowed[i] += times * more.lse_allowed[i];
}

// Attention over part of the keys, empty parts among them, is attention over those keys; and the
// parts together are the whole.
void split_keys(Probe& probe) {
  for (const KvStored stored : kAllStored)
    for (const std::int64_t parts : {1, 2, 3, 17}) {
      Rng rng = probe.begin_case(fmt::format("{}_{}_parts", name_of(stored), parts));
      Setup setup{.stored = stored};
      setup.page_tokens = rng.chance(0.5) ? 16 : 6;
      setup.sequences = 3;
      setup.width = 12;
      setup.pages = 36;
      Cache cache(probe, setup, rng.seed());
      cache.append({{0, draw_tokens(rng, setup, 70)}, {2, draw_tokens(rng, setup, 3)}});
      Problem problem = draw_problem(rng, setup, cache.contents(), {2, 0, 1}, 2, 4);
      Expected whole = expect(setup, cache.stored_for(problem), problem);
      std::vector<Ids> cuts;
      for (const std::int64_t s : problem.which)
        cuts.push_back(draw_cuts(rng, cache.length(s), parts - 1));
      Parts all{parts, problem.rows(), setup.value_dim, {}, {}};
      for (std::int64_t p = 0; p < parts; ++p) {
        problem.key_begin.clear();
        problem.key_end.clear();
        for (std::size_t i = 0; i < cuts.size(); ++i) {
          const auto at = static_cast<std::size_t>(p);
          problem.key_begin.push_back(p == 0 ? 0 : cuts[i][at - 1]);
          problem.key_end.push_back(p + 1 == parts ? cache.length(problem.which[i]) : cuts[i][at]);
        }
        const Answer part = cache.require_right(problem);
        all.out.insert(all.out.end(), part.out.begin(), part.out.end());
        all.lse.insert(all.lse.end(), part.lse.begin(), part.lse.end());
      }
      // Errors of the parts and of merging them add up.
      allow_more(whole, 2, expect(all));
      require_close(probe, require_right(probe, all), whole);
    }
}

// As many parts, or numbers of a row, as whole tiles have; each part is some row's heaviest.
void whole_tiles_of_parts(Probe& probe) {
  for (const auto& [parts, dim] : {std::array{256, 3}, {2, 1024}, {3, 4096}}) {
    Rng rng = probe.begin_case(fmt::format("{}_parts_of_{}_numbers", parts, dim));
    Parts drawn = draw_parts(rng, parts, parts, dim, 1, 0.2);
    for (std::int64_t part = 0; part < parts; ++part) {
      float& lse = drawn.lse[static_cast<std::size_t>(part * drawn.rows + part)];
      if (std::isfinite(lse)) lse += 5;
    }
    require_right(probe, drawn);
  }
}

void merge_parts(Probe& probe) {
  for (const std::int64_t parts : {1, 2, 3, 17, 128})
    for (const double empty : {0.0, 0.3, 0.9}) {
      Rng rng = probe.begin_case(fmt::format("{}_parts_{:.0f}_percent_empty", parts, 100 * empty));
      const Parts drawn =
          draw_parts(rng, parts, rng.integer(1, 40), near_to(rng, 32), rng.uniform(0.5, 4), empty);
      require_right(probe, drawn);
      require_right(probe, drawn, false);
    }
  whole_tiles_of_parts(probe);
}

// Weights that exp alone cannot hold, and rows in which nothing or all is empty.
void merge_extremes(Probe& probe) {
  Rng rng = probe.begin_case("far_apart");
  for (const double spread : {30.0, 200.0, 1e4})
    for (const std::int64_t parts : {2, 5})
      require_right(probe, draw_parts(rng, parts, 24, 16, spread, 0.2));
  for (const float level : {-1e4f, -200.0f, 150.0f, 9e4f}) {
    rng = probe.begin_case(fmt::format("all_near_{}", level));
    Parts near = draw_parts(rng, 4, 16, 8, 1, 0.2);
    for (float& lse : near.lse) lse += level;
    require_right(probe, near);
  }
  rng = probe.begin_case("large_where_faint");
  for (const double spread : {10.0, 30.0}) {
    Parts faint = draw_parts(rng, 5, 24, 8, spread, 0.2);
    for (float& lse : faint.lse) lse = -std::abs(lse);
    for (std::int64_t i = 0; i < std::ssize(faint.lse); ++i) enlarge_faint(faint, i);
    require_right(probe, faint);
  }
  // Nothing but faint parts is more than 0: weights count down to the 1e-30 that is forgiven of all
  // results, times 24 roundings. What is far below counts as nothing, and not as the least weight
  // that somebody has. Beside large results none is weighed by more than 1.
  for (const std::int64_t top : {0, 2})
    for (const float depth : {45.0f, 75.0f, 110.0f}) {
      rng = probe.begin_case(fmt::format("zeros_in_part_{}_{}_above", top, depth));
      Parts faint = draw_parts(rng, 3, 9, 16, 1, 0);
      for (float& lse : faint.lse) lse -= depth;
      for (float& x : faint.out) x *= 1e29f;
      std::fill_n(faint.lse.begin() + top * faint.rows, faint.rows, 0.0f);
      const Parts large = faint;
      std::fill_n(faint.out.begin() + top * faint.rows * faint.dim, faint.rows * faint.dim, 0.0f);
      require_right(probe, faint);
      faint.out = large.out;
      require_right(probe, faint);
    }
  // Half of many parts, the later ones, of the largest results: as large a maximum as there will be
  // has to be there by then, or exp(15) times their sum overflows.
  rng = probe.begin_case("late_rise");
  Parts late = draw_parts(rng, 512, 3, 8, 0.1, 0);
  for (float& x : late.out) x = static_cast<float>(rng.uniform(0.9e30, 1e30));
  for (auto lse = late.lse.begin() + std::ssize(late.lse) / 2; lse != late.lse.end(); ++lse)
    *lse += 15;
  require_right(probe, late);
  rng = probe.begin_case("all_empty");
  require_right(probe, draw_parts(rng, 3, 7, 16, 1, 1));
  rng = probe.begin_case("no_parts");
  require_right(probe, Parts{0, 5, 16, {}, {}});
  rng = probe.begin_case("no_rows");
  require_right(probe, Parts{3, 0, 16, {}, {}});
  for (const std::int64_t only : {0, 1, 2}) {
    rng = probe.begin_case(fmt::format("all_but_part_{}_empty", only));
    Parts one = draw_parts(rng, 3, 9, 16, 3, 1);
    const Parts full = draw_parts(rng, 3, 9, 16, 3, 0);
    std::copy_n(full.out.begin() + only * 9 * 16, 9 * 16, one.out.begin() + only * 9 * 16);
    std::copy_n(full.lse.begin() + only * 9, 9, one.lse.begin() + only * 9);
    require_right(probe, one);
  }
}

// Joining some parts first changes nothing: what comes out of a merge goes into the next.
void merge_nesting(Probe& probe) {
  for (const double spread : {1.0, 80.0}) {
    Rng rng = probe.begin_case(fmt::format("spread_{}", spread));
    const std::int64_t rows = rng.integer(5, 30);
    constexpr std::int64_t kDim = 24;
    const Parts all = draw_parts(rng, 6, rows, kDim, spread, 0.25);
    Parts outer{3, rows, kDim, {}, {}};
    for (std::int64_t pair = 0; pair < 3; ++pair) {
      Parts inner{2, rows, kDim, {}, {}};
      const auto out = all.out.begin() + pair * 2 * rows * kDim;
      const auto lse = all.lse.begin() + pair * 2 * rows;
      inner.out.assign(out, out + 2 * rows * kDim);
      inner.lse.assign(lse, lse + 2 * rows);
      const Answer joined = require_right(probe, inner);
      outer.out.insert(outer.out.end(), joined.out.begin(), joined.out.end());
      outer.lse.insert(outer.lse.end(), joined.lse.begin(), joined.lse.end());
    }
    Expected whole = expect(all);
    allow_more(whole, 2, whole);
    require_close(probe, require_right(probe, outer), whole);
  }
}

}  // namespace

std::vector<Check> splits_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"split_keys", "parts of the keys, empty ones too, that do not add up to the whole",
        correctness, 2, critical},
       split_keys},
      {{"merge_parts", "results averaged without their weights", correctness, 1, critical},
       merge_parts},
      {{"merge_extremes", "weights of merged parts that overflow, and rows without any",
        correctness, 1, critical},
       merge_extremes},
      {{"merge_nesting", "merged results that cannot be merged again", correctness, 0.5, major},
       merge_nesting},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
