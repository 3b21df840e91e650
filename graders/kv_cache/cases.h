#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "contract.h"
#include "graders/kit/inputs.h"
#include "harness/core/rng.h"
#include "harness/worker/call.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

using kit::near_to;
using kit::random_order;

using Ids = std::vector<std::int64_t>;
using Bytes = std::vector<std::uint8_t>;

/// Sizes of a cache, as its creator chooses them.
struct Setup {
  KvStored stored = KV_F32;
  std::int64_t heads = 2;
  std::int64_t key_dim = 16;
  std::int64_t value_dim = 16;
  std::int64_t page_tokens = 8;
  std::int64_t group = 16;
  std::int64_t pages = 32;
  std::int64_t sequences = 4;
  std::int64_t width = 16;  // pages that a sequence can have
  int threads = 1;
  Placement placement{64, 0};  // of k, v, q, out, lse; min_align is the alignment it really gives

  std::int64_t key_numbers() const { return heads * key_dim; }
  std::int64_t value_numbers() const { return heads * value_dim; }
};

KvShape shape_of(const Setup& setup);

/// What a page may take at most, by the contract.
std::int64_t page_budget(const Setup& setup);

/// What a page takes at least, whatever is in it. Numbers up to 1e30 are 2^31.8 floats; half a step
/// to each side of max / 127 leaves 254 codes between -max and max, which is 7.98 bits, and of
/// (max - min) / 15 leaves 15 codes, 3.9 bits, the forgiven 2^-10 included. Who has less keeps the
/// tokens elsewhere, or not yet.
std::int64_t least_page_bytes(const Setup& setup);

/// The arguments of kv_page_bytes, and what is wrong with the answer.
KvShape page_bytes_question(const Setup& setup);
std::optional<std::string> page_bytes_fault(const Setup& setup, std::int64_t answer);

/// Tokens in the order of a sequence: k is [tokens][heads][key_dim], v likewise.
struct Tokens {
  std::vector<float> k;
  std::vector<float> v;

  std::int64_t count(const Setup& setup) const { return std::ssize(k) / setup.key_numbers(); }
  void append(const Tokens& more);
  void resize(const Setup& setup, std::int64_t tokens);
  Tokens part(const Setup& setup, std::int64_t begin, std::int64_t tokens) const;
};

/// Normal numbers. Keys have deviation 1 and values 1 around 0.3, so that no mean is 0.
Tokens draw_tokens(Rng& rng, const Setup& setup, std::int64_t tokens);

/// The same with uniform instead of normal noise: 20 times faster.
Tokens draw_many_tokens(Rng& rng, const Setup& setup, std::int64_t tokens);

/// Tokens whose every number is `value`.
Tokens constant_tokens(const Setup& setup, std::int64_t tokens, float value);

/// A call of kv_attend, but for the cache.
struct Question {
  Ids which;
  Ids queries;    // for each of `which`
  Ids key_begin;  // empty: null
  Ids key_end;    // empty: null
  std::int64_t q_heads = 2;
  std::int64_t window = -1;
  float scale = 0.25f;
  bool want_lse = true;
  std::vector<float> q;  // [queries][q_heads][key_dim]

  std::int64_t rows() const;  // queries times heads
};

/// The keys that one query sees.
struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
Span seen_keys(const Question& question, std::size_t entry, std::int64_t query,
               std::int64_t length);

/// Draws q such that a score has a deviation of about 3, and most rows see one key 10 above the
/// rest: the first or last that they see, one at the edge of a page, or any. What is stored in
/// sequence s is contents[s].
void draw_queries(Rng& rng, const Setup& setup, const std::vector<Tokens>& contents,
                  Question& question);

/// A question about all of `which`, with `queries` queries each, and queries drawn as above.
Question ask_about(Rng& rng, const Setup& setup, const std::vector<Tokens>& contents,
                   const Ids& which, std::int64_t queries, std::int64_t q_heads);

const char* name_of(KvStored stored);
inline constexpr KvStored kAllStored[] = {KV_F32, KV_INT8, KV_INT4};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
