// SPDX-License-Identifier: Apache-2.0
#include "invalid_files.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "graders/kit/inputs.h"
#include "half.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;

template <class Spoil>
void add_damage(InvalidForward& group, const std::string& name, const Spoil& spoil) {
  group.all.push_back({.flaw = {name}, .misplace = spoil});
}

/// The sizes of the header, in the order of TernaryModel.
using Sizes = std::array<std::uint32_t, 7>;

template <class Change>
void add_sizes(InvalidForward& group, const std::string& name, const Change& change) {
  add_damage(group, name, [change](FileProblem& problem) {
    Sizes sizes{};
    std::memcpy(sizes.data(), problem.bytes.data() + 4, sizeof sizes);
    change(sizes, problem.model);
    std::memcpy(problem.bytes.data() + 4, sizes.data(), sizeof sizes);
  });
}
constexpr std::size_t kVocab = 0, kWidth = 1, kLayers = 2, kHeads = 3, kHidden = 4, kContext = 5,
                      kGroup = 6;

/// A file that is whole, of a model of no layers.
void remove_layers(FileProblem& problem) {
  std::vector<std::uint8_t>& bytes = problem.bytes;
  const auto at = [&](std::size_t place) {
    return bytes.begin() + static_cast<std::ptrdiff_t>(place);
  };
  const std::size_t layers = place_of(problem.model, first_of(0)).codes;
  const std::size_t head = place_of(problem.model, tensors_of(problem.model).size() - 1).codes;
  bytes.erase(at(place_of_gains(problem.model)), bytes.end() - 4 * problem.model.width);
  bytes.erase(at(layers), at(head));
  put(bytes, 4 + 4 * kLayers, std::uint32_t{0});
}

