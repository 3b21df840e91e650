// SPDX-License-Identifier: Apache-2.0
#include "checkpoint.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <string_view>

#include "half.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is read as it lies in memory");

constexpr std::string_view kMagic = "TRN1";
constexpr std::size_t kFields = 7;
constexpr std::size_t kContext = 5;  // of the fields
constexpr std::size_t kHeader = 4 + 4 * kFields;
constexpr float kLargestGain = 64;

template <class... Parts>
[[noreturn]] void refuse(fmt::format_string<Parts...> text, Parts&&... parts) {
  throw BadCheckpoint(fmt::format(text, std::forward<Parts>(parts)...));
}

TernaryModel read_model(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kHeader)
    refuse("{} bytes are too few for a header of {}", bytes.size(), kHeader);
  if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    refuse("it does not start with \"{}\"", kMagic);
  std::array<std::uint32_t, kFields> field{};
  std::memcpy(field.data(), bytes.data() + kMagic.size(), sizeof field);
  // Every size is bounded before sizes are multiplied: lengths must not overflow. No length depends
  // on the context.
  for (std::size_t i = 0; i < kFields; ++i)
    if (const std::uint32_t most = i == kContext ? 0x7fff'ffff : 1u << 20;
        field[i] < 1 || field[i] > most)
      refuse("a size in the header is {}", field[i]);
  const TernaryModel model{field[0], field[1], field[2], field[3], field[4], field[5], field[6]};
  if (model.vocab > 65536) refuse("vocab {} is above 65536", model.vocab);
  if (model.group % 4 != 0) refuse("group {} is no multiple of 4", model.group);
  if (model.width % model.group != 0 || model.hidden % model.group != 0)
    refuse("group {} does not divide width {} and hidden {}", model.group, model.width,
           model.hidden);
  if (model.width % (2 * model.heads) != 0)
    refuse("{} heads do not divide width {} into even parts", model.heads, model.width);
  if (model.layers > 1024) refuse("{} layers are too many to be meant", model.layers);
  return model;
}

class Reader {
 public:
  Reader(std::span<const std::uint8_t> bytes, std::int64_t group)
      : bytes_(bytes.subspan(kHeader)), group_(group) {}

  TernaryMatrix matrix(const Tensor& tensor) {
    TernaryMatrix read{tensor.rows, tensor.columns, {}, {}};
    const std::int64_t weights = tensor.rows * tensor.columns;
    const auto codes = take(static_cast<std::size_t>(weights / 4));
    read.codes.reserve(static_cast<std::size_t>(weights));
    for (std::int64_t i = 0; i < weights; ++i) {
      const int code = codes[static_cast<std::size_t>(i / 4)] >> (2 * (i % 4)) & 3;
      if (code == 3)
        refuse("{}: row {}, group {}, column {} has the code 3", tensor.name, i / tensor.columns,
               i % tensor.columns / group_, i % tensor.columns);
      read.codes.push_back(static_cast<std::int8_t>(code - 1));
    }
    const auto groups = static_cast<std::size_t>(weights / group_);
    const auto scales = take(2 * groups);
    read.scales.resize(groups);
    std::memcpy(read.scales.data(), scales.data(), scales.size());
    for (std::size_t i = 0; i < groups; ++i)
      if (const std::uint16_t scale = read.scales[i]; scale >= kHalfInfinity) {
        const auto in_row = static_cast<std::size_t>(tensor.columns / group_);
        refuse("{}: row {}, group {} has the scale {} (bits 0x{:04x})", tensor.name, i / in_row,
               i % in_row, half_value(scale), scale);
      }
    return read;
  }

  std::vector<float> gains(const TernaryModel& model) {
    std::vector<float> gains(static_cast<std::size_t>(gains_of(model)));
    const auto raw = take(4 * gains.size());
    std::memcpy(gains.data(), raw.data(), raw.size());
    for (std::size_t i = 0; i < gains.size(); ++i)
      if (!(std::abs(gains[i]) <= kLargestGain))
        refuse("gain {} of norm {} is {}", i % static_cast<std::size_t>(model.width),
               i / static_cast<std::size_t>(model.width), gains[i]);
    return gains;
  }

 private:
  std::span<const std::uint8_t> take(std::size_t count) {
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }

  std::span<const std::uint8_t> bytes_;
  std::int64_t group_;
};

template <class T>
void append(std::vector<std::uint8_t>& bytes, const std::vector<T>& items) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(items.data());
  bytes.insert(bytes.end(), first, first + items.size() * sizeof(T));
}

}  // namespace

float TernaryMatrix::weight(std::int64_t row, std::int64_t column) const {
  const std::int64_t at = row * columns + column;
  const std::int64_t group_at = row * groups_in_row() + column / group();
  return static_cast<float>(codes[static_cast<std::size_t>(at)] *
                            half_value(scales[static_cast<std::size_t>(group_at)]));
}

Checkpoint read_checkpoint(std::span<const std::uint8_t> bytes) {
  Checkpoint checkpoint;
  const TernaryModel model = read_model(bytes);
  checkpoint.model = model;
  if (const std::int64_t want = checkpoint_bytes_of(model); std::ssize(bytes) != want)
    refuse("it has {} bytes; {} have {}", bytes.size(), describe(model), want);
  Reader reader(bytes, model.group);
  for (const Tensor& tensor : tensors_of(model))
    checkpoint.matrices.push_back(reader.matrix(tensor));
  checkpoint.gains = reader.gains(model);
  return checkpoint;
}

std::vector<std::uint8_t> packed(std::span<const std::int8_t> codes) {
  std::vector<std::uint8_t> bytes(codes.size() / 4);
  for (std::size_t i = 0; i < 4 * bytes.size(); ++i)
    bytes[i / 4] = static_cast<std::uint8_t>(bytes[i / 4] | (codes[i] + 1) << (2 * (i % 4)));
  return bytes;
}

std::vector<std::uint8_t> bytes_of(const Checkpoint& checkpoint) {
  const TernaryModel& model = checkpoint.model;
  std::vector<std::uint8_t> bytes(kMagic.begin(), kMagic.end());
  std::vector<std::uint32_t> header;
  for (const std::int64_t size : {model.vocab, model.width, model.layers, model.heads, model.hidden,
                                  model.context, model.group})
    header.push_back(static_cast<std::uint32_t>(size));
  append(bytes, header);
  for (const TernaryMatrix& matrix : checkpoint.matrices) {
    append(bytes, packed(matrix.codes));
    append(bytes, matrix.scales);
  }
  append(bytes, checkpoint.gains);
  return bytes;
}

Place place_of(const TernaryModel& model, std::size_t tensor) {
  const std::vector<Tensor> tensors = tensors_of(model);
  std::size_t at = kHeader;
  for (std::size_t i = 0;; ++i) {
    const std::int64_t weights = tensors.at(i).rows * tensors[i].columns;
    const std::size_t scales = at + static_cast<std::size_t>(weights / 4);
    if (i == tensor) return {at, scales};
    at = scales + static_cast<std::size_t>(weights / model.group * 2);
  }
}

std::size_t place_of_gains(const TernaryModel& model) {
  return static_cast<std::size_t>(checkpoint_bytes_of(model) - 4 * gains_of(model));
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
