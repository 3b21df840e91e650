// SPDX-License-Identifier: Apache-2.0
#include "problem.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// A key that a fault in the arithmetic of pages would miss.
std::int64_t draw_needle(Rng& rng, const Setup& setup, const kit::KeyRange& seen) {
  const std::int64_t pick = rng.integer(0, 4);
  if (pick == 0) return seen.first;
  if (pick == 1) return seen.last - 1;
  const std::int64_t any = rng.integer(seen.first, seen.last - 1);
  if (pick == 2) return any;
  const std::int64_t edge = any - any % setup.page_tokens - (pick == 3 ? 0 : 1);
  return std::clamp(edge, seen.first, seen.last - 1);
}

/// Adds a multiple of `key` to `q` that lifts its score by `lift`.
void plant(std::span<float> q, std::span<const float> key, double scale, double lift) {
  double square = 0;
  for (const float x : key) square += static_cast<double>(x) * x;
  if (!(square > 1e-20) || !std::isfinite(square)) return;
  for (std::size_t d = 0; d < q.size(); ++d)
    q[d] += static_cast<float>(lift / (scale * square) * key[d]);
}

}  // namespace

Setup one_sequence(std::int64_t tokens, std::int64_t page_tokens) {
  Setup setup{.page_tokens = page_tokens, .sequences = 1};
  setup.pages = setup.width = (tokens + page_tokens - 1) / page_tokens;
  return setup;
}

Setup long_sequence(KvStored stored, std::int64_t tokens, std::int64_t dim) {
  Setup setup = one_sequence(tokens + 32, 16);
  setup.stored = stored;
  setup.heads = 1;
  setup.key_dim = setup.value_dim = setup.group = dim;
  return setup;
}

KvShape shape_of(const Setup& setup) {
  KvShape shape{};
  kit::set_header(shape, KV_ABI_VERSION, KV_HOST, setup.options);
  shape.stored = setup.stored;
  shape.kv_heads = setup.heads;
  shape.key_dim = setup.key_dim;
  shape.value_dim = setup.value_dim;
  shape.page_tokens = setup.page_tokens;
  shape.group = setup.group;
  shape.pages = setup.pages;
  shape.sequences = setup.sequences;
  shape.table_width = setup.width;
  return shape;
}

void Tokens::append(const Tokens& more) {
  k.insert(k.end(), more.k.begin(), more.k.end());
  v.insert(v.end(), more.v.begin(), more.v.end());
}

void Tokens::resize(const Setup& setup, std::int64_t tokens) {
  k.resize(static_cast<std::size_t>(tokens * setup.key_numbers()));
  v.resize(static_cast<std::size_t>(tokens * setup.value_numbers()));
}

Tokens Tokens::part(const Setup& setup, std::int64_t begin, std::int64_t tokens) const {
  const auto cut = [&](const std::vector<float>& all, std::int64_t numbers) {
    const auto first = all.begin() + begin * numbers;
    return std::vector<float>(first, first + tokens * numbers);
  };
  return {cut(k, setup.key_numbers()), cut(v, setup.value_numbers())};
}

Tokens draw_tokens(Rng& rng, const Setup& setup, std::int64_t tokens) {
  Tokens made;
  made.resize(setup, tokens);
  for (float& x : made.k) x = static_cast<float>(rng.normal());
  for (float& x : made.v) x = static_cast<float>(0.3 + rng.normal());
  return made;
}

Tokens draw_many_tokens(Rng& rng, const Setup& setup, std::int64_t tokens) {
  Tokens made;
  made.resize(setup, tokens);
  kit::fill_uniform(rng, made.k);
  kit::fill_uniform(rng, made.v, 0.3);
  return made;
}

Tokens constant_tokens(const Setup& setup, std::int64_t tokens, float value) {
  Tokens made;
  made.resize(setup, tokens);
  std::ranges::fill(made.k, value);
  std::ranges::fill(made.v, value);
  return made;
}

float draw_nan(Rng& rng) {
  return std::bit_cast<float>(
      std::bit_cast<std::uint32_t>(kit::kNan) |
      (static_cast<std::uint32_t>(rng() | rng()) & std::uint32_t{0x803fffff}));
}