InvalidForward damaged_headers() {
  InvalidForward group{"header", {}};
  for (std::size_t i = 0; i < 4; ++i)
    add_damage(group, fmt::format("byte {} of the magic", i),
               [i](FileProblem& p) { p.bytes[i] ^= 0x20; });
  const auto change = [&](const std::string& name, auto spoil) {
    add_sizes(group, name, [spoil](Sizes& sizes, const TernaryModel&) { spoil(sizes); });
  };
  for (std::size_t i = 0; i <= kGroup; ++i)
    for (const std::uint32_t value : {0U, 1U << 31, 0xffff'fffcU}) {
      if (i == kContext && value != 0) continue;  // no error
      change(fmt::format("size {} is {}", i, value), [=](Sizes& s) { s[i] = value; });
    }
  add_damage(group, "no layers in the file either", remove_layers);
  change("a layer more", [](Sizes& s) { ++s[kLayers]; });
  change("an id more", [](Sizes& s) { ++s[kVocab]; });
  change("65537 ids", [](Sizes& s) { s[kVocab] = 65'537; });
  change("heads of one number", [](Sizes& s) { s[kHeads] = s[kWidth]; });
  change("twice as many heads as numbers", [](Sizes& s) { s[kHeads] = 2 * s[kWidth]; });
  change("groups of 2", [](Sizes& s) { s[kGroup] = 2; });
  change("groups of two rows", [](Sizes& s) { s[kGroup] = 2 * s[kWidth]; });
  change("width two more", [](Sizes& s) { s[kWidth] += 2; });
  change("hidden two more", [](Sizes& s) { s[kHidden] += 2; });
  return group;
}

/// A header of other sizes, and a file that is so long. It has zeros, which are no error anywhere.
void put_header(FileProblem& problem, const Sizes& sizes, std::int64_t length) {
  problem.bytes.resize(4);
  problem.bytes.resize(static_cast<std::size_t>(length));
  std::memcpy(problem.bytes.data() + 4, sizes.data(), sizeof sizes);
}

/// 2^27 layers of 2^37 bytes each, which come to nothing in 64 bits, and a file as long as the
/// rest.
void wrap_in_64_bits(FileProblem& problem) {
  constexpr std::uint32_t kColumns = 64, kInner = 954'437'088;
  static_assert(3LL * kColumns * kColumns + 9LL * kColumns / 4 * kInner + 8LL * kColumns ==
                1LL << 37);
  const std::int64_t table = problem.model.vocab * kColumns * 3 / 4;
  put_header(problem,
             {static_cast<std::uint32_t>(problem.model.vocab), kColumns, 1U << 27, 1, kInner,
              static_cast<std::uint32_t>(problem.model.context), 4},
             32 + 2 * table + 4 * std::int64_t{kColumns});
}

/// 2^32 weights in every matrix, which are none in 32 bits, and a file of the gains alone.
void wrap_all_weights(FileProblem& problem) {
  constexpr std::uint32_t kMost = 65'536;
  put_header(problem,
             {kMost, kMost, 1, 1, kMost, static_cast<std::uint32_t>(problem.model.context), kMost},
             32 + 12 * std::int64_t{kMost});
}

/// Gates of 2^34 weights more than those of the file: weights, their bytes, and those of codes and
/// of scales come out the same in 32 bits.
void wrap_gates(FileProblem& problem) {
  const TernaryModel small{problem.model.vocab, 64, 1, 1, 64, problem.model.context, 4};
  put_header(problem,
             {static_cast<std::uint32_t>(small.vocab), 64, 1, 1, 64 + (1U << 28),
              static_cast<std::uint32_t>(small.context), 4},
             checkpoint_bytes_of(small));
}

/// So many layers more that a length of 32 bits comes out the same.
InvalidForward wrapped_lengths() {
  InvalidForward group{"length", {}};
  add_sizes(group, "the same in 32 bits", [](Sizes& sizes, const TernaryModel& model) {
    TernaryModel two = model;
    ++two.layers;
    const auto layer =
        static_cast<std::uint64_t>(checkpoint_bytes_of(two) - checkpoint_bytes_of(model));
    const std::uint64_t wrap = std::uint64_t{1} << 32;
    sizes[kLayers] += static_cast<std::uint32_t>(wrap / std::gcd(layer, wrap));
  });
  add_damage(group, "the same in 64 bits", wrap_in_64_bits);
  add_damage(group, "no weights in 32 bits", wrap_all_weights);
  add_damage(group, "the same gates in 32 bits", wrap_gates);
  add_damage(group, "empty", [](FileProblem& p) { p.bytes.clear(); });
  // Of 4 and of 16 the magic is right, and the rest of the header lies behind the file's end.
  for (const std::size_t length : {1, 3, 4, 16, 31, 32})
    add_damage(group, fmt::format("{}", length),
               [length](FileProblem& p) { p.bytes.resize(length); });
  for (const std::size_t more : {1, 2, 4, 4096})
    add_damage(group, fmt::format("{} more", more),
               [more](FileProblem& p) { p.bytes.resize(p.bytes.size() + more); });
  for (const std::size_t less : {1, 2, 4})
    add_damage(group, fmt::format("{} less", less),
               [less](FileProblem& p) { p.bytes.resize(p.bytes.size() - less); });
  return group;
}

/// The bytes of one tensor's codes and scales.
struct Extent {
  Place place;
  std::size_t end;
};
Extent extent_of(const TernaryModel& model, std::size_t tensor) {
  const std::size_t last = tensors_of(model).size() - 1;
  return {place_of(model, tensor),
          tensor == last ? place_of_gains(model) : place_of(model, tensor + 1).codes};
}

/// A tensor of a layer, or one of both tables. Who looks at some layers looks at the first or the
/// last: `turn` takes the last, the first and a middle one in turn.
std::size_t damaged_tensor(const TernaryModel& model, bool tables, std::size_t which,
                           std::size_t turn) {
  if (tables) return which == 0 ? 0 : tensors_of(model).size() - 1;
  const std::int64_t last = model.layers - 1;
  return first_of(turn % 3 == 0 ? last : turn % 3 == 1 ? 0 : last / 2) + which;
}

/// In the first byte, the last or one between, and in each of its codes.
InvalidForward invalid_codes(bool tables) {
  InvalidForward group{tables ? "codes of tables" : "codes of layers", {}};
  for (std::size_t which = 0; which < (tables ? 2 : kLayerTensors); ++which)
    for (std::size_t halves = 0; halves < 3; ++halves)
      add_damage(group, fmt::format("tensor {}, {} halves on", which, halves), [=](FileProblem& p) {
        const Place place =
            place_of(p.model, damaged_tensor(p.model, tables, which, which + halves));
        const std::size_t at = place.codes + (place.scales - 1 - place.codes) * halves / 2;
        p.bytes[at] |= static_cast<std::uint8_t>(3 << 2 * ((which + 3 - halves) % 4));
      });
  return group;
}

InvalidForward invalid_scales(bool tables) {
  InvalidForward group{tables ? "scales of tables" : "scales of layers", {}};
  constexpr std::uint16_t kScales[] = {kHalfInfinity, 0x7c01, 0x7fff, 0x8000, 0x8001, 0xbc00};
  for (std::size_t which = 0; which < (tables ? 2 : kLayerTensors); ++which)
    for (std::size_t i = 0; i < std::size(kScales); ++i)
      add_damage(group, fmt::format("tensor {}, 0x{:04x}", which, kScales[i]), [=](FileProblem& p) {
        const auto [place, end] =
            extent_of(p.model, damaged_tensor(p.model, tables, which, which + i / 2));
        const std::size_t scales = (end - place.scales) / 2;
        put(p.bytes, place.scales + 2 * ((scales - 1) * ((which + i) % 3) / 2), kScales[i]);
      });
  return group;
}

InvalidForward invalid_gains() {
  InvalidForward group{"gains", {}};
  const float above = std::nextafter(64.0F, 100.0F);
  for (const float gain : {kit::kNan, -kit::kNan, kit::kInfinity, -kit::kInfinity, above, -above})
    for (std::size_t halves = 0; halves < 3; ++halves)
      add_damage(group, fmt::format("{}, {} halves on", gain, halves), [=](FileProblem& p) {
        const std::size_t first = place_of_gains(p.model);
        const std::size_t gains = (p.bytes.size() - first) / 4;
        put(p.bytes, first + 4 * ((gains - 1) * halves / 2), gain);
      });
  return group;
}

InvalidForward unknown_ids() {
  InvalidForward group{
      "token", {}, [](const Assignment& choice) { return choice["vocab"].most < 65'535; }};
  for (std::size_t halves = 0; halves < 3; ++halves)
    for (const bool largest : {false, true})
      add_damage(group, fmt::format("{}, {} halves on", largest ? "65535" : "vocab", halves),
                 [=](FileProblem& p) {
                   p.token[(p.token.size() - 1) * halves / 2] =
                       static_cast<std::uint16_t>(largest ? 65'535 : p.model.vocab);
                 });
  return group;
}

InvalidForward text_of_no_size() {
  InvalidForward group{"num_tokens", {}};
  for (const std::int64_t number : {std::int64_t{0}, std::int64_t{-1}, -(std::int64_t{1} << 32) + 1,
                                    std::numeric_limits<std::int64_t>::min()})
    group.all.push_back({.flaw = {fmt::format("{}", number),
                                  [=](TernaryForwardArgs& a) { a.num_tokens = number; }}});
  return group;
}

InvalidForward longer_than_context() {
  InvalidForward group{"context + 1 tokens", {}, [](const Assignment& choice) {
                         return choice["context"].most <= 129 && choice["vocab"].most < 300;
                       }};
  add_damage(group, "of them", [](FileProblem& p) {
    p.token.assign(static_cast<std::size_t>(p.model.context + 1), 0);
  });
  return group;
}

}  // namespace

std::vector<InvalidForward> invalid_forward_calls() {
  std::vector<InvalidForward> all = of_all_functions<InvalidForward, TernaryForwardArgs>();
  for (const InvalidForward& group :
       {damaged_headers(), wrapped_lengths(), invalid_codes(true), invalid_codes(false),
        invalid_scales(true), invalid_scales(false), invalid_gains(), unknown_ids(),
        text_of_no_size(), longer_than_context()})
    all.push_back(group);
  InvalidForward both{"two at once", {}};
  both.all.push_back({.flaw = {"abi, no tokens and half a file",
                               [](TernaryForwardArgs& a) { a.abi_version = 2, a.num_tokens = 0; }},
                      .misplace = [](FileProblem& p) { p.bytes.resize(32); },
                      .want = TERNARY_UNSUPPORTED});
  all.push_back(std::move(both));
  return all;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
