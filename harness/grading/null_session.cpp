// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/null_session.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/names.h"

namespace gauntlet {
namespace {

constexpr NameTable<NullKind, kNullKinds> kKinds{
    "null solution", {"untouched", "zeros", "ones", "copy", "mean", "random", "previous"}};

template <class T>
void fill_with(std::vector<std::byte>& bytes, T value) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T))
    std::memcpy(bytes.data() + at, &value, sizeof(T));
}

// The upper half of a float is that number in bf16; f16 is rarer and gets the bits of 1.0 or 0.
std::uint16_t half_bits(ElementType type, float value) {
  if (type == ElementType::f16) return value == 0 ? 0 : 0x3c00;
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}

void fill_number(std::vector<std::byte>& bytes, ElementType type, double value) {
  switch (type) {
    case ElementType::f32:
      return fill_with(bytes, static_cast<float>(value));
    case ElementType::f64:
      return fill_with(bytes, value);
    case ElementType::f16:
    case ElementType::bf16:
      return fill_with(bytes, half_bits(type, static_cast<float>(value)));
    case ElementType::i8:
    case ElementType::u8:
      return fill_with(bytes, static_cast<std::int8_t>(value));
    case ElementType::i16:
    case ElementType::u16:
      return fill_with(bytes, static_cast<std::int16_t>(value));
    case ElementType::i32:
    case ElementType::u32:
      return fill_with(bytes, static_cast<std::int32_t>(value));
    case ElementType::i64:
    case ElementType::u64:
      return fill_with(bytes, static_cast<std::int64_t>(value));
  }
}

const Buffer* first_input(const CallBase& call, bool floats_only) {
  for (const Buffer& buffer : call.buffers())
    if (buffer.direction == Direction::in && buffer.bytes > 0 &&
        (!floats_only || buffer.type == ElementType::f32))
      return &buffer;
  return nullptr;
}

double mean_of_first_input(const CallBase& call) {
  const Buffer* input = first_input(call, true);
  if (input == nullptr) return 0;
  double sum = 0;
  const std::size_t count = input->bytes / sizeof(float);
  for (std::size_t i = 0; i < count; ++i) {
    float value = 0;
    std::memcpy(&value, input->source + i * sizeof value, sizeof value);
    sum += value;
  }
  return sum / static_cast<double>(count);
}

}  // namespace

std::string_view name_of(NullKind kind) {
  return kKinds.of(kind);
}

NullKind null_kind_named(std::string_view name) {
  return kKinds.named(name);
}

void NullSession::fill(const CallBase& call, const Buffer& buffer, std::vector<std::byte>& bytes) {
  switch (kind_) {
    case NullKind::untouched:
      return;
    case NullKind::zeros:
      return fill_number(bytes, buffer.type, 0);
    case NullKind::ones:
      return fill_number(bytes, buffer.type, 1);
    case NullKind::mean:
      return fill_number(bytes, buffer.type, mean_of_first_input(call));
    case NullKind::copy:
      if (const Buffer* input = first_input(call, false))
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = input->source[i % input->bytes];
      return;
    case NullKind::previous:
      return;  // never made up: see remembered()
    case NullKind::random: {
      const std::size_t step = size_of(buffer.type);
      std::vector<std::byte> element(step);
      const bool is_float = buffer.type == ElementType::f32 || buffer.type == ElementType::f64;
      for (std::size_t at = 0; at + step <= bytes.size(); at += step) {
        fill_number(element, buffer.type,
                    is_float ? rng_.normal() : static_cast<double>(rng_.integer(0, 100)));
        std::copy(element.begin(), element.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
      }
      return;
    }
  }
}

NullSession::NullSession(NullKind kind, const Seed& seed, Session* teacher, Device device)
    : kind_(kind), rng_(derive(seed, "null solution")), teacher_(teacher), device_(device) {
  if (kind == NullKind::previous && teacher == nullptr)
    throw Broken(OwnFault::bug, "the null solution 'previous' needs a teacher");
}

NullSession::Answer NullSession::made_up(const CallBase& call) {
  Answer answer;
  for (const Buffer& buffer : call.buffers()) {
    if (buffer.direction == Direction::in) continue;
    auto& bytes = answer.outputs.emplace_back(buffer.bytes, std::byte{0xff});
    if (buffer.direction == Direction::inout)
      std::copy_n(buffer.source, bytes.size(), bytes.begin());
    fill(call, buffer, bytes);
  }
  return answer;
}

const NullSession::Answer& NullSession::remembered(CallBase& call) {
  std::string shape = call.symbol;
  for (const Buffer& buffer : call.buffers())
    shape += fmt::format(" {}:{}", buffer.name, buffer.bytes);
  const auto [known, is_new] = first_answers_.try_emplace(shape);
  if (is_new) {
    teacher_->run(call);
    known->second.returned = call.returned;
    for (const Buffer& buffer : call.buffers())
      if (buffer.direction != Direction::in)
        known->second.outputs.emplace_back(buffer.result.begin(), buffer.result.end());
  }
  return known->second;
}

void NullSession::run(CallBase& call) {
  latest_ = kind_ == NullKind::previous ? remembered(call) : made_up(call);
  call.returned = latest_.returned;
  if (call.measure_memory) call.peak_bytes = 0;
  std::size_t next = 0;
  for (Buffer& buffer : call.buffers())
    if (buffer.direction != Direction::in) buffer.result = latest_.outputs[next++];
}

void NullSession::restart() {
  first_answers_.clear();
  if (teacher_ != nullptr) teacher_->restart();
}

}  // namespace gauntlet
