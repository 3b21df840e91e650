#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "cache.h"
#include "graders/kit/compare.h"
#include "graders/kit/inputs.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::kInfinity;
using kit::kNan;

Answer merge(Probe& probe, const Parts& parts, bool want_lse = true) {
  Call<KvMergeArgs> call("kv_merge");
  call.args.abi_version = KV_ABI_VERSION;
  call.args.struct_size = static_cast<std::int32_t>(sizeof(KvMergeArgs));
  call.args.device = KV_HOST;
  call.args.num_threads = 2;
  call.args.parts = parts.parts;
  call.args.rows = parts.rows;
  call.args.value_dim = parts.dim;
  if (!parts.out.empty()) call.in("part_out", call.args.part_out, parts.out);
  if (!parts.lse.empty()) call.in("part_lse", call.args.part_lse, parts.lse);
  if (parts.rows == 0) {
    probe.run_ok(call);
    return {};
  }
  const auto rows = static_cast<std::size_t>(parts.rows);
  const auto out =
      call.out<float>("out", call.args.out, rows * static_cast<std::size_t>(parts.dim));
  std::optional<Output<float>> lse;
  if (want_lse) lse = call.out<float>("lse", call.args.lse, rows);
  probe.run_ok(call);
  return {out.copy(), lse ? lse->copy() : std::vector<float>()};
}

void require_close(Probe& probe, const Parts& parts, const Answer& answer,
                   const Expected& expected) {
  probe.require(kit::worst_miss(std::span(answer.out), expected.out, expected.out_allowed,
                                kit::index_namer("out", {parts.rows, parts.dim})));
  note_share(probe, kit::worst_ratio(answer.out, expected.out, expected.out_allowed, 1));
  if (answer.lse.empty()) return;
  probe.require(kit::worst_miss(std::span(answer.lse), expected.lse, expected.lse_allowed,
                                kit::index_namer("lse", {parts.rows})));
}

Answer require_merge(Probe& probe, const Parts& parts) {
  Answer answer = merge(probe, parts);
  require_close(probe, parts, answer, expect_merge(parts));
  return answer;
}

Parts blank_parts(std::int64_t parts, std::int64_t rows, std::int64_t dim) {
  Parts made{parts, rows, dim, {}, {}};
  made.out.resize(static_cast<std::size_t>(parts * rows * dim));
  made.lse.resize(static_cast<std::size_t>(parts * rows));
  return made;
}

/// Normal results; lse has the given deviation; parts are empty, and then NaN, with some chance.
Parts draw_parts(Rng& rng, std::int64_t parts, std::int64_t rows, std::int64_t dim, double spread,
                 double empty) {
  Parts made = blank_parts(parts, rows, dim);
  for (float& x : made.out) x = static_cast<float>(0.3 + rng.normal());
  for (std::size_t i = 0; i < made.lse.size(); ++i) {
    made.lse[i] = static_cast<float>(spread * rng.normal());
    if (!rng.chance(empty)) continue;
    made.lse[i] = -kInfinity;
    std::fill_n(made.out.begin() + std::ptrdiff_t(i) * dim, dim, kNan);
  }
  return made;
}

/// `count` places where 0..length is cut, ascending; many fall together.
Ids draw_cuts(Rng& rng, std::int64_t length, std::int64_t count) {
  Ids cuts;
  for (std::int64_t i = 0; i < count; ++i)
    cuts.push_back(rng.chance(0.3) ? rng.integer(0, 1) * length : rng.integer(0, length));
  std::ranges::sort(cuts);
  return cuts;
}

// A prompt in chunks of any size leaves the same cache as the whole prompt at once, and the queries
// of all chunks together the same result.
void chunked_prefill(Probe& probe) {
  for (const KvStored stored : kAllStored)
    for (const std::int64_t size : {stored == KV_F32 ? 1 : 11, 5, 8, 16, 29}) {
      Rng rng = probe.begin_case(fmt::format("{}_chunks_of_{}", name_of(stored), size));
      Setup setup;
      setup.stored = stored;
      setup.sequences = 2;
      const std::int64_t tokens = rng.integer(30, 60);
      const Tokens prompt = draw_tokens(rng, setup, tokens);
      Cache cache(probe, setup, rng.seed());
      cache.append(0, prompt);
      const Question whole = ask_about(rng, setup, cache.contents(), {0}, tokens, 4);
      cache.require_attention(whole);
      const std::int64_t row = 4 * setup.key_dim;
      for (std::int64_t at = 0; at < tokens; at += size) {
        const std::int64_t some = std::min(size, tokens - at);
        cache.append(1, prompt.part(setup, at, some));
        Question part = whole;
        part.which = {1};
        part.queries = {some};
        part.q.assign(whole.q.begin() + at * row, whole.q.begin() + (at + some) * row);
        cache.require_attention(part);
      }
      const Tokens once = cache.read(0);
      const Tokens pieces = cache.read(1);
      if (once.k != pieces.k || once.v != pieces.v)
        cache.fail("what is stored of a prompt depends on the chunks that it came in");
    }
}

