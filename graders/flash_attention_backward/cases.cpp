#include "cases.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet::GAUNTLET_CHALLENGE {

Sizes drawn_sizes(Rng& rng, std::int64_t q_len, std::int64_t k_len) {
  struct Heads {
    std::int64_t q, kv;
  };
  const Heads heads = kit::one_of<Heads>(rng, {{1, 1}, {2, 1}, {2, 2}, {3, 1}, {3, 3}, {4, 2}});
  Sizes sizes;
  sizes.batch = heads.q == 1 ? rng.integer(1, 2) : 1;
  sizes.q_heads = heads.q;
  sizes.kv_heads = heads.kv;
  sizes.q_len = q_len;
  sizes.k_len = k_len;
  sizes.dim = kit::one_of<std::int64_t>(rng, {16, 32, 40, 64, 80});
  sizes.value_dim = rng.chance(0.5) ? sizes.dim : kit::one_of<std::int64_t>(rng, {16, 24, 32, 64});
  return sizes;
}

std::int64_t near_tile_edge(Rng& rng, std::int64_t smallest, std::int64_t largest) {
  const std::int64_t tile = kit::one_of<std::int64_t>(rng, {16, 32, 48, 64});
  const std::int64_t multiples = rng.integer((smallest + tile - 1) / tile, largest / tile);
  return std::clamp(multiples * tile + rng.integer(-1, 1), smallest, largest);
}

std::string describe(const Problem& problem) {
  const kit::AttentionProblem& form = problem.form;
  std::string text = fmt::format(
      "{} queries, {} keys, batch {}, heads {}/{}, head_dim {}, value_dim {}, scale {:.6g}",
      form.q_len, form.k_len, form.batch, form.q_heads, form.kv_heads, form.dim, form.value_dim,
      form.scale);
  if (form.causal) text += ", causal";
  if (form.window_left >= 0) text += fmt::format(", window_left {}", form.window_left);
  if (form.window_right >= 0) text += fmt::format(", window_right {}", form.window_right);
  if (form.softcap > 0) text += fmt::format(", softcap {:.6g}", form.softcap);
  if (!form.kv_start.empty()) text += fmt::format(", kv_start {}", fmt::join(form.kv_start, " "));
  if (!form.kv_len.empty()) text += fmt::format(", kv_len {}", fmt::join(form.kv_len, " "));
  return text;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
