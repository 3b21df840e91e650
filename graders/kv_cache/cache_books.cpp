// What a cache's bookkeeping must look like after an operation.
#include <algorithm>
#include <fmt/format.h>

#include "cache.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Takes the state after an operation that did what it should; pages other than those that it was
/// to write must hold the same bytes.
void Cache::adopt(State after, const Ids& changed_pages) {
  require_books(after);
  require_pages_kept(after, changed_pages);
  state_ = std::move(after);
}

/// Lengths are known to be right: page numbers make sense, and refs count them.
void Cache::require_books(const State& after) const {
  std::vector<std::int32_t> uses(static_cast<std::size_t>(setup().pages), 0);
  for (std::int64_t s = 0; s < setup().sequences; ++s)
    for (std::int64_t at = 0; at < after.used(s); ++at) {
      const std::int64_t page = after.entry(s, at);
      if (page < 0 || page >= setup().pages)
        fail(
            fmt::format("table[{}][{}] is {}, and there are {} pages", s, at, page, setup().pages));
      ++uses[static_cast<std::size_t>(page)];
    }
  for (std::size_t p = 0; p < uses.size(); ++p)
    if (after.refs[p] != uses[p])
      fail(fmt::format("refs[{}] is {}, and {} table entries in use name that page", p,
                       after.refs[p], uses[p]));
}

/// Of all sequences, before anything else is looked at: rows and pages are found by them.
void Cache::require_lengths(const State& after, const Ids& want) const {
  if (after.lengths == want) return;
  const auto at = std::ranges::mismatch(after.lengths, want).in1 - after.lengths.begin();
  fail(fmt::format("lengths[{}] is {}, want {}", at, after.lengths[static_cast<std::size_t>(at)],
                   want[static_cast<std::size_t>(at)]));
}

void Cache::require_row_kept(const State& after, std::int64_t sequence,
                             std::int64_t entries) const {
  for (std::int64_t at = 0; at < entries; ++at)
    if (after.entry(sequence, at) != state_.entry(sequence, at))
      fail(fmt::format("table[{}][{}] changed from {} to {}, which is not called for", sequence, at,
                       state_.entry(sequence, at), after.entry(sequence, at)));
}

void Cache::require_pages_kept(const State& after, const Ids& except) const {
  for (std::int64_t p = 0; p < setup().pages; ++p) {
    if (state_.refs[static_cast<std::size_t>(p)] == 0) continue;
    if (std::ranges::find(except, p) != except.end()) continue;
    if (!std::ranges::equal(state_.page(p), after.page(p)))
      fail(fmt::format("page {} was written, which is in use {} times and gets no new token", p,
                       state_.refs[static_cast<std::size_t>(p)]));
  }
}

void Cache::require_untouched(const State& after) const {
  if (after.lengths != state_.lengths) fail("lengths changed in a call that has to be refused");
  if (after.refs != state_.refs) fail("refs changed in a call that has to be refused");
  for (std::int64_t s = 0; s < setup().sequences; ++s) require_row_kept(after, s, state_.used(s));
  require_pages_kept(after, {});
}

/// Lengths and rows after an append. Returns the pages that it wrote in place.
Ids Cache::require_growth(const State& after, const std::vector<Chunk>& chunks) const {
  Ids in_place;
  Ids lengths = state_.lengths;
  Ids kept(lengths.size());
  for (std::int64_t s = 0; s < setup().sequences; ++s)
    kept[static_cast<std::size_t>(s)] = state_.used(s);
  std::vector<std::int32_t> refs = state_.refs;
  for (const Chunk& chunk : chunks) {
    const auto s = static_cast<std::size_t>(chunk.sequence);
    const std::int64_t tokens = chunk.tokens.count(setup());
    lengths[s] += tokens;
    if (tokens == 0 || state_.lengths[s] % setup().page_tokens == 0) continue;
    const std::int64_t last = state_.entry(chunk.sequence, kept[s] - 1);
    if (refs[static_cast<std::size_t>(last)] > 1) {
      --refs[static_cast<std::size_t>(last)];
      --kept[s];
    } else {
      in_place.push_back(last);
    }
  }
  require_lengths(after, lengths);
  for (std::int64_t s = 0; s < setup().sequences; ++s) {
    const std::int64_t old = kept[static_cast<std::size_t>(s)];
    require_row_kept(after, s, old);
    for (std::int64_t at = old; at < after.used(s); ++at) {
      const std::int64_t page = after.entry(s, at);
      if (at < state_.used(s) && page == state_.entry(s, at))
        fail(
            fmt::format("table[{}][{}] still names page {}, which others use: a new token calls for"
                        " a copy",
                        s, at, page));
      if (page >= 0 && page < setup().pages && state_.refs[static_cast<std::size_t>(page)] != 0)
        fail(fmt::format("table[{}][{}] took page {}, which is in use", s, at, page));
    }
  }
  return in_place;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
