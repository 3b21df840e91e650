// SPDX-License-Identifier: Apache-2.0
#include "living.h"

#include <algorithm>

#include "domain.h"
#include "drawing.h"
#include "operations.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;
using kit::one_of;

// Of many sequences, so many at each end have calls of their own; one call, or the caller itself,
// does for those between. A call each was most of a check's time.
constexpr std::int64_t kEach = 4;

// Of tokens that are appended one by one: enough for pages to begin and to end. The last one comes
// alone again.
constexpr std::int64_t kAlone = 12;

/// What is appended in one call: for `sequences`, from what each has up to `lengths`.
std::vector<Chunk> rest_of(const Cache& cache, const std::vector<Tokens>& all, const Ids& order,
                           const Ids& lengths) {
  std::vector<Chunk> chunks;
  for (const std::int64_t s : order) {
    const std::int64_t had = cache.length(s);
    const std::int64_t more = lengths[static_cast<std::size_t>(s)] - had;
    chunks.push_back({s, all[static_cast<std::size_t>(s)].part(cache.setup(), had, more)});
  }
  return chunks;
}

/// One life. What does not fit has to be refused, and then the sequences stay shorter.
class Living {
 public:
  Living(Cache& cache, const Assignment& choice, Rng& rng, const Ids& lengths)
      : cache_(cache), choice_(choice), rng_(rng), lengths_(lengths) {
    for (const std::int64_t length : lengths)
      all_.push_back(tokens_of(choice, rng, cache.setup(), length));
  }

  void live() {
    const std::string& history = choice_["history"].name;
    if (history == "one call") cache_.append(rest_of(cache_, all_, order(), lengths_));
    if (history == "a call each") a_call_each();
    if (history == "in pieces") in_pieces();
    if (history == "token by token") token_by_token();
    if (history.starts_with("forked")) forked(history);
    if (history == "cut and grown again") cut_and_grown();
    if (history == "operations")
      for (const Operation& operation : draw_operations(rng_, cache_.setup(), 12))
        perform(cache_, operation);
  }

 private:
  std::int64_t sequences() const { return cache_.setup().sequences; }
  Ids order() { return random_order(rng_, sequences()); }
  Tokens some(std::int64_t most) {
    return draw_many_tokens(rng_, cache_.setup(), rng_.integer(0, most));
  }

  void a_call_each() {
    Ids left = order();
    if (sequences() > 3 * kEach) {
      const Ids many(left.begin() + kEach, left.end() - kEach);
      left.erase(left.begin() + kEach, left.end() - kEach);
      cache_.append(rest_of(cache_, all_, many, lengths_));
    }
    for (const std::int64_t s : left) cache_.append(rest_of(cache_, all_, {s}, lengths_));
  }

  void in_pieces() {
    for (int turn = 0; turn < 4; ++turn) {
      Ids until = lengths_;
      for (std::int64_t s = 0; s < sequences(); ++s) {
        auto& length = until[static_cast<std::size_t>(s)];
        const std::int64_t had = cache_.length(s);
        if (turn < 3) length = rng_.chance(0.3) ? had : rng_.integer(had, std::max(had, length));
      }
      cache_.append(rest_of(cache_, all_, order(), until));
    }
  }

  void token_by_token() {
    const std::int64_t last = lengths_[0];
    for (std::int64_t t = 1; t <= last; ++t) {
      if (t > kAlone && t < last - 1) continue;
      Ids until = lengths_;
      until[0] = t;
      if (!cache_.append(rest_of(cache_, all_, {0}, until))) return;
    }
  }

  /// Sequences 1, 2 and more are forks of the first or of one another, the last one stays empty.
  void forked(const std::string& history) {
    cache_.append(rest_of(cache_, all_, {0}, lengths_));
    const std::int64_t last = std::max<std::int64_t>(2, sequences() - 1);
    for (std::int64_t s = 1; s < last; ++s) {
      const std::int64_t from = rng_.chance(0.5) ? 0 : s - 1;
      if (s == kEach && last > 3 * kEach) {
        cache_.fork_by_hand(from, s, last - kEach);
        s = last - kEach;
      } else {
        cache_.fork(from, s);
      }
    }
    if (history == "forked and cut")
      for (std::int64_t s = 0; s < last; s += std::max<std::int64_t>(2, last / kEach))
        cache_.truncate(s, rng_.integer(cache_.length(s) / 2, cache_.length(s)));
    if (history == "forked, one grown") {
      cache_.append(rng_.integer(0, last - 1), some(kAppended));
      return;
    }
    // An empty chunk is nobody's reason to copy.
    std::vector<Chunk> chunks;
    for (std::int64_t s = 0; s < last; ++s)
      if (rng_.chance(0.6)) chunks.push_back({s, some(rng_.chance(0.4) ? 0 : kAppended)});
    rng_.shuffle(chunks);
    cache_.append(chunks);
  }

  void cut_and_grown() {
    cache_.append(rest_of(cache_, all_, order(), lengths_));
    for (int turn = 0; turn < 3; ++turn) {
      const std::int64_t s = rng_.integer(0, sequences() - 1);
      const std::int64_t page = cache_.setup().page_tokens;
      const std::int64_t had = cache_.length(s);
      const std::int64_t kept =
          one_of(rng_, {std::int64_t{0}, had, had / page * page, rng_.integer(0, had)});
      cache_.truncate(s, kept);
      cache_.append(rest_of(cache_, all_, {s}, lengths_));
    }
  }

  Cache& cache_;
  const Assignment& choice_;
  Rng& rng_;
  const Ids& lengths_;
  std::vector<Tokens> all_;
};

}  // namespace

void live(Cache& cache, const Assignment& choice, Rng& rng, const Ids& lengths) {
  Living(cache, choice, rng, lengths).live();
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