std::vector<Chunk> draw_chunks(Rng& rng, const Setup& setup, std::int64_t longest) {
  std::vector<Chunk> chunks;
  for (std::int64_t s = 0; s < setup.sequences; ++s)
    chunks.push_back({s, draw_tokens(rng, setup, rng.integer(3, longest))});
  return chunks;
}

std::int64_t Problem::rows() const {
  return q_heads * std::accumulate(queries.begin(), queries.end(), std::int64_t{0});
}

kit::KeyRange visible_keys(const Problem& problem, std::size_t entry, std::int64_t query,
                           std::int64_t length) {
  const std::int64_t position = length - problem.queries[entry] + query;
  kit::KeyRange seen{problem.key_begin.empty() ? 0 : problem.key_begin[entry],
                     problem.key_end.empty() ? length : problem.key_end[entry]};
  if (problem.window >= 0) seen.first = std::max(seen.first, position - problem.window);
  seen.last = std::max(seen.first, std::min(seen.last, position + 1));
  return seen;
}

void draw_queries(Rng& rng, const Setup& setup, const std::vector<Tokens>& contents,
                  Problem& problem) {
  const auto dim = static_cast<std::size_t>(setup.key_dim);
  problem.q.assign(static_cast<std::size_t>(problem.rows()) * dim, 0);
  // A score of unit keys has deviation scale * |q|.
  const double size = 3 / (std::abs(problem.scale) * std::sqrt(static_cast<double>(dim)));
  for (float& x : problem.q) x = static_cast<float>(size * rng.normal());
  std::size_t at = 0;
  for (std::size_t entry = 0; entry < problem.which.size(); ++entry) {
    const Tokens& tokens = contents[static_cast<std::size_t>(problem.which[entry])];
    for (std::int64_t query = 0; query < problem.queries[entry]; ++query) {
      const kit::KeyRange seen = visible_keys(problem, entry, query, tokens.count(setup));
      for (std::int64_t head = 0; head < problem.q_heads; ++head, at += dim) {
        if (seen.empty() || rng.chance(0.2)) continue;
        const std::int64_t j = draw_needle(rng, setup, seen);
        const std::int64_t kv_head = head / (problem.q_heads / setup.heads);
        plant(std::span(problem.q).subspan(at, dim),
              std::span(tokens.k).subspan(static_cast<std::size_t>(j * setup.heads + kv_head) * dim,
                                          dim),
              problem.scale, 10);
      }
    }
  }
}

Problem draw_problem(Rng& rng, const Setup& setup, const std::vector<Tokens>& contents,
                     const Ids& which, std::int64_t queries, std::int64_t q_heads) {
  Problem problem;
  problem.which = which;
  problem.queries.assign(which.size(), queries);
  problem.q_heads = q_heads;
  problem.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(setup.key_dim)));
  draw_queries(rng, setup, contents, problem);
  return problem;
}

Parts draw_parts(Rng& rng, std::int64_t parts, std::int64_t rows, std::int64_t dim, double spread,
                 double empty) {
  Parts made{parts, rows, dim, {}, {}};
  made.out.resize(static_cast<std::size_t>(parts * rows * dim));
  made.lse.resize(static_cast<std::size_t>(parts * rows));
  for (float& x : made.out) x = static_cast<float>(0.3 + rng.normal());
  for (std::size_t i = 0; i < made.lse.size(); ++i) {
    made.lse[i] = static_cast<float>(spread * rng.normal());
    if (!rng.chance(empty)) continue;
    made.lse[i] = -kit::kInfinity;
    std::fill_n(made.out.begin() + std::ptrdiff_t(i) * dim, dim, kit::kNan);
  }
  return made;
}

void enlarge_faint(Parts& parts, std::int64_t part_row) {
  const double lse = parts.lse[static_cast<std::size_t>(part_row)];
  const double times = std::exp(std::clamp(-lse, 0.0, 60.0));
  float* const row = parts.out.data() + part_row * parts.dim;
  for (std::int64_t d = 0; d < parts.dim; ++d) row[d] = static_cast<float>(row[d] * times);
}

const char* name_of(KvStored stored) {
  return stored == KV_F32 ? "f32" : stored == KV_INT8 ? "int8" : "int4";
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
