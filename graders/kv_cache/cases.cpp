#include "cases.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

std::int64_t vector_budget(const Setup& setup, std::int64_t dim) {
  const std::int64_t groups = (dim + setup.group - 1) / setup.group;
  if (setup.stored == KV_F32) return 4 * dim;
  if (setup.stored == KV_INT8) return dim + 4 * groups;
  return (dim + 1) / 2 + 8 * groups;
}

/// A key that a fault in the arithmetic of pages would miss.
std::int64_t draw_needle(Rng& rng, const Setup& setup, const Span& seen) {
  const std::int64_t pick = rng.integer(0, 4);
  if (pick == 0) return seen.begin;
  if (pick == 1) return seen.end - 1;
  const std::int64_t any = rng.integer(seen.begin, seen.end - 1);
  if (pick == 2) return any;
  const std::int64_t edge = any - any % setup.page_tokens - (pick == 3 ? 0 : 1);
  return std::clamp(edge, seen.begin, seen.end - 1);
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

KvShape shape_of(const Setup& setup) {
  KvShape shape{};
  shape.abi_version = KV_ABI_VERSION;
  shape.struct_size = static_cast<std::int32_t>(sizeof shape);
  shape.device = KV_HOST;
  shape.num_threads = setup.threads;
  shape.stored = setup.stored;
  shape.min_align = kit::guaranteed_alignment(setup.placement);
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

std::int64_t page_budget(const Setup& setup) {
  const std::int64_t token =
      setup.heads * (vector_budget(setup, setup.key_dim) + vector_budget(setup, setup.value_dim));
  return (setup.page_tokens * token + 63) / 64 * 64;
}

std::int64_t least_page_bytes(const Setup& setup) {
  const double bits = setup.stored == KV_F32 ? 31.8 : setup.stored == KV_INT8 ? 7.9 : 3.9;
  const std::int64_t numbers = setup.page_tokens * (setup.key_numbers() + setup.value_numbers());
  return static_cast<std::int64_t>(std::ceil(bits / 8 * static_cast<double>(numbers)));
}

KvShape page_bytes_question(const Setup& setup) {
  KvShape shape = shape_of(setup);
  shape.pages = shape.sequences = shape.table_width = 0;
  return shape;
}

std::optional<std::string> page_bytes_fault(const Setup& setup, std::int64_t answer) {
  const std::int64_t least = least_page_bytes(setup);
  const std::int64_t most = page_budget(setup);
  if (answer >= least && answer <= most) return std::nullopt;
  return fmt::format(
      "kv_page_bytes returned {}, want {} to {} ({}: {} tokens, {} heads, dimensions {} and {},"
      " groups of {})",
      answer, least, most, name_of(setup.stored), setup.page_tokens, setup.heads, setup.key_dim,
      setup.value_dim, setup.group);
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

std::int64_t Question::rows() const {
  return q_heads * std::accumulate(queries.begin(), queries.end(), std::int64_t{0});
}

Span seen_keys(const Question& question, std::size_t entry, std::int64_t query,
               std::int64_t length) {
  const std::int64_t position = length - question.queries[entry] + query;
  Span seen{question.key_begin.empty() ? 0 : question.key_begin[entry],
            question.key_end.empty() ? length : question.key_end[entry]};
  if (question.window >= 0) seen.begin = std::max(seen.begin, position - question.window);
  seen.end = std::max(seen.begin, std::min(seen.end, position + 1));
  return seen;
}

void draw_queries(Rng& rng, const Setup& setup, const std::vector<Tokens>& contents,
                  Question& question) {
  const auto dim = static_cast<std::size_t>(setup.key_dim);
  question.q.assign(static_cast<std::size_t>(question.rows()) * dim, 0);
  // A score of unit keys has deviation scale * |q|.
  const double size = 3 / (std::abs(question.scale) * std::sqrt(static_cast<double>(dim)));
  for (float& x : question.q) x = static_cast<float>(size * rng.normal());
  std::size_t at = 0;
  for (std::size_t entry = 0; entry < question.which.size(); ++entry) {
    const Tokens& tokens = contents[static_cast<std::size_t>(question.which[entry])];
    for (std::int64_t query = 0; query < question.queries[entry]; ++query) {
      const Span seen = seen_keys(question, entry, query, tokens.count(setup));
      for (std::int64_t head = 0; head < question.q_heads; ++head, at += dim) {
        if (seen.end <= seen.begin || rng.chance(0.2)) continue;
        const std::int64_t j = draw_needle(rng, setup, seen);
        const std::int64_t kv_head = head / (question.q_heads / setup.heads);
        plant(std::span(question.q).subspan(at, dim),
              std::span(tokens.k).subspan(static_cast<std::size_t>(j * setup.heads + kv_head) * dim,
                                          dim),
              question.scale, 10);
      }
    }
  }
}

Question ask_about(Rng& rng, const Setup& setup, const std::vector<Tokens>& contents,
                   const Ids& which, std::int64_t queries, std::int64_t q_heads) {
  Question question;
  question.which = which;
  question.queries.assign(which.size(), queries);
  question.q_heads = q_heads;
  question.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(setup.key_dim)));
  draw_queries(rng, setup, contents, question);
  return question;
}

const char* name_of(KvStored stored) {
  return stored == KV_F32 ? "f32" : stored == KV_INT8 ? "int8" : "int4";
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
