#include "layout.h"

#include <algorithm>
#include <cstring>

namespace gauntlet::GAUNTLET_CHALLENGE {

Placed::Placed(const Extents& extents, const Layout& layout) : extents_(extents) {
  const std::int64_t row = extents.columns + layout.row_gap;
  const std::int64_t heads = layout.one_head ? 1 : extents.heads;
  if (layout.rows_outside) {
    row_stride = row * heads;
    head_stride = row;
    batch_stride = row_stride * extents.rows;
  } else {
    row_stride = row;
    head_stride = row * extents.rows + layout.head_gap;
    batch_stride = head_stride * heads;
  }
  if (layout.one_head) head_stride = 0;
  if (layout.one_batch) batch_stride = 0;
  count = extents.count() == 0
              ? 0
              : (extents.batch - 1) * batch_stride + (extents.heads - 1) * head_stride +
                    (extents.rows - 1) * row_stride + extents.columns;
}

template <class Visit>
void Placed::for_each_row(const Visit& visit) const {
  std::int64_t dense = 0;
  for (std::int64_t b = 0; b < extents_.batch; ++b)
    for (std::int64_t h = 0; h < extents_.heads; ++h)
      for (std::int64_t i = 0; i < extents_.rows; ++i, dense += extents_.columns)
        visit(b * batch_stride + h * head_stride + i * row_stride, dense);
}

std::vector<float> Placed::scatter(std::span<const float> dense, float foreign) const {
  std::vector<float> memory(static_cast<std::size_t>(count), foreign);
  for_each_row([&](std::int64_t at, std::int64_t from) {
    std::copy_n(dense.data() + from, extents_.columns, memory.data() + at);
  });
  return memory;
}

std::vector<float> Placed::gather(std::span<const float> memory) const {
  std::vector<float> dense(static_cast<std::size_t>(extents_.count()));
  for_each_row([&](std::int64_t at, std::int64_t to) {
    std::copy_n(memory.data() + at, extents_.columns, dense.data() + to);
  });
  return dense;
}

std::optional<std::int64_t> Placed::touched(std::span<const float> memory,
                                            std::span<const float> before) const {
  if (count == extents_.count()) return std::nullopt;
  std::vector<char> own(memory.size(), 0);
  for_each_row([&](std::int64_t at, std::int64_t) {
    std::fill_n(own.begin() + at, extents_.columns, char{1});
  });
  for (std::size_t i = 0; i < memory.size(); ++i)
    if (!own[i] && std::memcmp(&memory[i], &before[i], sizeof(float)) != 0)
      return static_cast<std::int64_t>(i);
  return std::nullopt;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
