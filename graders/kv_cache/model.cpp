// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Bytes that are as harmful as possible when taken for numbers.
void spoil(Rng& rng, std::span<std::uint8_t> bytes) {
  constexpr std::uint32_t kWords[] = {0xffffffffu, 0x7f800000u, 0x7149f2cau, 0x00000000u};
  const auto kind = static_cast<std::size_t>(rng.integer(0, 4));
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    const std::uint64_t word = kind == 4 ? rng() : kWords[kind] * 0x100000001ull;
    std::memcpy(&bytes[i], &word, sizeof word);
  }
}

}  // namespace

State::State(const Setup& setup, std::int64_t page_bytes)
    : setup(setup),
      page_bytes(page_bytes),
      pool(static_cast<std::size_t>((setup.far_pages > 0 ? kFarParts : setup.pages) * page_bytes),
           0xff),
      table(static_cast<std::size_t>(setup.sequences * setup.width), -1),
      lengths(static_cast<std::size_t>(setup.sequences), 0),
      refs(static_cast<std::size_t>(setup.pages), 0) {}

std::vector<std::span<const std::uint8_t>> State::parts() const {
  const std::span<const std::uint8_t> all(pool);
  if (setup.far_pages == 0) return {all};
  std::vector<std::span<const std::uint8_t>> each;
  for (std::int64_t i = 0; i < kFarParts; ++i) each.push_back(page(i * setup.far_pages));
  return each;
}

void State::hold_far_pages(std::int64_t first) {
  std::int64_t held = 0;
  for (std::int64_t number = 0; number < setup.pages; ++number) {
    if (number % setup.far_pages == 0) continue;
    const std::int64_t sequence = first + held / setup.width;
    entry(sequence, held++ % setup.width) = static_cast<std::int32_t>(number);
    refs[static_cast<std::size_t>(number)] = 1;
    lengths[static_cast<std::size_t>(sequence)] += setup.page_tokens;
  }
}

void State::poison_unused(Rng& rng) {
  for (std::int64_t p = 0; p < setup.pages; ++p)
    if (refs[static_cast<std::size_t>(p)] == 0) spoil(rng, page(p));
  const auto pages = static_cast<std::uint64_t>(std::max<std::int64_t>(1, setup.pages));
  for (std::int64_t s = 0; s < setup.sequences; ++s)
    for (std::int64_t at = used(s); at < setup.width; ++at) {
      // One draw for both: some tables are wide.
      const std::uint64_t drawn = rng();
      const auto any = static_cast<std::int64_t>((drawn >> 32) % pages);
      const std::int64_t wild[] = {-1, std::numeric_limits<std::int32_t>::max(),
                                   std::numeric_limits<std::int32_t>::min(), any, any};
      // Who looks one entry too far falls over it in every other sequence, whatever is drawn.
      const bool surely_wild = s % 2 == 0 && at == used(s);
      entry(s, at) = static_cast<std::int32_t>(wild[surely_wild ? 1 : drawn % 5]);
    }
}

void State::renumber_pages(Rng& rng) {
  // Round a ring of all, so that each page goes elsewhere, and no lap finds one where it lay.
  const Ids ring = random_order(rng, setup.pages);
  Ids numbers(ring.size());
  for (std::size_t i = 0; i < ring.size(); ++i)
    numbers[static_cast<std::size_t>(ring[i])] = ring[(i + 1) % ring.size()];
  // In place: the page that lies at p goes where it belongs, until the one that belongs there does.
  Ids belongs = numbers;
  for (std::int64_t p = 0; p < setup.pages; ++p)
    for (auto& to = belongs[static_cast<std::size_t>(p)]; to != p;) {
      const auto q = static_cast<std::size_t>(to);
      std::ranges::swap_ranges(page(p), page(to));
      std::swap(refs[static_cast<std::size_t>(p)], refs[q]);
      std::swap(to, belongs[q]);
    }
  for (std::int64_t s = 0; s < setup.sequences; ++s)
    for (std::int64_t at = 0; at < used(s); ++at)
      entry(s, at) = static_cast<std::int32_t>(numbers[static_cast<std::size_t>(entry(s, at))]);
}

std::int64_t State::free_pages() const {
  return std::ranges::count(refs, 0);
}

bool State::fits(const std::vector<Chunk>& chunks) const {
  std::vector<std::int32_t> users = refs;
  std::int64_t left = free_pages();
  for (const Chunk& chunk : chunks) {
    const std::int64_t tokens = chunk.tokens.count(setup);
    if (tokens == 0) continue;
    const std::int64_t old = lengths[static_cast<std::size_t>(chunk.sequence)];
    const std::int64_t had = pages_of(old);
    const std::int64_t want = pages_of(old + tokens);
    if (want > setup.width) return false;
    left -= want - had;
    if (old % setup.page_tokens == 0) continue;
    auto& shared = users[static_cast<std::size_t>(entry(chunk.sequence, had - 1))];
    if (shared > 1) --shared, --left;
  }
  return left >= 0;
}