// Attention over part of the keys, empty parts among them, is attention over those keys; and the
// parts together are the whole.
void split_keys(Probe& probe) {
  for (const KvStored stored : kAllStored)
    for (const std::int64_t parts : {1, 2, 3, 17}) {
      Rng rng = probe.begin_case(fmt::format("{}_{}_parts", name_of(stored), parts));
      Setup setup;
      setup.stored = stored;
      setup.page_tokens = rng.chance(0.5) ? 16 : 6;
      setup.sequences = 3;
      setup.width = 12;
      setup.pages = 36;
      Cache cache(probe, setup, rng.seed());
      cache.append({{0, draw_tokens(rng, setup, 70)}, {2, draw_tokens(rng, setup, 3)}});
      Question question = ask_about(rng, setup, cache.contents(), {2, 0, 1}, 2, 4);
      const Expected whole = expect_attention(setup, cache.stored_for(question), question);
      std::vector<Ids> cuts;
      for (const std::int64_t s : question.which)
        cuts.push_back(draw_cuts(rng, cache.length(s), parts - 1));
      Parts all{parts, question.rows(), setup.value_dim, {}, {}};
      for (std::int64_t p = 0; p < parts; ++p) {
        question.key_begin.clear();
        question.key_end.clear();
        for (std::size_t i = 0; i < cuts.size(); ++i) {
          const auto at = static_cast<std::size_t>(p);
          question.key_begin.push_back(p == 0 ? 0 : cuts[i][at - 1]);
          question.key_end.push_back(p + 1 == parts ? cache.length(question.which[i])
                                                    : cuts[i][at]);
        }
        const Answer part = cache.require_attention(question);
        all.out.insert(all.out.end(), part.out.begin(), part.out.end());
        all.lse.insert(all.lse.end(), part.lse.begin(), part.lse.end());
      }
      // Errors of the parts and of merging them add up.
      Expected loose = whole;
      const Expected merged = expect_merge(all);
      for (std::size_t i = 0; i < loose.out.size(); ++i)
        loose.out_allowed[i] += 2 * merged.out_allowed[i];
      for (std::size_t i = 0; i < loose.lse.size(); ++i)
        loose.lse_allowed[i] += 2 * merged.lse_allowed[i];
      require_close(probe, all, require_merge(probe, all), loose);
    }
}

void merge_parts(Probe& probe) {
  for (const std::int64_t parts : {1, 2, 3, 17, 128})
    for (const double empty : {0.0, 0.3, 0.9}) {
      Rng rng = probe.begin_case(fmt::format("{}_parts_{:.0f}_percent_empty", parts, 100 * empty));
      const Parts drawn =
          draw_parts(rng, parts, rng.integer(1, 40), near_to(rng, 32), rng.uniform(0.5, 4), empty);
      require_merge(probe, drawn);
      const Answer answer = merge(probe, drawn, false);
      require_close(probe, drawn, answer, expect_merge(drawn));
    }
}

// Weights that exp alone cannot hold, and rows in which nothing or all is empty.
void merge_extremes(Probe& probe) {
  Rng rng = probe.begin_case("far_apart");
  for (const double spread : {30.0, 200.0, 1e4})
    for (const std::int64_t parts : {2, 5})
      require_merge(probe, draw_parts(rng, parts, 24, 16, spread, 0.2));
  for (const float level : {-1e4f, -200.0f, 150.0f, 9e4f}) {
    rng = probe.begin_case(fmt::format("all_near_{}", level));
    Parts near = draw_parts(rng, 4, 16, 8, 1, 0.2);
    for (float& lse : near.lse) lse += level;
    require_merge(probe, near);
  }
  rng = probe.begin_case("all_empty");
  require_merge(probe, draw_parts(rng, 3, 7, 16, 1, 1));
  rng = probe.begin_case("no_parts");
  require_merge(probe, Parts{0, 5, 16, {}, {}});
  rng = probe.begin_case("no_rows");
  merge(probe, Parts{3, 0, 16, {}, {}});
  for (const std::int64_t only : {0, 1, 2}) {
    rng = probe.begin_case(fmt::format("all_but_part_{}_empty", only));
    Parts one = draw_parts(rng, 3, 9, 16, 3, 1);
    const Parts full = draw_parts(rng, 3, 9, 16, 3, 0);
    std::copy_n(full.out.begin() + only * 9 * 16, 9 * 16, one.out.begin() + only * 9 * 16);
    std::copy_n(full.lse.begin() + only * 9, 9, one.lse.begin() + only * 9);
    require_merge(probe, one);
  }
}

// Joining some parts first changes nothing: what comes out of a merge goes into the next.
void merge_nesting(Probe& probe) {
  for (const double spread : {1.0, 80.0}) {
    Rng rng = probe.begin_case(fmt::format("spread_{}", spread));
    const std::int64_t rows = rng.integer(5, 30);
    constexpr std::int64_t kDim = 24;
    const Parts all = draw_parts(rng, 6, rows, kDim, spread, 0.25);
    const Expected whole = expect_merge(all);
    Parts outer{3, rows, kDim, {}, {}};
    for (std::int64_t pair = 0; pair < 3; ++pair) {
      Parts inner{2, rows, kDim, {}, {}};
      const auto out = all.out.begin() + pair * 2 * rows * kDim;
      const auto lse = all.lse.begin() + pair * 2 * rows;
      inner.out.assign(out, out + 2 * rows * kDim);
      inner.lse.assign(lse, lse + 2 * rows);
      const Answer joined = require_merge(probe, inner);
      outer.out.insert(outer.out.end(), joined.out.begin(), joined.out.end());
      outer.lse.insert(outer.lse.end(), joined.lse.begin(), joined.lse.end());
    }
    Expected loose = whole;
    for (double& allowed : loose.out_allowed) allowed *= 3;
    for (double& allowed : loose.lse_allowed) allowed *= 3;
    require_close(probe, outer, require_merge(probe, outer), loose);
  }
}

}  // namespace

std::vector<Check> splits_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"chunked_prefill", "positions counted from the start of the chunk", correctness, 2,
        critical},
       chunked_prefill},
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
