// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <string>

#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A cache as it lies between calls: all that a solution may know.
struct State {
  Setup setup;
  std::int64_t page_bytes = 0;
  Bytes pool;
  std::vector<std::int32_t> table;
  Ids lengths;
  std::vector<std::int32_t> refs;

  State(const Setup& setup, std::int64_t page_bytes);

  std::int64_t pages_of(std::int64_t tokens) const {
    return (tokens + setup.page_tokens - 1) / setup.page_tokens;
  }
  /// Table entries of a sequence that are in use.
  std::int64_t used(std::int64_t sequence) const {
    return pages_of(lengths[static_cast<std::size_t>(sequence)]);
  }
  std::int32_t& entry(std::int64_t sequence, std::int64_t at) {
    return table[static_cast<std::size_t>(sequence * setup.width + at)];
  }
  std::int32_t entry(std::int64_t sequence, std::int64_t at) const {
    return table[static_cast<std::size_t>(sequence * setup.width + at)];
  }
  /// Nothing, of a page that lies between parts of the pool that are far apart.
  std::span<std::uint8_t> page(std::int64_t number) {
    return std::span(pool).subspan(place_of(number), held_bytes(number));
  }
  std::span<const std::uint8_t> page(std::int64_t number) const {
    return std::span(pool).subspan(place_of(number), held_bytes(number));
  }
  /// The pool, or what there is of it: single pages that are far apart.
  std::vector<std::span<const std::uint8_t>> parts() const;
  std::int64_t stride() const { return setup.far_pages * page_bytes; }  // of these parts
  std::int64_t free_pages() const;

  /// Whether an append has pages enough, done one sequence after the other as the contract says.
  bool fits(const std::vector<Chunk>& chunks) const;

  /// Sequences from `first` on, as many as it takes, have all pages that nobody is asked for.
  void hold_far_pages(std::int64_t first);

  /// Overwrites what is not in use: free pages with bytes that are NaN, infinity, large or random
  /// as floats, and table entries with wild and with plausible page numbers.
  void poison_unused(Rng& rng);

  /// Gives every page another number.
  void renumber_pages(Rng& rng);

 private:
  bool held(std::int64_t page) const { return setup.far_pages == 0 || page % setup.far_pages == 0; }
  std::size_t held_bytes(std::int64_t page) const {
    return held(page) ? static_cast<std::size_t>(page_bytes) : 0;
  }
  std::size_t place_of(std::int64_t page) const {
    if (!held(page)) return 0;
    return static_cast<std::size_t>(page / std::max<std::int64_t>(1, setup.far_pages) * page_bytes);
  }
};

/// What lengths, table, refs and pages must be after an operation, next to what they were before.
/// A fault goes to `fail`, which does not return. Lengths come first: rows and pages are found by
/// them.
class Books {
 public:
  using Fail = std::function<void(const std::string&)>;

  Books(const State& before, const State& after, Fail fail)
      : before_(before), after_(after), fail_(std::move(fail)) {}

  void require_lengths(const Ids& want) const;
  /// The first entries of a sequence's row are what they were.
  void require_row_kept(std::int64_t sequence, std::int64_t entries) const;
  /// Page numbers make sense, and refs count them.
  void require_counted() const;
  /// Pages in use hold the same bytes, `except` for some.
  void require_pages_kept(const Ids& except) const;
  /// All that is in use is as it was: for calls that had to be refused.
  void require_untouched() const;
  /// Lengths and rows after an append. Returns the pages that it may write in place.
  Ids require_growth(const std::vector<Chunk>& chunks) const;
  /// Lengths and rows after a fork, and after a cut; and what refs count.
  void require_forked(std::int64_t from, std::int64_t to) const;
  void require_cut(std::int64_t sequence, std::int64_t length) const;

 private:
  const Setup& setup() const { return before_.setup; }

  const State& before_;
  const State& after_;
  Fail fail_;
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
