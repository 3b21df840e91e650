#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gauntlet::GAUNTLET_CHALLENGE {

/// How one tensor lies in memory.
struct Layout {
  bool rows_outside = false;  // [batch][row][head] instead of [batch][head][row]
  std::int64_t row_gap = 0;   // foreign elements after every row
  std::int64_t head_gap = 0;  // foreign elements after every head; only without rows_outside
  bool one_head = false;      // all heads are equal: stored once, with head stride 0
  bool one_batch = false;     // the same for batch entries
};

struct Extents {
  std::int64_t batch, heads, rows, columns;

  std::int64_t count() const { return batch * heads * rows * columns; }
};

/// A tensor's place in memory, which ends with its last row: nothing of it lies behind.
class Placed {
 public:
  Placed(const Extents& extents, const Layout& layout);

  std::int64_t batch_stride, head_stride, row_stride;
  std::int64_t count;  // elements from the first to the last

  /// Memory as a solution sees it, with `foreign` in all gaps.
  std::vector<float> scatter(std::span<const float> dense, float foreign) const;
  /// The dense tensor.
  std::vector<float> gather(std::span<const float> memory) const;
  /// The first foreign element of `memory` whose bits differ from those in `before`.
  std::optional<std::int64_t> touched(std::span<const float> memory,
                                      std::span<const float> before) const;

 private:
  template <class Visit>
  void for_each_row(const Visit& visit) const;

  Extents extents_;
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
