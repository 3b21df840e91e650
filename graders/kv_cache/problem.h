// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contract.h"
#include "graders/kit/attention.h"
#include "graders/kit/call_options.h"
#include "graders/kit/inputs.h"
#include "harness/core/rng.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

using kit::near_to;
using kit::random_order;

using Ids = std::vector<std::int64_t>;
using Bytes = std::vector<std::uint8_t>;

/// How calls on a cache are put to the solution. One thread unless a check is about threads.
struct CallOptions : kit::CallOptions {
  CallOptions() { threads = 1; }

  bool renumber_pages = false;  // pages get other numbers before each call
  bool fresh_process = false;   // each call meets one
  // A cache lies where it lies, whoever is called: table and lengths, and with them pool in
  // everything that has one, or else, refs in everything that writes. What is remembered of an
  // address is found again, though something else may be there.
  bool pool_stays = false;
};

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
  // Of the pool there are kFarParts pages, so many pages apart: no memory could hold the others,
  // and nobody is asked for them. 0: all pages are there. Not with `pool_stays`.
  std::int64_t far_pages = 0;
  CallOptions options{};  // the placement is that of k, v, q, out, lse

  std::int64_t key_numbers() const { return heads * key_dim; }
  std::int64_t value_numbers() const { return heads * value_dim; }
};

constexpr std::int64_t kFarParts = 3;

/// For `tokens` tokens in one sequence, and no page more.
Setup one_sequence(std::int64_t tokens, std::int64_t page_tokens = 8);

/// For so many that a call's cost is that of tokens: one sequence, one head, two pages to spare.
Setup long_sequence(KvStored stored, std::int64_t tokens, std::int64_t dim);

/// A table_width, of 16 MiB, that nobody can go through without being noticed.
constexpr std::int64_t kWideTable = std::int64_t{1} << 22;

/// What the arguments of every call on such a cache start with.
KvShape shape_of(const Setup& setup);

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

/// New tokens of one sequence.
struct Chunk {
  std::int64_t sequence = 0;
  Tokens tokens;
};

/// 3 to `longest` new tokens of every sequence.
std::vector<Chunk> draw_chunks(Rng& rng, const Setup& setup, std::int64_t longest);

/// What kv_attend is asked, but for the cache.
struct Problem {
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

/// The keys that one query sees, in a sequence of this length.
kit::KeyRange visible_keys(const Problem& problem, std::size_t entry, std::int64_t query,
                           std::int64_t length);

/// Draws q such that a score has a deviation of about 3, and most rows see one key 10 above the
/// rest: the first or last that they see, one at the edge of a page, or any. What is stored in
/// sequence s is contents[s].
void draw_queries(Rng& rng, const Setup& setup, const std::vector<Tokens>& contents,
                  Problem& problem);

/// A NaN of either sign that carries bits, most of them 1: who takes it for a number may keep them.
float draw_nan(Rng& rng);

/// The last `queries` queries of each of `which`, drawn as above.
Problem draw_problem(Rng& rng, const Setup& setup, const std::vector<Tokens>& contents,
                     const Ids& which, std::int64_t queries, std::int64_t q_heads);

/// Partial results to be merged: out is [parts][rows][dim], lse [parts][rows].
struct Parts {
  std::int64_t parts = 0;
  std::int64_t rows = 0;
  std::int64_t dim = 1;
  std::vector<float> out;
  std::vector<float> lse;
};

/// Rows that neither 2 threads share evenly, nor 3, 4, 5, 6 or 7: a prime below 7!.
constexpr std::int64_t kUnevenRows = 5039;

/// Normal results; lse has the given deviation; parts are empty, and then NaN, with some chance.
Parts draw_parts(Rng& rng, std::int64_t parts, std::int64_t rows, std::int64_t dim, double spread,
                 double empty);

/// Makes up for a weight below 1: out of this row of a part is exp(-lse) times what it was, up to
/// 1e26.
void enlarge_faint(Parts& parts, std::int64_t part_row);

const char* name_of(KvStored stored);
inline constexpr KvStored kAllStored[] = {KV_F32, KV_INT8, KV_INT4};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
