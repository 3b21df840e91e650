// SPDX-License-Identifier: Apache-2.0
#include "checkpoint.h"

#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <functional>
#include <limits>
#include <string>

#include "half.h"
#include "problem.h"

namespace {

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;
using Bytes = std::vector<std::uint8_t>;

constexpr TernaryModel kModel{10, 24, 2, 2, 36, 8, 12};

Bytes good_bytes() {
  Rng rng(3);
  return bytes_of(random_checkpoint(rng, kModel));
}

/// What the reader says of a good checkpoint with one thing spoilt.
std::string complaint(const std::function<void(Bytes&)>& spoil) {
  Bytes bytes = good_bytes();
  spoil(bytes);
  try {
    read_checkpoint(bytes);
  } catch (const BadCheckpoint& bad) {
    return bad.what();
  }
  return "none";
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a checkpoint read back is the one that was written") {
  Rng rng(3);
  const Checkpoint wrote = random_checkpoint(rng, kModel);
  const Checkpoint read = read_checkpoint(bytes_of(wrote));
  CHECK(same_model(read.model, kModel));
  REQUIRE(read.matrices.size() == tensors_of(kModel).size());
  for (std::size_t i = 0; i < read.matrices.size(); ++i) {
    CHECK(read.matrices[i].codes == wrote.matrices[i].codes);
    CHECK(read.matrices[i].scales == wrote.matrices[i].scales);
  }
  CHECK(read.gains == wrote.gains);
}

TEST_CASE("the first bytes lie where the contract says") {
  Checkpoint checkpoint;
  Rng rng(3);
  checkpoint = random_checkpoint(rng, kModel);
  for (std::size_t i = 0; i < 4; ++i)
    checkpoint.matrices[0].codes[i] = std::array<std::int8_t, 4>{1, 0, -1, 1}[i];
  checkpoint.matrices[0].scales[0] = 0x3c00;
  const Bytes bytes = bytes_of(checkpoint);
  CHECK(std::string(bytes.begin(), bytes.begin() + 4) == "TRN1");
  CHECK(bytes[4] == 10);
  CHECK(bytes[28] == 12);
  CHECK(int{bytes[32]} == (2 | 1 << 2 | 0 << 4 | 2 << 6));
  CHECK(place_of(kModel, 0).codes == 32);
  CHECK(place_of(kModel, 0).scales == 32 + 10 * 24 / 4);
  CHECK(int{bytes[place_of(kModel, 0).scales + 1]} == 0x3c);
  CHECK(place_of(kModel, 1).codes == 32 + 60 + 10 * 2 * 2);
  CHECK(place_of_gains(kModel) == bytes.size() - std::size_t{5} * 24 * 4);
}

TEST_CASE("a weight is its code times the scale of its group") {
  TernaryMatrix matrix{2, 8, std::vector<std::int8_t>(16, 0), {0x3c00, 0x4000, 0x3800, 0x4200}};
  matrix.codes[8 + 5] = -1;
  CHECK(matrix.group() == 4);
  CHECK(matrix.weight(1, 5) == -3);
  CHECK(matrix.weight(0, 0) == 0);
}

TEST_CASE("the reader refuses what is no checkpoint, and says where") {
  const Place head = place_of(kModel, tensors_of(kModel).size() - 1);
  const Place up = place_of(kModel, first_of(1) + kUp);
  const std::size_t gains = place_of_gains(kModel);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();

  CHECK(complaint([](Bytes&) {}) == "none");
  CHECK(says(complaint([](Bytes& b) { b.resize(31); }), "too few for a header"));
  CHECK(says(complaint([](Bytes& b) { b[0] = 'X'; }), "TRN1"));
  CHECK(says(complaint([](Bytes& b) { b.pop_back(); }), "bytes; vocab 10"));
  CHECK(says(complaint([](Bytes& b) { b.push_back(0); }), "bytes; vocab 10"));
  CHECK(says(complaint([](Bytes& b) { put(b, 12, std::uint32_t{0}); }), "a size in the header"));
  CHECK(says(complaint([](Bytes& b) { put(b, 8, ~std::uint32_t{0}); }), "a size in the header"));
  CHECK(says(complaint([](Bytes& b) { put(b, 28, std::uint32_t{6}); }), "group 6"));
  CHECK(says(complaint([](Bytes& b) { put(b, 28, std::uint32_t{8}); }), "group 8 does not divide"));
  CHECK(says(complaint([](Bytes& b) { put(b, 16, std::uint32_t{8}); }), "8 heads"));
  CHECK(complaint([&](Bytes& b) { b[up.codes + 24 / 4 + 5] |= 0x30; }) ==
        "layer 1 Wup: row 1, group 1, column 22 has the code 3");
  CHECK(complaint([&](Bytes& b) { put(b, head.scales + 10, std::uint16_t{0x7e01}); }) ==
        "head: row 2, group 1 has the scale nan (bits 0x7e01)");
  CHECK(says(complaint([&](Bytes& b) { put(b, head.scales, kHalfInfinity); }), "row 0, group 0"));
  CHECK(says(complaint([&](Bytes& b) { put(b, up.scales, std::uint16_t{0xbc00}); }), "-1"));
  CHECK(says(complaint([&](Bytes& b) { put(b, up.scales, std::uint16_t{0x8000}); }), "0x8000"));
  CHECK(complaint([&](Bytes& b) { put(b, gains + 100, 65.0f); }) == "gain 1 of norm 1 is 65");
  CHECK(
      says(complaint([&](Bytes& b) { put(b, gains, std::nanf("")); }), "gain 0 of norm 0 is nan"));
  CHECK(says(complaint([&](Bytes& b) { put(b, gains, -kInfinity); }), "inf"));
}
