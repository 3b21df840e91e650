// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/call.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

#include "harness/core/error.h"

namespace gauntlet {

std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::i8:
    case ElementType::u8:
      return 1;
    case ElementType::f16:
    case ElementType::bf16:
    case ElementType::i16:
    case ElementType::u16:
      return 2;
    case ElementType::f32:
    case ElementType::i32:
    case ElementType::u32:
      return 4;
    case ElementType::f64:
    case ElementType::i64:
    case ElementType::u64:
      return 8;
  }
  throw Broken(OwnFault::bug, "size_of: no such element type");
}

const Buffer& CallBase::buffer(std::string_view name) const {
  for (const Buffer& buffer : buffers_)
    if (buffer.name == name) return buffer;
  throw Broken(OwnFault::bug, fmt::format("call of {}: no buffer is named '{}'", symbol, name));
}

std::size_t CallBase::offset_of(const void* field, std::size_t field_bytes) const {
  const auto* at = static_cast<const std::byte*>(field);
  if (at < arguments_.data() || at + field_bytes > arguments_.data() + arguments_.size())
    throw Broken(OwnFault::bug,
                 fmt::format("call of {}: a field is named that is not in its struct", symbol));
  return static_cast<std::size_t>(at - arguments_.data());
}

std::size_t CallBase::add(Buffer buffer) {
  const Placement& place = buffer.placement;
  if (!std::has_single_bit(place.alignment) || place.alignment > 4096 ||
      place.skew >= place.alignment)
    throw Broken(OwnFault::bug, fmt::format("call of {}: buffer {} has an impossible placement",
                                            symbol, buffer.name));
  for (const Buffer& other : buffers_)
    if (other.field_offset == buffer.field_offset && !buffer.behind)
      throw Broken(OwnFault::bug, fmt::format("call of {}: {} and {} set the same field", symbol,
                                              other.name, buffer.name));
  buffers_.push_back(std::move(buffer));
  return buffers_.size() - 1;
}

void CallBase::add_view(std::size_t field_offset, std::string_view input, std::size_t bytes) {
  const auto at = std::ranges::find(buffers_, input, &Buffer::name);
  if (at == buffers_.end() || at->direction != Direction::in || bytes > at->bytes)
    throw Broken(OwnFault::bug, fmt::format("call of {}: a field points into '{}', which is no "
                                            "input of {} bytes or more",
                                            symbol, input, bytes));
  views_.push_back({field_offset, static_cast<std::size_t>(at - buffers_.begin()), bytes});
}

Buffer CallBase::part_behind(std::size_t first, std::size_t i, std::int64_t stride,
                             std::size_t bytes, const std::byte* source) const {
  Buffer part = buffers_.at(first);
  part.behind = {first, i * static_cast<std::size_t>(stride) * size_of(part.type)};
  part.name += fmt::format(" (part {})", i);
  part.field_offset = Buffer::kNoField;
  part.bytes = bytes;
  part.source = source;
  return part;
}

}  // namespace gauntlet