void Books::require_counted() const {
  std::vector<std::int32_t> uses(static_cast<std::size_t>(setup().pages), 0);
  for (std::int64_t s = 0; s < setup().sequences; ++s)
    for (std::int64_t at = 0; at < after_.used(s); ++at) {
      const std::int64_t page = after_.entry(s, at);
      if (page < 0 || page >= setup().pages)
        fail_(
            fmt::format("table[{}][{}] is {}, and there are {} pages", s, at, page, setup().pages));
      ++uses[static_cast<std::size_t>(page)];
    }
  for (std::size_t p = 0; p < uses.size(); ++p)
    if (after_.refs[p] != uses[p])
      fail_(fmt::format("refs[{}] is {}, and {} table entries in use name that page", p,
                        after_.refs[p], uses[p]));
}

void Books::require_lengths(const Ids& want) const {
  if (after_.lengths == want) return;
  const auto at = std::ranges::mismatch(after_.lengths, want).in1 - after_.lengths.begin();
  fail_(fmt::format("lengths[{}] is {}, want {}", at, after_.lengths[static_cast<std::size_t>(at)],
                    want[static_cast<std::size_t>(at)]));
}

void Books::require_row_kept(std::int64_t sequence, std::int64_t entries) const {
  for (std::int64_t at = 0; at < entries; ++at)
    if (after_.entry(sequence, at) != before_.entry(sequence, at))
      fail_(fmt::format("table[{}][{}] changed from {} to {}, which is not called for", sequence,
                        at, before_.entry(sequence, at), after_.entry(sequence, at)));
}

void Books::require_pages_kept(const Ids& except) const {
  for (std::int64_t p = 0; p < setup().pages; ++p) {
    if (before_.refs[static_cast<std::size_t>(p)] == 0) continue;
    if (std::ranges::find(except, p) != except.end()) continue;
    if (!std::ranges::equal(before_.page(p), after_.page(p)))
      fail_(fmt::format("page {} was written, which is in use {} times and gets no new token", p,
                        before_.refs[static_cast<std::size_t>(p)]));
  }
}

void Books::require_untouched() const {
  if (after_.lengths != before_.lengths) fail_("lengths changed in a call that has to be refused");
  if (after_.refs != before_.refs) fail_("refs changed in a call that has to be refused");
  for (std::int64_t s = 0; s < setup().sequences; ++s) require_row_kept(s, before_.used(s));
  require_pages_kept({});
}

void Books::require_forked(std::int64_t from, std::int64_t to) const {
  Ids lengths = before_.lengths;
  lengths[static_cast<std::size_t>(to)] = lengths[static_cast<std::size_t>(from)];
  require_lengths(lengths);
  for (std::int64_t s = 0; s < setup().sequences; ++s) require_row_kept(s, before_.used(s));
  for (std::int64_t at = 0; at < before_.used(from); ++at)
    if (after_.entry(to, at) != before_.entry(from, at))
      fail_(fmt::format("kv_fork: page {} of the new sequence is {}, want {}", at,
                        after_.entry(to, at), before_.entry(from, at)));
  require_counted();
}

void Books::require_cut(std::int64_t sequence, std::int64_t length) const {
  Ids lengths = before_.lengths;
  lengths[static_cast<std::size_t>(sequence)] = length;
  require_lengths(lengths);
  for (std::int64_t s = 0; s < setup().sequences; ++s)
    require_row_kept(s, s == sequence ? before_.pages_of(length) : before_.used(s));
  require_counted();
}

Ids Books::require_growth(const std::vector<Chunk>& chunks) const {
  Ids in_place;
  Ids lengths = before_.lengths;
  Ids kept(lengths.size());
  for (std::int64_t s = 0; s < setup().sequences; ++s)
    kept[static_cast<std::size_t>(s)] = before_.used(s);
  std::vector<std::int32_t> refs = before_.refs;
  for (const Chunk& chunk : chunks) {
    const auto s = static_cast<std::size_t>(chunk.sequence);
    const std::int64_t tokens = chunk.tokens.count(setup());
    lengths[s] += tokens;
    if (tokens == 0 || before_.lengths[s] % setup().page_tokens == 0) continue;
    const std::int64_t last = before_.entry(chunk.sequence, kept[s] - 1);
    if (refs[static_cast<std::size_t>(last)] > 1) {
      --refs[static_cast<std::size_t>(last)];
      --kept[s];
    } else {
      in_place.push_back(last);
    }
  }
  require_lengths(lengths);
  for (std::int64_t s = 0; s < setup().sequences; ++s) {
    const std::int64_t old = kept[static_cast<std::size_t>(s)];
    require_row_kept(s, old);
    for (std::int64_t at = old; at < after_.used(s); ++at) {
      const std::int64_t page = after_.entry(s, at);
      if (at < before_.used(s) && page == before_.entry(s, at))
        fail_(
            fmt::format("table[{}][{}] still names page {}, which others use: a new token calls for"
                        " a copy",
                        s, at, page));
      if (page >= 0 && page < setup().pages && before_.refs[static_cast<std::size_t>(page)] != 0)
        fail_(fmt::format("table[{}][{}] took page {}, which is in use", s, at, page));
    }
  }
  return in_place;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
