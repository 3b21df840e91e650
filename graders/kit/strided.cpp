// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/strided.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

#include "graders/kit/bits.h"
#include "graders/kit/inputs.h"

namespace gauntlet::kit {

Tensor::Tensor(const Extents& sizes)
    : extents(sizes), data(static_cast<std::size_t>(sizes.count()), kNan) {}

RowsView Tensor::view() const {
  const std::int64_t head = extents.rows * extents.columns;
  return {data.data(), extents.heads * head, head, extents.columns};
}

void repeat_shared(Tensor& tensor, const Layout& layout) {
  for_each_row(tensor, [&](std::span<float> row, auto batch, auto head, auto n) {
    const float* first = tensor.row(layout.one_batch ? 0 : batch, layout.one_head ? 0 : head,
                                    layout.one_row ? 0 : n);
    if (first != row.data()) std::copy_n(first, row.size(), row.begin());
  });
}

Strides::Strides(const Extents& extents, const Layout& layout) : extents_(extents) {
  const std::int64_t inner = extents.columns + layout.row_gap;
  const std::int64_t heads = layout.one_head ? 1 : extents.heads;
  const std::int64_t rows = layout.one_row ? 1 : extents.rows;
  const std::int64_t outer = inner * (layout.rows_outside ? heads : rows) + layout.outer_gap;
  row = layout.one_row ? 0 : layout.rows_outside ? outer : inner;
  head = layout.one_head ? 0 : layout.rows_outside ? inner : outer;
  batch = layout.one_batch ? 0 : outer * (layout.rows_outside ? rows : heads) + layout.batch_gap;
  if (layout.idle) {
    if (extents.batch <= 1) batch = *layout.idle;
    if (extents.heads <= 1) head = *layout.idle;
    if (extents.rows <= 1) row = *layout.idle;
  }
  count = extents.count() == 0 ? 0
                               : (extents.batch - 1) * batch + (extents.heads - 1) * head +
                                     (extents.rows - 1) * row + extents.columns;
}

template <class Visit>
void Strides::for_each_row(const Visit& visit) const {
  std::int64_t dense = 0;
  for (std::int64_t b = 0; b < extents_.batch; ++b)
    for (std::int64_t h = 0; h < extents_.heads; ++h)
      for (std::int64_t n = 0; n < extents_.rows; ++n, dense += extents_.columns)
        visit(b * batch + h * head + n * row, dense);
}

std::vector<float> Strides::scatter(std::span<const float> dense, float foreign) const {
  std::vector<float> memory(static_cast<std::size_t>(count), foreign);
  for_each_row([&](std::int64_t at, std::int64_t from) {
    std::copy_n(dense.data() + from, extents_.columns, memory.data() + at);
  });
  return memory;
}

std::vector<float> Strides::gather(std::span<const float> memory) const {
  std::vector<float> dense(static_cast<std::size_t>(extents_.count()));
  for_each_row([&](std::int64_t at, std::int64_t to) {
    std::copy_n(memory.data() + at, extents_.columns, dense.data() + to);
  });
  return dense;
}

std::optional<std::int64_t> Strides::touched(std::span<const float> memory,
                                             std::span<const float> before) const {
  if (count == extents_.count()) return std::nullopt;
  std::vector<char> own(memory.size(), 0);
  for_each_row([&](std::int64_t at, std::int64_t) {
    std::fill_n(own.begin() + at, extents_.columns, char{1});
  });
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const auto now = memory.subspan(i, 1);
    const bool kept = before.empty() ? is_poison(now) : same_bits(now, before.subspan(i, 1));
    if (!own[i] && !kept) return static_cast<std::int64_t>(i);
  }
  return std::nullopt;
}

Tensor OneMemory::gathered(const Extents& extents, std::string_view name) const {
  const Place& place = places.at(name);
  Tensor tensor(extents);
  for_each_row(tensor, [&](std::span<float> row, auto b, auto h, auto n) {
    const std::int64_t at = place.offset + b * place.batch + h * place.head + n * place.row;
    std::copy_n(numbers.data() + at, row.size(), row.data());
  });
  return tensor;
}

FarParts::FarParts(const Extents& extents) {
  const auto [entries, field] = extents.batch > 1   ? std::pair(extents.batch, &Strides::batch)
                                : extents.heads > 1 ? std::pair(extents.heads, &Strides::head)
                                                    : std::pair(extents.rows, &Strides::row);
  count = static_cast<std::size_t>(entries);
  elements = static_cast<std::size_t>(extents.count() / entries);
  stride = field;
}

void ask_far_parts(
    Probe& probe, std::initializer_list<const char*> tensors,
    const std::function<void(Rng&, const AttentionSizes&, const CallOptions::FarApart&)>& ask) {
  for (const char* tensor : tensors)
    for (const char* dimension : {"batch", "head", "row"})
      for (const std::int64_t stride : kFarStrides) {
        Rng rng = probe.begin_case(fmt::format("{} {} stride near 2^{}", tensor, dimension,
                                               std::countr_zero(std::uint64_t(stride))));
        AttentionSizes sizes{1, 1, 1, 3, 3, rng.integer(3, 20), rng.integer(3, 20)};
        if (dimension[0] == 'b') sizes.batch = 3;
        if (dimension[0] == 'h') sizes.q_heads = sizes.kv_heads = 3;
        ask(rng, sizes, {tensor, stride + rng.integer(0, 99)});
      }
}

void StrideFields::set(const Strides& strides) const {
  if (batch != nullptr) *batch = strides.batch;
  if (head != nullptr) *head = strides.head;
  if (row != nullptr) *row = strides.row;
}

}  // namespace gauntlet::kit
